//! Programs with many launches and allocations: rows are bounded, and nothing is lost in them.

use std::collections::BTreeSet;
use std::io::Read;
use std::time::Instant;

use crate::support::{Batch, TraceBuilder, demo};
use warpline::analysis::{Analysis, NoProgress, analyze, analyze_for, analyze_with};
use warpline::models;
use warpline::profile::model::{Metrics, Profile};
use warpline::profile::{BuildInput, RunFacts, build};
use warpline::report::{self, TextOptions};
use warpline::simulation::Settings;
use warpline::trace::TraceReader;
use warpline_format::access::Space;
use warpline_format::event::{
    Allocation, AllocationKind, CallPathFrame, Copy, Direction, Event, Fault, FaultKind, Launch,
};

/// A program that allocates, copies, launches and frees, over and over. Its trace is made while it is read.
struct Program {
    trace: TraceBuilder,
    piece: Vec<u8>,
    at: usize,
    next: u64,
    rounds: u64,
    /// Launches and allocations have so many shapes and sizes.
    shapes: u64,
    /// So many rounds go from one call path to the next; 0: there is one.
    paths: u64,
    /// Allocations that live at a time.
    live: u64,
    /// A bad access in each of so many rounds; 0: none.
    faults: u64,
}

const FIRST: u64 = 100;
const HEAP: u64 = 0x2000_0000_0000;

impl Program {
    fn new(rounds: u64, shapes: u64) -> Program {
        let mut trace = TraceBuilder::default();
        demo::begin(&mut trace, "/nowhere/columns.cu");
        let piece = trace.take();
        Program { trace, piece, at: 0, next: 0, rounds, shapes, paths: 0, live: 8, faults: 0 }
    }

    fn round(&mut self) {
        let Program { next: id, shapes, live, .. } = *self;
        let (number, shape, address) = (FIRST + id, id % shapes, HEAP + id % live * 65_536);
        let path = id.checked_div(self.paths).unwrap_or(0) as u32 + 1;
        if self.paths != 0 && id % self.paths == 0 || id == 0 {
            let frame = CallPathFrame { object: u32::MAX, offset: path.into() };
            self.trace.event(Event::Path { id: path, frames: vec![frame] });
        }
        if id >= live {
            self.trace.event(Event::Free { id: number - live, path });
        }
        self.trace.event(Event::Allocation(Allocation {
            id: number,
            kind: AllocationKind::Malloc,
            address,
            bytes: 256 + 4 * (shape % 10_000),
            name: Some("cell".into()),
            path,
            global: None,
        }));
        self.trace.event(Event::HostAllocation {
            id: number,
            kind: "malloc".into(),
            bytes: 4096 + shape,
            name: None,
            path,
        });
        self.trace.event(Event::Copy(Copy {
            direction: Direction::HostToDevice,
            width: 128,
            height: 1,
            destination: Some(address),
            destination_pitch: 0,
            source: None,
            source_pitch: 0,
            host: Some(number),
            path,
        }));
        // The longer blocks are all alike but for their dynamic shared memory.
        let launch =
            Launch { dynamic_shared: (shape / 3) as u32, path, ..Launch::with_defaults(id, 1, 32 << (shape % 3)) };
        self.trace.event(Event::Launch(launch));
        let mut batch = Batch::default();
        batch.block(0, 1 << (shape % 3), 0);
        batch.turn(0);
        batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| address + 4 * lane);
        if id % 5 == 0 {
            batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| demo::MATRIX + 128 * lane);
        }
        self.trace.batch(id, &batch);
        if self.faults != 0 && id % self.faults == 0 {
            let (kind, site, nearest) = (FaultKind::OutOfBounds, demo::site::MATRIX, Some(number));
            let address = address + 1024;
            let fault = Fault { launch: id, site, kind, block: 0, thread: 0, address, nearest, stopped: false };
            self.trace.event(Event::Fault(fault));
        }
        self.trace.event(demo::end(id, 0));
    }
}

