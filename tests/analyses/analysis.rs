//! Whole traces through the analysis, against closed forms and against a slow reference.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Batch, TraceBuilder, demo};
use proptest::prelude::*;
use warpline::analysis::{Analysis, Finish, NoProgress, analyze};
use warpline::profile::model::{Metrics, Profile, Site, WarpBlocks};
use warpline::profile::{BuildInput, RunFacts, build};
use warpline::report::TextOptions;
use warpline::trace::TraceReader;
use warpline_format::access::Space;
use warpline_format::event::{
    Allocation, AllocationKind, BlockCount, BranchCount, Event, LaunchEnd, SiteCount, WarpBlockCount,
};

fn analysis(bytes: &[u8], threads: usize) -> Analysis {
    match TraceReader::new(bytes) {
        Ok(reader) => analyze(reader, threads, &mut NoProgress).unwrap(),
        Err(damage) => Analysis::empty(Finish::Damaged(damage.to_string())),
    }
}

fn profile(bytes: &[u8], threads: usize) -> Profile {
    let analysis = analysis(bytes, threads);
    let facts = RunFacts { device: "cpu".into(), ended_by_itself: true, ..RunFacts::default() };
    build(BuildInput { analysis: &analysis, facts })
}

#[test]
fn the_demo_gives_its_closed_form() {
    let profile = profile(&demo::trace("/nowhere/columns.cu"), 1);
    assert!(profile.run.complete);
    let kernel = &profile.kernels[0];
    assert_eq!(kernel.name, "columns(float const*, float*, int)");
    assert_eq!(kernel.launches.len(), 2);
    let warps = 2 * demo::BLOCKS * u64::from(demo::WARPS);
    for launch in &kernel.launches {
        let (metrics, by_op) = (&launch.metrics["global"], &launch.by_op["global"]);
        let [load, atomic] = ["load", "atomic"].map(|op| by_op[op]);
        assert_eq!((load.requests, atomic.requests), (demo::BLOCKS * u64::from(demo::WARPS) * demo::ROW, 6));
        assert_eq!(load.sectors + atomic.sectors, metrics.sectors);
        assert_eq!((load.lanes + atomic.lanes, load.bytes + atomic.bytes), (metrics.lanes, metrics.bytes));
        assert_eq!((by_op.len(), launch.by_op["shared"]["store"].requests), (2, load.requests));
    }
    let matrix = profile.sites.iter().find(|site| site.id == demo::site::MATRIX).unwrap();
    // Neighbouring lanes are a row of 256 bytes apart: one sector and one line each.
    assert_eq!(matrix.metrics.requests, warps * demo::ROW);
    assert_eq!(matrix.metrics.lanes, warps * demo::ROW * 32);
    assert_eq!(matrix.metrics.bytes, warps * demo::ROW * 128);
    assert_eq!(matrix.metrics.sectors, warps * demo::ROW * 32);
    assert_eq!(matrix.metrics.ideal_sectors, warps * demo::ROW * 4);
    assert_eq!(matrix.metrics.lines_touched["128"][32], warps * demo::ROW);
    assert_eq!(matrix.by_allocation.len(), 1);
    assert_eq!(matrix.by_allocation[0].allocation, Some(2));
    let tile = profile.sites.iter().find(|site| site.id == demo::site::TILE).unwrap();
    let shared = tile.metrics.shared.clone().unwrap();
    assert_eq!((shared.wavefronts, shared.ideal_wavefronts), (warps * demo::ROW * 32, warps * demo::ROW));
    assert!(tile.by_allocation.is_empty());
    // An atomic of the toolkit's header belongs to the user's line.
    let sums = profile.sites.iter().find(|site| site.id == demo::site::SUMS).unwrap();
    assert_eq!((sums.file.as_str(), sums.line, sums.op.as_str()), ("/nowhere/columns.cu", 10, "atomic"));
    assert_eq!(sums.leaf.function, "atomicAdd(float*, float)");
    assert_eq!((sums.metrics.sectors, sums.metrics.lanes), (2 * warps, 16 * warps));
    let scale = profile.sites.iter().find(|site| site.id == demo::site::SCALE).unwrap();
    assert_eq!(scale.contexts.len(), 1);
    assert_eq!((scale.contexts[0].calls[0].line, scale.contexts[0].metrics.requests), (10, warps));
    // The device function's block: 6 warps in each of 2 launches run its 2 instructions with 16 lanes of 32 live.
    let slots = kernel.lane_slots;
    let weigh = profile.blocks.iter().find(|block| block.instructions == 2).unwrap();
    assert_eq!((weigh.lanes_lost, weigh.partial), (16 * warps, warps));
    assert_eq!(slots.lost_partial, 2 * 16 * warps);
    assert_eq!(slots.issued - slots.active, slots.lost_partial);
    assert_eq!(slots.issued, 32 * (6 * warps * demo::ROW + 2 * warps));
    // Six warps in each launch; the second block is CUDAAdvisor's divergent one.
    let pairs = |count, divergent, partial| Some(WarpBlocks { count, divergent, partial });
    assert_eq!((weigh.warp_blocks, kernel.warp_blocks), (pairs(warps, warps, warps), pairs(2 * warps, warps, warps)));
    assert_eq!(kernel.over_launches["warp_blocks.divergent"].mean, warps as f64 / 2.0);
    // Lines, kernel and launches add up to the same.
    let lines: u64 = profile.lines.iter().filter_map(|line| line.metrics.get("global")).map(|m| m.sectors).sum();
    let launches: u64 = kernel.launches.iter().map(|launch| launch.metrics["global"].sectors).sum();
    assert_eq!(lines, kernel.metrics["global"].sectors);
    assert_eq!(launches, kernel.metrics["global"].sectors);
    assert_eq!(kernel.over_launches["global.sectors"].stddev, 0.0);
    assert_eq!(kernel.instructions["fp32"].warps, warps * demo::ROW + warps);
    assert_eq!(profile.branches[0].divergent, warps);
    let matrix = &profile.allocations[1];
    assert_eq!((matrix.name.as_deref(), matrix.freed), (Some("d_matrix"), true));
    assert_eq!(matrix.copies[0].host, Some(1));
    assert_eq!(profile.allocations[0].path[0].line, 1);
    assert_eq!(profile.not_seen[0].what, "inline assembly: cp.async.ca");
}

