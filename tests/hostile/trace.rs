//! Traces whose checksums are right and whose content is not: each ends as damage that is named, soon, with what came
//! before it kept.

use std::time::{Duration, Instant};

use crate::support::{Batch, TraceBuilder, demo};
use warpline::analysis::{Analysis, Finish, NoProgress, analyze_for};
use warpline::models;
use warpline::profile::{BuildInput, Profile, RunFacts, build};
use warpline::simulation::Settings;
use warpline::trace::TraceReader;
use warpline_format::access::Space;
use warpline_format::device::Device;
use warpline_format::event::{
    BlockCount, BranchCount, CallPathFrame, Copy, Direction, Event, Launch, LaunchEnd, SiteCount, WarpBlockCount,
};
use warpline_format::site_table::{Function, SiteTable};

/// What `warpline sim` makes of a trace, with cold and with warm copies.
fn simulate(trace: &[u8]) -> (Analysis, Profile) {
    let begun = Instant::now();
    let model = models::find("rtx2080ti").unwrap();
    let mut made = None;
    for warm in [false, true] {
        let mut settings = Settings::new(model.hierarchy().unwrap());
        settings.warm_copies = warm;
        let reader = TraceReader::new(trace).unwrap();
        let analysis = analyze_for(reader, 1, &settings, Device::rtx_2080_ti(), &mut NoProgress).unwrap();
        let facts = RunFacts {
            device: "cpu".into(),
            models: vec!["rtx2080ti".into()],
            rates: vec![model.rates()],
            ended_by_itself: true,
            ..RunFacts::default()
        };
        let profile = build(BuildInput { analysis: &analysis, facts });
        made = Some((analysis, profile));
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?}", begun.elapsed());
    made.unwrap()
}

/// A whole launch of the demo, then `more`.
fn after_a_launch(more: impl FnOnce(&mut TraceBuilder)) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Launch(demo::launch(0))).batch(0, &demo::batch());
    trace.event(demo::warp_blocks(0)).event(demo::end(0, 0));
    more(&mut trace);
    trace.event(Event::End { launches: 1 });
    trace.finish()
}

/// The trace is damaged for this reason, and the launch before the damage is in the profile.
fn damaged(what: &str, more: impl FnOnce(&mut TraceBuilder)) {
    let (analysis, profile) = simulate(&after_a_launch(more));
    let Finish::Damaged(message) = &analysis.finish else { panic!("{what}: {:?}", analysis.finish) };
    assert!(message.contains(what), "{message}");
    assert!(!profile.run.complete);
    assert_eq!(profile.kernels[0].metrics["global"].requests, 3 * 2 * 65, "{what}");
}

#[test]
fn numbers_are_announced_once() {
    let small = SiteTable {
        functions: vec![Function { kernel: true, ..Function::default() }],
        ..SiteTable { sites: Vec::new(), blocks: Vec::new(), branches: Vec::new(), ..demo::table("/x.cu") }
    };
    let small = SiteTable { calls: Vec::new(), not_seen: Vec::new(), ..small };
    damaged("module 0 is announced twice", |trace| {
        _ = trace.event(Event::Module { id: 0, site_table: small.to_bytes() })
    });
    damaged("launch 0 begins twice", |trace| _ = trace.event(Event::Launch(demo::launch(0))));
    damaged("allocation 1 is announced twice", |trace| {
        trace.event(Event::Free { id: 1, path: 0 });
        demo::begin_memory(trace);
    });
    damaged("call path 1 is announced twice", |trace| {
        for offset in [1, 1, 2] {
            trace.event(Event::Path { id: 1, frames: vec![CallPathFrame { object: 0, offset }] });
        }
    });
    damaged("object 3 is announced twice", |trace| {
        for path in ["/nowhere/a", "/nowhere/b"] {
            trace.event(Event::Object { id: 3, path: path.into(), build_id: Vec::new() });
        }
    });
    damaged("host allocation 1 is announced twice", |trace| {
        trace.event(Event::HostAllocation { id: 1, kind: "new".into(), bytes: 1, name: None, path: 0 });
    });
}

#[test]
fn records_of_operations_need_their_operation() {
    damaged("operation 0 of 0", |trace| {
        let mut batch = Batch::default();
        batch.block(0, 2, 0).turn(0).operation(0);
        trace.event(Event::Launch(demo::launch(1))).batch(1, &batch);
    });
}

fn copy(width: u64, height: u64, pitch: u64) -> Event {
    Event::Copy(Copy {
        direction: Direction::HostToDevice,
        width,
        height,
        destination: Some(demo::MATRIX),
        destination_pitch: pitch,
        source: None,
        source_pitch: 0,
        host: None,
        path: 0,
    })
}