impl Read for Program {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.piece.len() && self.next <= self.rounds {
            let end = (self.next + 64).min(self.rounds);
            while self.next < end {
                self.round();
                self.next += 1;
            }
            if end == self.rounds {
                self.next = self.rounds + 1;
                self.trace.event(Event::End { launches: self.rounds });
            }
            (self.piece, self.at) = (self.trace.take(), 0);
        }
        let count = buffer.len().min(self.piece.len() - self.at);
        buffer[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn profile(analysis: &Analysis) -> Profile {
    let models = vec!["rtx2080ti".to_owned(), "a100".to_owned()];
    let rates = models.iter().map(|model| models::find(model).unwrap().rates()).collect();
    let facts = RunFacts { device: "cpu".into(), models, rates, ended_by_itself: true, ..RunFacts::default() };
    build(BuildInput { analysis, facts })
}

fn counted(program: Program) -> Profile {
    profile(&analyze(TraceReader::new(program).unwrap(), 1, &mut NoProgress).unwrap())
}

/// Sums over rows are those of the whole, and rows that others refer to are there.
fn check(profile: &Profile, rounds: u64) {
    assert!(profile.run.complete, "{:?}", profile.run.notes);
    let kernel = &profile.kernels[0];
    assert_eq!(kernel.launch_count, rounds);
    assert_eq!(
        kernel.launch_groups.iter().map(|group| group.launches).sum::<u64>() + kernel.launches.len() as u64,
        rounds
    );
    let sum = |of: &dyn Fn(&Metrics) -> u64| {
        let launches = kernel.launches.iter().map(|launch| &launch.metrics);
        let spaces = launches.chain(kernel.launch_groups.iter().map(|group| &group.metrics));
        spaces.map(|spaces| of(&spaces["global"])).sum::<u64>()
    };
    let whole = &kernel.metrics["global"];
    let requests = rounds + rounds.div_ceil(5);
    assert_eq!((whole.requests, whole.sectors), (requests, 4 * rounds + 32 * rounds.div_ceil(5)));
    assert_eq!((sum(&|m| m.requests), sum(&|m| m.sectors), sum(&|m| m.lanes)), (requests, whole.sectors, whole.lanes));
    let launches = kernel.launches.iter().map(|launch| &launch.by_op);
    let by_op = launches.chain(kernel.launch_groups.iter().map(|group| &group.by_op));
    assert_eq!(by_op.map(|spaces| spaces["global"]["load"].sectors).sum::<u64>(), whole.sectors);
    let spread = &kernel.over_launches["global.sectors"];
    assert_eq!((spread.min, spread.max), (4, 36));
    assert!((spread.mean - whole.sectors as f64 / rounds as f64).abs() < 1e-6, "{spread:?}");
    assert!((spread.stddev - 12.8).abs() < 0.01, "{spread:?}");
    let path = &kernel.over_paths;
    assert!(path.len() > 1 || path[0].count == rounds, "{}", path[0].count);

    let cells: Vec<_> = profile.allocations.iter().filter(|row| row.id >= FIRST).collect();
    assert_eq!(cells.iter().map(|row| row.count).sum::<u64>(), rounds);
    assert_eq!(cells.iter().map(|row| row.metrics.sectors).sum::<u64>(), 4 * rounds);
    assert_eq!(cells.iter().flat_map(|row| &row.copies).map(|copy| copy.count).sum::<u64>(), rounds);
    assert_eq!(cells.iter().map(|row| if row.freed { row.count } else { row.freed_count }).sum::<u64>(), rounds - 8);
    let known: BTreeSet<u64> = profile.allocations.iter().map(|row| row.id).collect();
    let hosts: BTreeSet<u64> = profile.host_allocations.iter().map(|row| row.id).collect();
    assert_eq!(profile.host_allocations.iter().map(|row| row.count).sum::<u64>(), rounds + 1);
    assert!(cells.iter().flat_map(|row| &row.copies).all(|copy| hosts.contains(&copy.host.unwrap())));
    let site = &profile.sites[0];
    assert!(site.by_allocation.iter().all(|row| known.contains(&row.allocation.unwrap())));
    assert_eq!(site.by_allocation.iter().map(|row| row.metrics.sectors).sum::<u64>(), whole.sectors);
    assert!(profile.allocations.len() < 5000 && kernel.launches.len() <= 10_000 && kernel.launch_groups.len() < 4000);
}

#[test]
fn few_launches_are_reported_one_by_one() {
    let profile = counted(Program::new(900, 1));
    let kernel = &profile.kernels[0];
    assert_eq!((kernel.launches.len(), kernel.launch_count, kernel.launch_groups.len()), (900, 900, 0));
    assert!(!profile.run.notes.iter().any(|note| note.contains("launches")), "{:?}", profile.run.notes);
    let profile = counted(Program::new(250, 1));
    assert!(profile.allocations.iter().all(|row| row.count == 1) && profile.allocations.len() == 253);
    assert!(profile.run.notes.iter().all(|note| note.contains("source file")), "{:?}", profile.run.notes);
}

#[test]
fn launches_and_allocations_of_one_path_and_shape_share_rows() {
    let rounds = 3000;
    let profile = counted(Program { faults: 1000, ..Program::new(rounds, 2) });
    check(&profile, rounds);
    let kernel = &profile.kernels[0];
    assert_eq!((kernel.launches.len(), kernel.launch_groups.len()), (2000, 2));
    let group = &kernel.launch_groups[0];
    assert_eq!((group.launches, group.first, group.last), (500, 2000, 2998));
    assert_eq!((group.grid, group.block), (Some([1, 1, 1]), Some([32, 1, 1])));
    assert_eq!(group.over_launches["global.sectors"].max, 36);
    for words in ["1000 of 3000 launches are summed up", "2488 allocations share rows", "2488 host allocations share"] {
        assert!(profile.run.notes.iter().any(|note| note.contains(words)), "no {words}: {:?}", profile.run.notes);
    }
    // A bad access is reported with the row of its allocation, wherever that is.
    let faults: Vec<_> = profile.faults.iter().map(|fault| (fault.kernel, fault.allocation, fault.offset)).collect();
    let row = profile.allocations.iter().find(|row| row.count > 1).unwrap();
    assert_eq!(faults[0], (Some(0), Some(FIRST), Some(1024)));
    assert_eq!(faults[2], (Some(0), Some(row.id), Some(1024)));
    let text = report::text(
        &profile,
        &TextOptions { color: false, top: 20, all: true, width: 100, shown: warpline::report::Shown::Summary },
    );
    assert!(text.contains("3000 launches of columns") && text.contains("1244 x cell"), "{text}");
    let html = report::html(&profile);
    assert!(html.len() < 1 << 20, "{}", html.len());
    let shown = &crate::page::data(&html)["sides"][0]["profile"];
    assert_eq!(shown["kernels"][0]["launch_groups"][0]["launches"], 500);
    assert!(shown["allocations"].as_array().unwrap().iter().any(|row| row["count"].as_u64() > Some(900)));
}

#[test]
fn rows_are_bounded_where_all_shapes_and_paths_differ() {
    let rounds = 16_000;
    let profile = counted(Program { paths: 3, ..Program::new(rounds, rounds) });
    check(&profile, rounds);
    let kernel = &profile.kernels[0];
    assert_eq!((kernel.launches.len(), kernel.launch_groups.len()), (10_000, 2049));
    let last = kernel.launch_groups.last().unwrap();
    assert_eq!((last.grid, last.block, last.path.len()), (None, None, 0));
    assert!(profile.allocations.iter().any(|row| row.count > 1 && row.name.as_deref() == Some("cell")));
}

#[test]
fn two_models_share_the_same_rows() {
    let rounds = 1500;
    let settings = |model: &str| Settings::new(models::find(model).unwrap().hierarchy().unwrap());
    let trace = || TraceReader::new(Program::new(rounds, 1)).unwrap();
    let mut first = analyze_with(trace(), 1, Some(&settings("rtx2080ti")), &mut NoProgress).unwrap();
    let device = models::find("a100").unwrap().run_device().unwrap().device;
    let second = analyze_for(trace(), 1, &settings("a100"), device, &mut NoProgress).unwrap();
    first.add_model(1, &second);
    let profile = profile(&first);
    check(&profile, rounds);
    let kernel = &profile.kernels[0];
    let group = &kernel.launch_groups[0].metrics["global"];
    assert_eq!((kernel.launch_groups.len(), group.l1.unwrap().lookups), (1, group.sectors));
    assert_eq!(group.other_models["a100"].l1.lookups, group.sectors);
    assert_eq!(kernel.estimates.iter().map(|estimate| estimate.launches).collect::<Vec<_>>(), [rounds, rounds]);
}

/// Most memory that this process ever had, in MiB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[test]
#[ignore = "test-all"]
fn a_million_launches_and_allocations() {
    let v100 = Settings::new(models::find("v100").unwrap().hierarchy().unwrap());
    // Launches, shapes, paths, live allocations. Without caches the others take minutes less.
    for (rounds, shapes, paths, live, settings) in
        [(1_000_000, 1, 0, 8, Some(&v100)), (300_000, 300_000, 0, 8, None), (300_000, 300_000, 2, 100_000, None)]
    {
        let program = Program { paths, live, ..Program::new(rounds, shapes) };
        let started = Instant::now();
        let analysis = analyze_with(TraceReader::new(program).unwrap(), 2, settings, &mut NoProgress).unwrap();
        let (followed, started) = (started.elapsed(), Instant::now());
        let profile = profile(&analysis);
        eprintln!("{shapes} shapes: {followed:?}, profile {:?}, {} MiB", started.elapsed(), most_memory());
        assert_eq!(profile.kernels[0].launch_count, rounds);
        for (name, made) in [
            (
                "text",
                (|profile| {
                    report::text(
                        profile,
                        &TextOptions {
                            color: false,
                            top: 20,
                            all: true,
                            width: 100,
                            shown: warpline::report::Shown::Summary,
                        },
                    )
                    .len()
                }) as fn(&Profile) -> usize,
            ),
            ("html", |profile| report::html(profile).len()),
            ("callgrind", |profile| report::callgrind(profile).len()),
            ("pprof", |profile| report::pprof(profile).len()),
            ("json", |profile| serde_json::to_vec(profile).unwrap().len()),
        ] {
            let started = Instant::now();
            let bytes = made(&profile);
            eprintln!("    {name}: {bytes} bytes, {:?}", started.elapsed());
            assert!(started.elapsed().as_secs() < 2 || cfg!(debug_assertions), "{name}");
            assert!(name != "html" || bytes < 4 << 20, "a page of {bytes} bytes");
        }
        assert!(most_memory() < 1024, "{} MiB", most_memory());
    }
}