#[test]
fn any_number_of_threads_gives_the_same_profile() {
    let trace = demo::trace("/nowhere/columns.cu");
    let one = profile(&trace, 1);
    for threads in 2..6 {
        assert_eq!(profile(&trace, threads), one, "{threads} threads");
    }
}

#[test]
fn every_prefix_of_a_trace_is_read_and_marked() {
    let trace = demo::trace("/nowhere/columns.cu");
    let mut last = 0;
    for length in (0..trace.len()).step_by(97) {
        let analysis = analysis(&trace[..length], 1);
        assert_ne!(analysis.finish, Finish::Complete);
        assert!(analysis.requests >= last, "a longer prefix contains no less");
        last = analysis.requests;
    }
    assert!(last > 0);
}

/// The counts that a GPU would send for the sites of a profile, per launch of two.
fn site_counts(profile: &Profile) -> Vec<SiteCount> {
    let pieces = |requests: &[u64]| -> Vec<(u32, u64)> {
        (0..).zip(requests).filter(|(_, count)| **count != 0).map(|(pieces, count)| (pieces, count / 2)).collect()
    };
    let space = |name: &str| match name {
        "shared" => Space::Shared,
        "constant" => Space::Constant,
        _ => Space::Global,
    };
    let count = |site: &Site| SiteCount {
        site: site.id,
        space: space(&site.space),
        lanes: site.metrics.lanes / 2,
        ideal_sectors: site.metrics.ideal_sectors / 2,
        by_sectors: pieces(&site.metrics.lines_touched["32"]),
        by_lines: pieces(&site.metrics.lines_touched["128"]),
    };
    profile.sites.iter().map(count).collect()
}

fn counted_trace(counts: &[SiteCount]) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    for id in 0..2 {
        trace.event(Event::Launch(demo::launch(id)));
        trace.event(Event::SiteCounts { launch: id, sites: counts.to_vec() });
        trace.event(demo::end(id, 0));
    }
    trace.event(Event::Free { id: 2, path: 0 });
    trace.event(Event::End { launches: 2 });
    trace.finish()
}