#[test]
fn copies_larger_than_memory_are_damage_and_large_ones_take_no_time() {
    damaged("larger than any memory", |trace| _ = trace.event(copy(u64::MAX, u64::MAX, 8)));
    damaged("larger than any memory", |trace| _ = trace.event(copy(1 << 60, 1, 0)));
    damaged("past the last address", |trace| _ = trace.event(copy(1, 1 << 40, 1 << 40)));
    let trace = after_a_launch(|trace| {
        for _ in 0..200 {
            trace.event(copy(1 << 47, 1, 0)).event(copy(1, 1 << 40, 1024)).event(copy(1 << 20, 1 << 20, 1 << 21));
        }
        trace.event(Event::Launch(demo::launch(1))).batch(1, &demo::batch()).event(demo::end(1, 0));
    });
    let (analysis, _) = simulate(&trace);
    assert_eq!(analysis.finish, Finish::Complete);
    assert_eq!(analysis.kernels[0].launches.len(), 2);
}

#[test]
fn grids_cost_what_was_recorded_of_them() {
    let trace = after_a_launch(|trace| {
        for (id, grid) in [(1, [u32::MAX, 0xffff, 1]), (2, [1 << 31, 1, 1])] {
            let mut batch = Batch::default();
            for (slot, block) in [(0, 0), (16, 1), (32, (1u64 << 31) - 1)] {
                batch.block(slot, demo::WARPS, block).turn(slot);
                batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| demo::MATRIX + 4 * lane);
            }
            trace.event(Event::Launch(Launch { grid, ..demo::launch(id) })).batch(id, &batch).event(demo::end(id, 0));
        }
    });
    let (analysis, profile) = simulate(&trace);
    assert_eq!(analysis.finish, Finish::Complete);
    let requests = |launch: usize| profile.kernels[0].launches[launch].metrics["global"].requests;
    assert_eq!((requests(1), requests(2)), (3, 3));
    damaged("impossible grid", |trace| {
        trace.event(Event::Launch(Launch { grid: [u32::MAX; 3], ..demo::launch(1) }));
    });
    damaged("warp slots", |trace| {
        trace.event(Event::Launch(Launch { resident_blocks: u32::MAX, ..demo::launch(1) }));
    });
    damaged("starts twice", |trace| {
        let mut batch = Batch::default();
        batch.block(0, demo::WARPS, 1).block(16, demo::WARPS, 1);
        trace.event(Event::Launch(demo::launch(1))).batch(1, &batch);
    });
}

#[test]
fn registers_and_shared_memory_have_bounds() {
    // More registers than a thread can have are clamped to as many as fit.
    let fitted = Launch { registers: u32::MAX, ..demo::launch(1) };
    let large = Launch { static_shared: u32::MAX, dynamic_shared: u32::MAX, resident_blocks: 1, ..demo::launch(1) };
    for (launch, left_out) in [(fitted, 0), (large, 1)] {
        let (analysis, profile) = simulate(&after_a_launch(|trace| {
            trace.event(Event::Launch(launch)).batch(1, &demo::batch()).event(demo::end(1, 0));
        }));
        assert_eq!((analysis.finish, analysis.left_out.len()), (Finish::Complete, left_out));
        assert_eq!(profile.run.complete, left_out == 0);
    }
}

#[test]
fn a_device_without_bounds_is_damage() {
    let mut trace = TraceBuilder::default();
    let device = Device { sms: u32::MAX, register_unit: 0, shared_unit: 0, ..Device::rtx_2080_ti() };
    trace.event(Event::Program { executable: "/a".into(), arguments: Vec::new(), device });
    trace.event(Event::Module { id: 0, site_table: demo::table("/x.cu").to_bytes() });
    trace.event(Event::Launch(Launch { resident_blocks: u32::MAX, ..demo::launch(0) }));
    let (analysis, _) = simulate(&trace.finish());
    assert!(matches!(&analysis.finish, Finish::Damaged(what) if what.contains("warp slots")), "{:?}", analysis.finish);
}