#[test]
fn counts_of_a_gpu_give_the_figures_of_a_trace_and_leave_out_the_rest() {
    let traced = profile(&demo::trace("/nowhere/columns.cu"), 1);
    let counted = profile(&counted_trace(&site_counts(&traced)), 1);
    assert!(counted.run.complete);
    assert_eq!((traced.run.mode.as_str(), counted.run.mode.as_str()), ("trace", "counters"));
    assert_eq!(traced.sites.len(), counted.sites.len());
    for (one, other) in traced.sites.iter().zip(&counted.sites) {
        assert!(other.by_allocation.is_empty() && other.contexts.is_empty());
        let described = Metrics { shared: None, constant: None, ..one.metrics.clone() };
        assert_eq!(other.metrics, described, "site {}", one.id);
    }
    for space in ["global", "shared", "constant"] {
        let of = |profile: &Profile| profile.kernels[0].metrics[space].sectors;
        assert_eq!(of(&traced), of(&counted));
    }
    assert_eq!(traced.blocks.len(), counted.blocks.len());
    assert_eq!(traced.branches, counted.branches);
    // Absent, not zero.
    let document = serde_json::to_value(&counted).unwrap();
    assert!(document["allocations"].as_array().unwrap().iter().all(|row| row.get("metrics").is_none()));
    assert!(document["kernels"][0]["metrics"]["shared"].get("shared").is_none());
    assert_eq!(document["allocations"][1]["name"], "d_matrix");
    let back: Profile = serde_json::from_value(document).unwrap();
    assert_eq!(back, counted);
    let text = warpline::report::text(
        &counted,
        &TextOptions { color: false, top: 10, all: true, width: 100, shown: warpline::report::Shown::Summary },
    );
    for gone in ["CACHES", "ESTIMATE", "SHARED MEMORY", "modelled", "simulated"] {
        assert!(!text.contains(gone), "{gone}\n{text}");
    }
    assert!(text.contains("counters mode") && text.contains("which allocations they touch"), "{text}");
}

#[test]
fn impossible_counts_are_damage() {
    let good = site_counts(&profile(&demo::trace("/nowhere/columns.cu"), 1));
    let wrongs: [fn(&mut SiteCount); 8] = [
        |count| count.site = 99,
        |count| count.space = Space::Generic,
        |count| count.by_lines.clear(),
        |count| count.by_sectors[0].0 = u32::MAX,
        |count| count.by_sectors[0].0 = 0,
        |count| count.lanes = u64::MAX,
        |count| count.ideal_sectors = u64::MAX,
        |count| {
            count.by_lines[0].1 = u64::MAX;
            count.by_sectors[0].1 = u64::MAX;
        },
    ];
    for wrong in wrongs {
        let mut counts = good.clone();
        wrong(&mut counts[0]);
        assert!(matches!(analysis(&counted_trace(&counts), 1).finish, Finish::Damaged(_)), "{:?}", counts[0]);
    }
}

#[test]
fn a_request_over_two_allocations_counts_for_both() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    let boundary = demo::MATRIX + 4 * demo::ROW * 32 * 6;
    trace.event(Event::Allocation(Allocation {
        id: 9,
        kind: AllocationKind::Named,
        address: boundary,
        bytes: 32,
        name: None,
        path: 0,
        global: None,
    }));
    trace.event(Event::Launch(demo::launch(0)));
    let mut batch = Batch::default();
    batch.block(0, demo::WARPS, 0).turn(0);
    // 16 lanes in the matrix, 8 in the next one, 8 in nothing; lane 15 is misaligned over the border.
    batch.access(Space::Global, 0, u32::MAX, |lane| boundary - 64 + 4 * lane + if lane == 15 { 2 } else { 0 });
    trace.batch(0, &batch);
    trace.event(demo::end(0, 0)).event(Event::End { launches: 1 });
    let profile = profile(&trace.finish(), 1);
    let site = &profile.sites[0];
    assert_eq!((site.metrics.requests, site.metrics.lanes, site.metrics.bytes), (1, 32, 128));
    let rows: Vec<(Option<u64>, u64, u64, u64, u64)> = site
        .by_allocation
        .iter()
        .map(|row| (row.allocation, row.metrics.requests, row.metrics.lanes, row.metrics.bytes, row.metrics.sectors))
        .collect();
    assert_eq!(rows, [(None, 1, 8, 32, 1), (Some(2), 1, 16, 62, 2), (Some(9), 1, 9, 34, 1)]);
    let allocation = profile.allocations.iter().find(|allocation| allocation.id == 9).unwrap();
    assert_eq!((allocation.metrics.requests, allocation.metrics.bytes), (1, 34));
}

#[test]
fn nonsense_in_intact_chunks_is_damage_and_nothing_of_its_batch_counts() {
    type Wrong = fn(&mut Batch);
    let wrongs: [Wrong; 6] = [
        |batch| _ = batch.access(Space::Global, 99, 1, |_| 0),
        |batch| _ = batch.call(7),
        |batch| _ = batch.turn(1 << 20),
        |batch| _ = batch.block(0, 3, 0),
        |batch| _ = batch.block(0, demo::WARPS, 1000),
        |batch| batch.bytes.extend([0xff; 8]),
    ];
    for (number, wrong) in wrongs.into_iter().enumerate() {
        let mut trace = TraceBuilder::default();
        demo::begin(&mut trace, "/nowhere/columns.cu");
        trace.event(Event::Launch(demo::launch(0)));
        trace.batch(0, &demo::batch());
        let mut batch = demo::batch();
        wrong(&mut batch);
        trace.batch(0, &batch);
        let analysis = analysis(&trace.finish(), 1);
        assert!(matches!(analysis.finish, Finish::Damaged(_)), "case {number}: {:?}", analysis.finish);
        let per_batch = demo::BLOCKS * u64::from(demo::WARPS) * (2 * demo::ROW + 2);
        assert_eq!(analysis.requests, per_batch, "case {number}");
    }
}

/// What the reference counts of one request.
type Lanes = Vec<(u32, u64)>;

/// The obvious way: every byte of every lane.
fn reference(requests: &[(u32, Lanes)], owner: impl Fn(u64) -> Option<u64>) -> BTreeMap<(u32, Option<u64>), [u64; 5]> {
    let mut sums: BTreeMap<(u32, Option<u64>), [u64; 5]> = BTreeMap::new();
    for (site, lanes) in requests {
        let mut owners: BTreeMap<Option<u64>, Vec<(u32, u64)>> = BTreeMap::new();
        for (lane, address) in lanes {
            for byte in 0..4 {
                owners.entry(owner(address + byte)).or_default().push((*lane, address + byte));
            }
        }
        for (owner, bytes) in owners {
            let sum = sums.entry((*site, owner)).or_default();
            let distinct = |size: u64| bytes.iter().map(|(_, at)| at / size).collect::<BTreeSet<_>>().len() as u64;
            sum[0] += 1;
            sum[1] += bytes.iter().map(|(lane, _)| lane).collect::<BTreeSet<_>>().len() as u64;
            sum[2] += bytes.len() as u64;
            sum[3] += distinct(32);
            sum[4] += distinct(1).div_ceil(32);
        }
    }
    sums
}