#[test]
fn counts_that_cannot_be_are_damage() {
    let block = |executions, lanes, partial| BlockCount { block: 0, executions, lanes, partial };
    let branch = |executions, divergent, lanes| BranchCount { branch: 0, executions, divergent, lanes };
    let end = |blocks, branches| Event::LaunchEnd(LaunchEnd { id: 1, error: 0, blocks, branches });
    for (what, end) in [
        ("counts of block 0", end(vec![block(u64::MAX, 1, 0)], vec![])),
        ("counts of block 0", end(vec![block(1, 33, 0)], vec![])),
        ("counts of block 0", end(vec![block(1, 3, 2)], vec![])),
        ("counts of block 0", end(vec![block(1, 3, 1), block(1, 3, 1)], vec![])),
        ("block 9 of 2", end(vec![BlockCount { block: 9, ..block(1, 1, 1) }], vec![])),
        ("counts of branch 0", end(vec![], vec![branch(u64::MAX, 0, vec![0, 0])])),
        ("counts of branch 0", end(vec![], vec![branch(1, 2, vec![1, 0])])),
        ("counts of branch 0", end(vec![], vec![branch(1, 1, vec![u64::MAX, u64::MAX])])),
        ("counts of branch 0", end(vec![], vec![branch(1, 1, vec![1])])),
    ] {
        damaged(what, |trace| _ = trace.event(Event::Launch(demo::launch(1))).event(end));
    }
    damaged("impossible warps of block 0", |trace| {
        let count = WarpBlockCount { block: 0, warps: 1, uneven: 2, partial: 0 };
        trace.event(Event::Launch(demo::launch(1))).event(Event::WarpBlocks { launch: 1, blocks: vec![count] });
    });
    // Sums of many launches end at what 64 bits hold.
    let many = 1u64 << 48;
    let (analysis, _) = simulate(&after_a_launch(|trace| {
        for id in 1..300 {
            let sites = SiteCount {
                site: 0,
                space: Space::Global,
                lanes: 32 * many,
                ideal_sectors: 32 * many,
                by_sectors: vec![(256, many)],
                by_lines: vec![(256, many)],
            };
            let end = LaunchEnd {
                id,
                error: 0,
                blocks: vec![block(many, 32 * many, many)],
                branches: vec![branch(many, many, vec![16 * many, 16 * many])],
            };
            trace.event(Event::Launch(demo::launch(id))).event(Event::SiteCounts { launch: id, sites: vec![sites] });
            trace.event(Event::LaunchEnd(end));
        }
    }));
    assert_eq!(analysis.finish, Finish::Complete);
}

#[test]
fn thousands_of_launches_without_an_end_are_reported_in_a_few_lines() {
    let (_, profile) = simulate(&after_a_launch(|trace| {
        for id in 1..2000 {
            trace.event(Event::Launch(demo::launch(id)));
        }
    }));
    assert!(profile.run.notes.len() < 30, "{} notes", profile.run.notes.len());
    assert!(profile.run.notes.iter().any(|note| note.contains("1991 more launches")), "{:?}", profile.run.notes);
}