fn plain(metrics: &Metrics) -> [u64; 5] {
    [metrics.requests, metrics.lanes, metrics.bytes, metrics.sectors, metrics.ideal_sectors]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    /// Random requests over small, crowded memory, with allocations that come and go.
    #[test]
    fn attribution_agrees_with_the_reference(
        steps in prop::collection::vec(
            (0u32..6, 0u64..4096, prop_oneof![Just(4i64), -300i64..300], any::<u32>(), 0u32..3, any::<bool>()), 1..60),
        threads in 1usize..4,
    ) {
        let mut trace = TraceBuilder::default();
        demo::begin(&mut trace, "/nowhere/columns.cu");
        trace.event(Event::Launch(demo::launch(0)));
        let base = 0x2000_0000_0000u64;
        let mut live: Vec<(u64, u64, u64)> = Vec::new();
        let mut expected: BTreeMap<(u32, Option<u64>), [u64; 5]> = BTreeMap::new();
        let mut next = 100;
        for (kind, at, stride, mask, slot, scatter) in steps {
            if kind == 0 && live.iter().all(|&(_, low, high)| at + 255 < low || high < at) {
                next += 1;
                live.push((next, at, at + 255));
                trace.event(Event::Allocation(Allocation { id: next, kind: AllocationKind::Malloc, address: base + at,
                    bytes: 256, name: None, path: 0, global: None }));
            } else if kind == 1 && !live.is_empty() {
                let (id, ..) = live.remove(at as usize % live.len());
                trace.event(Event::Free { id, path: 0 });
            } else if mask != 0 {
                let address = |lane: u64| {
                    let step = if scatter { (lane as i64 * 7919 % 97) * stride } else { lane as i64 * stride };
                    (base + 20000 + at).wrapping_add_signed(step)
                };
                let mut batch = Batch::default();
                batch.turn(slot * 16).access(Space::Global, 0, mask, |lane| address(lane) - 20000);
                trace.batch(0, &batch);
                let lanes: Lanes = (0..32).filter(|lane| mask >> lane & 1 == 1)
                    .map(|lane| (lane, address(u64::from(lane)) - 20000)).collect();
                let owner = |byte: u64| live.iter().find(|&&(_, low, high)| base + low <= byte && byte <= base + high).map(|a| a.0);
                for (key, sum) in reference(&[(0, lanes)], owner) {
                    let total = expected.entry(key).or_default();
                    for (total, more) in total.iter_mut().zip(sum) { *total += more; }
                }
            }
        }
        trace.event(demo::end(0, 0)).event(Event::End { launches: 1 });
        let profile = profile(&trace.finish(), threads);
        prop_assert!(profile.run.complete, "{:?}", profile.run.notes);
        let got: BTreeMap<(u32, Option<u64>), [u64; 5]> = profile.sites.iter()
            .flat_map(|site| site.by_allocation.iter().map(|row| ((site.id, row.allocation), plain(&row.metrics)))).collect();
        prop_assert_eq!(got, expected);
    }

    /// Counts of blocks and branches, launch by launch and warp by warp, against plain sums.
    #[test]
    fn divergence_agrees_with_plain_sums(
        launches in prop::collection::vec(
            (prop::array::uniform2((0u64..50, 0u64..50, 1u64..33)), (0u64..40, 0u64..40), prop::option::of(prop::array::uniform2((1u64..20, 0u64..20, 0u64..20))), any::<bool>()),
            1..5),
    ) {
        let mut trace = TraceBuilder::default();
        demo::begin(&mut trace, "/nowhere/columns.cu");
        let mut blocks = [[0u64; 3]; 2];
        let mut branch = [0u64; 4];
        let mut pairs = [[0u64; 3]; 2];
        let mut described = [false; 2];
        for (id, (counts, (reached, parted), by_warp, ended)) in (0..).zip(&launches) {
            trace.event(Event::Launch(demo::launch(id)));
            if let Some(by_warp) = by_warp {
                let rows = (0..).zip(by_warp).map(|(block, &(warps, uneven, partial))|
                    WarpBlockCount { block, warps, uneven: uneven.min(warps), partial: partial.min(warps) }).collect();
                trace.event(Event::WarpBlocks { launch: id, blocks: rows });
            }
            if !ended { continue }
            let mut rows = Vec::new();
            for (block, &(executions, partial, lanes)) in (0..).zip(counts) {
                let (partial, lanes) = (partial.min(executions), lanes * executions);
                rows.push(BlockCount { block, executions, lanes, partial });
                for (sum, more) in blocks[block as usize].iter_mut().zip([executions, lanes, partial]) { *sum += more }
                if let Some(by_warp) = by_warp {
                    let (warps, uneven, partial) = by_warp[block as usize];
                    described[block as usize] = true;
                    for (sum, more) in pairs[block as usize].iter_mut().zip([warps, uneven.min(warps), partial.min(warps)]) { *sum += more }
                }
            }
            let (divergent, sides) = ((*parted).min(*reached), vec![reached * 20, reached * 12]);
            for (sum, more) in branch.iter_mut().zip([*reached, divergent, sides[0], sides[1]]) { *sum += more }
            let branches = vec![BranchCount { branch: 0, executions: *reached, divergent, lanes: sides }];
            trace.event(Event::LaunchEnd(LaunchEnd { id, error: 0, blocks: rows, branches }));
        }
        trace.event(Event::End { launches: launches.len() as u64 });
        let profile = profile(&trace.finish(), 1);
        if !launches.iter().any(|launch| launch.3) {
            prop_assert!(profile.blocks.is_empty() && profile.branches.is_empty());
            return Ok(());
        }
        for (number, row) in profile.blocks.iter().enumerate() {
            prop_assert_eq!([row.executions, row.lanes, row.partial], blocks[number]);
            let expected = described[number].then_some(pairs[number]);
            prop_assert_eq!(row.warp_blocks.map(|pairs| [pairs.count, pairs.divergent, pairs.partial]), expected);
        }
        let [row] = &profile.branches[..] else { panic!("{:?}", profile.branches) };
        prop_assert_eq!([row.executions, row.divergent, row.lanes[0], row.lanes[1]], branch);
        // CUDAAdvisor's share is that of all pairs of a kernel.
        let kernel = profile.kernels[0].warp_blocks.map(|pairs| [pairs.count, pairs.divergent, pairs.partial]);
        let sum = |at: usize| pairs[0][at] + pairs[1][at];
        prop_assert_eq!(kernel, (described[0] || described[1]).then(|| [sum(0), sum(1), sum(2)]));
    }

    /// Whatever the chunks hold, the analysis ends and does not panic.
    #[test]
    fn garbage_items_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), threads in 1usize..3) {
        let mut trace = TraceBuilder::default();
        demo::begin(&mut trace, "/nowhere/columns.cu");
        trace.event(Event::Launch(demo::launch(0)));
        let mut batch = demo::batch();
        batch.bytes.truncate(16);
        batch.bytes.extend(bytes);
        trace.batch(0, &batch);
        let _ = profile(&trace.finish(), threads);
    }
}