/// Records of checks name launches, sites, operations and allocations as they like: those that do not exist are left
/// out, at no cost, and what came before is kept.
#[test]
fn records_of_checks_may_name_anything() {
    use warpline_format::event::{UninitialisedCopy, UninitialisedRead};
    use warpline_format::operation::{
        FloatClass, FloatException, FloatFormat, FloatKind, FloatOrigin, FloatStep, MOST_STEPS,
    };
    use warpline_format::rounding::{
        ComparedCopy, Differences, OtherAccess, RoundedType, Rounding, RoundingErrors, Writer,
    };
    use warpline_format::values::{Element, SiteValues, ValueSet, ZeroBlocks};
    let read = UninitialisedRead {
        launch: 1,
        site: u32::MAX,
        allocation: Some(1),
        earlier: Some(u64::MAX),
        partial: false,
        requests: u64::MAX,
        lanes: u64::MAX,
        block: u64::MAX,
        thread: u32::MAX,
        offset: u64::MAX,
        written: u64::MAX,
    };
    let copy = UninitialisedCopy {
        allocation: u64::MAX,
        earlier: None,
        bytes: u64::MAX,
        in_long_runs: u64::MAX,
        copied: 0,
        offset: u64::MAX,
        path: u32::MAX,
    };
    let set = ValueSet { distinct: vec![u64::MAX; 17], many: false, ..ValueSet::default() };
    let values = SiteValues { launch: 1, requests: u64::MAX, lanes: u64::MAX, ..SiteValues::default() };
    let zeros = ZeroBlocks { allocation: 1, sectors: u64::MAX, zero_lines: u64::MAX, ..ZeroBlocks::default() };
    let step = FloatStep { launch: 1, operation: u32::MAX, block: 0, thread: 0, allocation: Some(u64::MAX), offset: 0 };
    let exception = FloatException {
        launch: 1,
        operation: u32::MAX,
        kind: FloatKind::NotANumber,
        format: FloatFormat::Double,
        requests: u64::MAX,
        lanes: u64::MAX,
        block: 0,
        thread: 0,
        operands: u32::MAX,
        values: [u64::MAX; 3],
    };
    let origin = |steps: usize| FloatOrigin { class: FloatClass::NotANumber, steps: vec![step; steps] };
    let errors = RoundingErrors { elements: u64::MAX, sum: f64::INFINITY, largest: f64::NAN, ..Default::default() };
    let (from, to) = (FloatFormat::Double, RoundedType::Single);
    let rounding = Rounding { allocation: 1, writer: Writer::Host, from, to, errors };
    let (_, profile) = simulate(&after_a_launch(|trace| {
        trace.event(Event::InitialisationChecked).event(Event::FloatsChecked);
        trace.event(Event::Launch(demo::launch(1)));
        trace.event(Event::UninitialisedRead(read));
        trace.event(Event::UninitialisedRead(UninitialisedRead { site: 0, ..read }));
        trace.event(Event::UninitialisedRead(UninitialisedRead { site: 0, ..read }));
        trace.event(Event::UninitialisedRead(UninitialisedRead { launch: 7, site: 0, ..read }));
        trace.event(Event::UninitialisedCopy(copy));
        trace.event(Event::UninitialisedCopy(UninitialisedCopy { allocation: 1, ..copy }));
        trace.event(Event::UninitialisedCopy(UninitialisedCopy { allocation: 1, ..copy }));
        trace.event(Event::ValuesFollowed);
        trace.event(Event::SiteValues(SiteValues { values: set, ..values.clone() }));
        for (site, allocation) in [(0, None), (0, None), (u32::MAX, None), (0, Some(u64::MAX))] {
            trace.event(Event::SiteValues(SiteValues { site, allocation, ..values.clone() }));
        }
        trace.event(Event::SiteValues(SiteValues { launch: 7, ..values }));
        for zeros in [zeros, zeros, ZeroBlocks { allocation: u64::MAX, ..zeros }] {
            trace.event(Event::ZeroBlocks(zeros));
        }
        for (allocation, writer) in [
            (1, Writer::Site { launch: 1, site: 0 }),
            (1, Writer::Site { launch: 1, site: u32::MAX }),
            (1, Writer::Launch(7)),
            (1, Writer::Copy(u32::MAX)),
            (u64::MAX, Writer::Host),
        ] {
            trace.event(Event::Rounding(Rounding { allocation, writer, ..rounding }));
            trace.event(Event::ElementsRounded { allocation, from: FloatFormat::Single, to: RoundedType::Half });
            trace.event(Event::OtherAccess(OtherAccess { allocation, launch: 1, site: u32::MAX }));
            trace.event(Event::ComparedCopy(ComparedCopy {
                allocation,
                path: u32::MAX,
                element: Element::default(),
                differences: Differences { elements: u64::MAX, largest: f64::NAN, ..Differences::default() },
            }));
        }
        trace.event(Event::FloatException(exception));
        for steps in [0, 1, MOST_STEPS + 1] {
            trace.event(Event::FloatOrigin(origin(steps)));
            trace.event(Event::FloatPath { origin: origin(steps), passing: u32::MAX });
        }
        trace.event(demo::end(1, 0));
    }));
    assert!(profile.run.complete && profile.run.init_check && profile.run.float_check);
    let [copied, read] = &profile.uninitialised[..] else { panic!("{:#?}", profile.uninitialised) };
    assert_eq!((copied.kind.as_str(), copied.count, copied.copied_uninitialised), ("copy", 2, u64::MAX));
    assert_eq!((read.kind.as_str(), read.count, read.frame.line), ("read", u64::MAX, 9));
    let [values] = &profile.access_values[..] else { panic!("{:#?}", profile.access_values) };
    assert_eq!((values.launches, values.requests, values.silent_lanes), (2, u64::MAX, 0));
    assert!(profile.run.memory_values && profile.allocation_values.is_empty(), "{:#?}", profile.allocation_values);
    assert!(profile.float_exceptions.is_empty() && profile.float_origins.is_empty());
    let [rounded] = &profile.rounded_allocations[..] else { panic!("{:#?}", profile.rounded_allocations) };
    assert_eq!((rounded.writes.len(), rounded.errors.elements, rounded.errors.error_sum), (2, u64::MAX, 0.0));
    assert!(rounded.other_accesses.is_empty() && rounded.from == "float");
    let [result] = &profile.compared_results[..] else { panic!("{:#?}", profile.compared_results) };
    assert_eq!((result.copies, result.elements, result.largest_difference), (4, u64::MAX, 0.0));
}
