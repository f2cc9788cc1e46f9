//! Simulated caches through the whole analysis: the same for any number of workers, and what the
//! engines give by themselves.

use crate::support::{Batch, TraceBuilder, demo};
use warpline::analysis::{Analysis, NoProgress, analyze_with};
use warpline::hierarchy::{L1Config, Traffic};
use warpline::locality::Distance;
use warpline::models;
use warpline::profile::model::Profile;
use warpline::profile::{BuildInput, RunFacts, build};
use warpline::simulation::{ReuseScope, ReuseSettings, Settings};
use warpline::trace::TraceReader;
use warpline_format::access::Space;
use warpline_format::event::{Allocation, AllocationKind, Event, Launch};

fn settings(model: &str) -> Settings {
    Settings::new(models::find(model).unwrap().hierarchy().unwrap())
}

fn analysis(bytes: &[u8], threads: usize, settings: &Settings) -> Analysis {
    analyze_with(TraceReader::new(bytes).unwrap(), threads, Some(settings), &mut NoProgress).unwrap()
}

fn profile(bytes: &[u8], threads: usize, settings: &Settings) -> Profile {
    let analysis = analysis(bytes, threads, settings);
    let facts = RunFacts { device: "cpu".into(), ended_by_itself: true, ..RunFacts::default() };
    build(BuildInput { analysis: &analysis, facts })
}

fn traffic(analysis: &Analysis) -> Traffic {
    let mut sum = Traffic::default();
    for kernel in &analysis.kernels {
        for (_, counters) in kernel.cells.iter().filter(|(key, _)| key.owner.whole()) {
            counters.traffic.iter().for_each(|traffic| sum.add(traffic));
        }
    }
    sum
}

#[test]
fn any_number_of_workers_gives_the_same_figures() {
    let trace = demo::trace("/nowhere/columns.cu");
    for model in ["rtx2080ti", "a100", "gtx480", "gtx560ti", "profiner"] {
        let settings = settings(model);
        let one = profile(&trace, 1, &settings);
        assert!(one.kernels[0].metrics["global"].l2.unwrap().lookups > 0);
        for threads in 2..5 {
            assert_eq!(profile(&trace, threads, &settings), one, "{model}, {threads} threads");
        }
    }
}

#[test]
fn levels_add_up() {
    let trace = demo::trace("/nowhere/columns.cu");
    let profile = profile(&trace, 2, &settings("rtx2080ti"));
    let kernel = &profile.kernels[0].metrics["global"];
    let (l1, l2, dram) = (kernel.l1.unwrap(), kernel.l2.unwrap(), kernel.dram.unwrap());
    // Loads that miss L1, every store and every atomic reach L2.
    let past: u64 = profile
        .sites
        .iter()
        .filter(|site| site.space == "global" && site.op != "load")
        .map(|site| site.metrics.sectors)
        .sum();
    assert_eq!(l2.lookups, l1.load_lookups - l1.load_hits + past);
    assert!(dram.read_sectors <= l2.lookups - l2.hits);
    let of = |metrics: &std::collections::BTreeMap<String, warpline::profile::model::Metrics>| {
        metrics["global"].l1.unwrap().lookups
    };
    assert_eq!(profile.kernels[0].launches.iter().map(|launch| of(&launch.metrics)).sum::<u64>(), l1.lookups);
    let sites: u64 = profile.sites.iter().filter_map(|site| site.metrics.l1).map(|l1| l1.lookups).sum();
    assert_eq!(sites, l1.lookups);
    assert_eq!(
        profile.allocations.iter().filter_map(|allocation| allocation.metrics.l1).map(|l1| l1.lookups).sum::<u64>(),
        l1.lookups
    );
    let reuse = kernel.reuse.as_ref().unwrap();
    let uses = reuse.element.infinite + reuse.element.buckets.iter().map(|bucket| bucket.count).sum::<u64>();
    let loads: u64 = profile
        .sites
        .iter()
        .filter(|site| site.space == "global" && site.op == "load")
        .map(|site| site.metrics.lanes)
        .sum();
    assert_eq!(uses, loads);
    assert!(kernel.reuse.as_ref().unwrap().streaming <= reuse.element.infinite);
}

/// A model with waves of 64 lanes: neighbouring warps make one request of what both do, whatever the number of workers.
#[test]
fn two_warps_are_a_wave_where_the_model_has_64_lanes() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Launch(demo::launch(0)));
    let mut batch = Batch::default();
    let line = |number: u64| move |lane: u64| demo::MATRIX + 128 * number + 4 * lane;
    let site = demo::site::MATRIX;
    batch.block(0, demo::WARPS, 0);
    batch.turn(0).access(Space::Global, site, u32::MAX, line(0)).access(Space::Global, site, u32::MAX, line(4));
    trace.batch(0, &batch);
    // The other half comes in another batch; the second request of warp 0 stays alone, and so does another block's.
    let mut batch = Batch::default();
    batch.turn(1).access(Space::Global, site, 0xffff, line(1));
    batch.turn(2).access(Space::Global, site, u32::MAX, line(0));
    trace.batch(0, &batch);
    trace.event(demo::end(0, 0)).event(Event::End { launches: 1 });
    let trace = trace.finish();
    for threads in 1..4 {
        let profile = profile(&trace, threads, &settings("vega20"));
        let global = &profile.kernels[0].metrics["global"];
        assert_eq!((global.requests, global.lanes, global.bytes), (3, 112, 448), "{threads} threads");
        assert_eq!((global.sectors, global.ideal_sectors), (6 + 4 + 4, 6 + 4 + 4));
        assert_eq!(global.lines_touched["128"], [0, 2, 1]);
        // L1 has lines of 64 bytes without sectors: three of the wave, two of each half; the last half's are known.
        let l1 = global.l1.unwrap();
        assert_eq!((l1.lookups, l1.hits), (7, 2));
    }
    let demo = demo::trace("/nowhere/columns.cu");
    let (narrow, wide) = (profile(&demo, 1, &settings("rtx2080ti")), profile(&demo, 1, &settings("mi210")));
    for threads in 2..4 {
        assert_eq!(profile(&demo, threads, &settings("mi210")), wide, "{threads} threads");
    }
    for (space, metrics) in &wide.kernels[0].metrics {
        let before = &narrow.kernels[0].metrics[space];
        assert_eq!((metrics.lanes, metrics.bytes), (before.lanes, before.bytes), "{space}");
        assert!(metrics.requests <= before.requests && 2 * metrics.requests >= before.requests, "{space}");
    }
}

/// The half of a wave that waits when its launch ends is that launch's, also where another one ran meanwhile.
#[test]
fn halves_of_waves_stay_with_their_launch() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Launch(demo::launch(0))).event(Event::Launch(demo::launch(1)));
    let request = |batch: &mut Batch, site: u32, address: u64| {
        batch.access(Space::Global, site, u32::MAX, move |lane| address + 4 * lane);
    };
    let mut first = Batch::default();
    request(first.block(0, demo::WARPS, 0).turn(0), demo::site::MATRIX, demo::MATRIX);
    trace.batch(0, &first);
    let mut second = Batch::default();
    second.block(0, demo::WARPS, 0);
    for slot in 0..2 {
        request(second.turn(slot), demo::site::SUMS, demo::SUMS);
        request(&mut second, demo::site::MATRIX, demo::MATRIX);
    }
    trace.batch(1, &second);
    trace.event(demo::end(0, 0)).event(demo::end(1, 0)).event(Event::End { launches: 2 });
    let profile = profile(&trace.finish(), 1, &settings("vega20"));
    let launches = &profile.kernels[0].launches;
    let lanes: Vec<u64> = launches.iter().map(|launch| launch.metrics["global"].lanes).collect();
    assert_eq!(lanes, [32, 128]);
}

/// One warp loads 64 lines one after another, twice. Before, the matrix was copied to the device.
fn two_laps() -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Launch(demo::launch(0)));
    let mut batch = Batch::default();
    batch.block(0, demo::WARPS, 0).turn(0);
    for _ in 0..2 {
        for line in 0..64 {
            batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| demo::MATRIX + 128 * line + 4 * lane);
        }
    }
    trace.batch(0, &batch);
    trace.event(demo::end(0, 0)).event(Event::End { launches: 1 });
    trace.finish()
}

#[test]
fn copies_warm_level_2_where_the_model_says_so() {
    for (warm, hits, reads) in [(true, 256, 0), (false, 0, 256)] {
        let settings = Settings { warm_copies: warm, ..settings("rtx2080ti") };
        let sum = traffic(&analysis(&two_laps(), 1, &settings));
        assert_eq!((sum.l1.lookups, sum.l1.hits), (512, 256));
        assert_eq!((sum.l2.lookups, sum.l2.hits, sum.dram_reads), (256, hits, reads), "warm {warm}");
    }
}

/// Two launches load the same 64 lines.
#[test]
fn level_2_is_emptied_before_each_launch_where_that_is_requested() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    for launch in 0..2 {
        trace.event(Event::Launch(demo::launch(launch)));
        let mut batch = Batch::default();
        batch.block(0, demo::WARPS, 0).turn(0);
        for line in 0..64 {
            batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| demo::MATRIX + 128 * line + 4 * lane);
        }
        trace.batch(launch, &batch);
        trace.event(demo::end(launch, 0));
    }
    trace.event(Event::End { launches: 2 });
    let trace = trace.finish();
    for (flush_at_launch, hits) in [(false, 256), (true, 0)] {
        for workers in [1, 3] {
            let settings = Settings { flush_at_launch, warm_copies: false, ..settings("rtx2080ti") };
            let sum = traffic(&analysis(&trace, workers, &settings));
            assert_eq!((sum.l2.lookups, sum.l2.hits), (512, hits), "flushed {flush_at_launch}");
        }
    }
}

#[test]
fn reuse_restarts_with_each_block() {
    let profile = profile(&two_laps(), 1, &settings("rtx2080ti"));
    let reuse = profile.sites[0].metrics.reuse.clone().unwrap();
    assert_eq!((reuse.line.infinite, reuse.line.mean), (64, Some(63.0)));
    assert_eq!((reuse.element.infinite, reuse.element.mean), (2048, Some(2047.0)));
    assert_eq!(reuse.streaming, 0);
}

#[test]
fn reuse_is_within_what_was_requested() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Launch(demo::launch(0)));
    let mut batch = Batch::default();
    let per_sm = demo::WARPS * demo::launch(0).resident_blocks;
    // Two blocks one after the other on an SM, and one on the next, load the same four lines.
    for (block, slot) in [(0, 0), (1, 0), (2, per_sm)] {
        batch.block(slot, demo::WARPS, block).turn(slot);
        for line in 0..4 {
            batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| demo::MATRIX + 128 * line + 4 * lane);
        }
    }
    trace.batch(0, &batch);
    trace.event(demo::end(0, 0)).event(Event::End { launches: 1 });
    let trace = trace.finish();
    for (scope, first) in [(ReuseScope::Block, 12), (ReuseScope::Sm, 8), (ReuseScope::Launch, 4)] {
        for distance in [Distance::Exact, Distance::Approximate] {
            let settings = Settings { reuse: Some(ReuseSettings { distance, scope }), ..settings("rtx2080ti") };
            let profile = profile(&trace, 3, &settings);
            let reuse = profile.sites[0].metrics.reuse.as_ref().unwrap();
            let mean = (first < 12).then_some(3.0);
            assert_eq!((reuse.line.infinite, reuse.line.mean), (first, mean), "{scope:?} {distance:?}");
        }
    }
    let without = profile(&trace, 2, &Settings { reuse: None, ..settings("rtx2080ti") });
    assert_eq!(without.sites[0].metrics.reuse, None);
}

#[test]
fn approximate_reuse_is_the_same_for_any_number_of_workers() {
    let trace = demo::trace("/nowhere/columns.cu");
    for scope in [ReuseScope::Block, ReuseScope::Sm, ReuseScope::Launch] {
        let reuse = Some(ReuseSettings { distance: Distance::Approximate, scope });
        let settings = Settings { reuse, ..settings("a100") };
        let one = profile(&trace, 1, &settings);
        assert!(one.kernels[0].metrics["global"].reuse.is_some());
        for threads in 2..4 {
            assert_eq!(profile(&trace, threads, &settings), one, "{scope:?}, {threads} threads");
        }
    }
}

#[test]
fn reuse_beyond_the_caches_is_counted() {
    let mut settings = settings("rtx2080ti");
    let beyond = |settings: &Settings| {
        let profile = profile(&two_laps(), 1, settings);
        let reuse = profile.sites[0].metrics.reuse.clone().unwrap();
        assert_eq!(reuse.element.beyond, None);
        [reuse.sector, reuse.line].map(|distances| distances.beyond.map(|beyond| (beyond.l1, beyond.l2)).unwrap())
    };
    assert_eq!(beyond(&settings), [(0, 0), (0, 0)]);
    // All 64 lines come again at distance 63, their sectors at 255: one more than 63 lines or 252 sectors hold.
    settings.hierarchy.l1 =
        L1Config { bytes: 63 * 128, shared_options: Vec::new(), reserved_bytes: 0, ..settings.hierarchy.l1 };
    assert_eq!(beyond(&settings), [(256, 0), (64, 0)]);
}

#[test]
fn stages_and_banks_are_the_model_s() {
    let trace = demo::trace("/nowhere/columns.cu");
    let warps = 2 * demo::BLOCKS * u64::from(demo::WARPS);
    let turing = profile(&trace, 2, &settings("rtx2080ti"));
    let site = |profile: &Profile, id| profile.sites.iter().find(|site| site.id == id).unwrap().metrics.clone();
    // Lanes 256 bytes apart are in 32 lines and use one bank. A warp's lines 2 lane + k lie in the four tag banks
    // evenly.
    let matrix = site(&turing, demo::site::MATRIX).l1_wavefronts.unwrap();
    let requests = warps * demo::ROW;
    assert_eq!((matrix.data, matrix.ideal_data, matrix.words), (32 * requests, requests, requests));
    assert_eq!(matrix.tag, 8 * requests);
    // Columns of the tile, 128 bytes apart: words i and i + 32 share a row of Kepler's banks.
    let tile = |profile: &Profile| site(profile, demo::site::TILE).shared.unwrap();
    assert_eq!((tile(&turing).wavefronts, tile(&turing).ideal_wavefronts), (32 * requests, requests));
    let kepler = profile(&trace, 2, &settings("k40c"));
    assert_eq!((tile(&kepler).wavefronts, tile(&kepler).ideal_wavefronts), (16 * requests, requests));
    assert_eq!(site(&kepler, demo::site::MATRIX).l1_wavefronts, None);
    // All lanes read one constant.
    let scale = site(&turing, demo::site::SCALE).constant.unwrap();
    assert_eq!((scale.wavefronts, scale.ideal_wavefronts), (warps, warps));
}

#[test]
fn launches_are_compared_by_call_path() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    // Two launches from path 1, of 32 and 64 coalesced loads, one from path 2.
    for (id, path, loads) in [(0, 1, 32), (1, 1, 64), (2, 2, 5)] {
        trace.event(Event::Launch(warpline_format::event::Launch { path, ..demo::launch(id) }));
        let mut batch = Batch::default();
        batch.block(0, demo::WARPS, 0).turn(0);
        for line in 0..loads {
            batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| demo::MATRIX + 128 * line + 4 * lane);
        }
        trace.batch(id, &batch).event(demo::end(id, 0));
    }
    trace.event(Event::End { launches: 3 });
    let profile = profile(&trace.finish(), 1, &settings("rtx2080ti"));
    let kernel = &profile.kernels[0];
    assert_eq!(kernel.over_launches["global.requests"].max, 64);
    assert_eq!(kernel.over_launches["global.requests"].min, 5);
    let [path] = &kernel.over_paths[..] else { panic!("one path made two launches") };
    assert_eq!(path.launches, [0, 1]);
    let requests = path.counts["global.requests"];
    assert_eq!((requests.mean, requests.min, requests.max, requests.stddev), (48.0, 32, 64, 16.0));
    let misses = path.counts["global.reuse.element.infinite"];
    assert_eq!((misses.min, misses.max), (1024, 2048));
    let fp32 = path.counts["instructions.fp32.warps"];
    assert_eq!((fp32.min, fp32.stddev), (demo::BLOCKS * u64::from(demo::WARPS) * (demo::ROW + 1), 0.0));
    assert_eq!(path.ratios["global.coalescing_efficiency"].mean, 1.0);
    let all = &kernel.ratios_over_launches;
    assert_eq!(all["global.lanes_per_request"].mean, 32.0);
    assert!(!all.contains_key("estimate.seconds"), "there are no rates");
}

#[test]
fn host_memory_that_kernels_reach_is_distinguished() {
    const PINNED: u64 = 0x1100_0000_0000;
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    let allocation = |id, kind, address, bytes| {
        Event::Allocation(Allocation { id, kind, address, bytes, name: None, path: 0, global: None })
    };
    trace.event(allocation(10, AllocationKind::Host, PINNED, 65536));
    trace.event(allocation(11, AllocationKind::Named, PINNED + 4096, 4096));
    trace.event(Event::Launch(demo::launch(0)));
    let mut batch = Batch::default();
    batch.block(0, demo::WARPS, 0).turn(0);
    // Cold: 2 lines of the part with a name, 3 next to it, 1 of device memory that no copy left in L2.
    for at in [PINNED + 4096, PINNED + 4224, PINNED, PINNED + 128, PINNED + 256, demo::SUMS] {
        batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| at + 4 * lane);
    }
    trace.batch(0, &batch).event(demo::end(0, 0)).event(Event::End { launches: 1 });
    let bytes = trace.finish();
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("host.wltrace"), folder.path().join("host.wlprof"));
    std::fs::write(&trace, bytes).unwrap();
    let mut sim = assert_cmd::Command::cargo_bin("warpline").unwrap();
    sim.args(["sim", "--gpu", "rtx2080ti,gtx480", "-o"]).arg(&output).arg(&trace).assert().success();
    let profile = warpline::profile::read(&output).unwrap();
    let kernel = &profile.kernels[0];
    assert_eq!(kernel.metrics["global"].dram.unwrap().read_sectors, 6 * 4);
    let read = |model: &str| kernel.host_memory[model].read_sectors;
    assert_eq!((read("rtx2080ti"), read("gtx480")), (5 * 4, 5 * 4));
    let estimate = &kernel.estimates[0];
    assert_eq!((estimate.bytes.dram, estimate.bytes.bus), (4 * 32, 20 * 32));
    assert!(estimate.unknown.contains(&"bus".to_owned()));
    let seconds = kernel.ratios_over_launches["estimate.seconds"];
    assert_eq!((seconds.mean, seconds.stddev), (estimate.seconds, 0.0));
    let text = warpline::report::text(
        &profile,
        &warpline::report::TextOptions {
            color: false,
            top: 10,
            all: true,
            width: 100,
            shown: warpline::report::Shown::Summary,
        },
    );
    assert!(text.contains("host memory, over the bus on a GPU: 640 B of the DRAM reads, 0 B of the writes"), "{text}");
    assert!(text.contains("lookups, in bytes of the level's own sectors (32 B and 32 B)"), "{text}");
    // Each lookup of Fermi's L1 is a whole line.
    assert_eq!(profile.run.lookup_bytes["gtx480"].l1, 128);
    // The table for spreadsheets has what was simulated.
    let csv = warpline::report::csv(&profile);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let cell = |name: &str| {
        let column = rows[0].iter().position(|title| *title == name).unwrap();
        // Names at the front of the row have commas of their own.
        rows[1][rows[1].len() - (rows[0].len() - column)]
    };
    let loads = ["l1_load_lookups", "l1_load_hits", "l1_wavefronts_data", "l1_words"].map(cell);
    assert_eq!(loads, ["24", "0", "6", "6"]);
    let reuse =
        ["reuse_element_mean", "reuse_element_first", "reuse_element_used_once", "reuse_sector_first"].map(cell);
    assert_eq!(reuse, ["", "192", "192", "24"]);
}

#[test]
fn advice_and_pages_come_with_sim() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("demo.wltrace"), folder.path().join("demo.wlprof"));
    std::fs::write(&trace, demo::trace("/nowhere/columns.cu")).unwrap();
    let mut sim = assert_cmd::Command::cargo_bin("warpline").unwrap();
    sim.args(["sim", "--bypass", "--page-size", "64K", "--page-window", "32", "-o"]).arg(&output).arg(&trace);
    sim.assert().success();
    let profile = warpline::profile::read(&output).unwrap();
    let kernel = &profile.kernels[0];
    let advice = kernel.bypass.as_ref().unwrap();
    // Two warps a block: none, one, or both use L1; one load site.
    assert_eq!(advice.warps.iter().map(|row| row.warps).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(advice.sites.iter().map(|row| &row.sites[..]).collect::<Vec<_>>(), [&[][..], &[demo::site::MATRIX]]);
    let global = &kernel.metrics["global"];
    assert_eq!((advice.warps[2].l1, advice.sites[0].l1), (global.l1.unwrap(), global.l1.unwrap()));
    assert_eq!(advice.warps[0].l2, advice.sites[1].l2);
    assert_eq!(advice.warps[0].l1.load_lookups, 0);
    // The matrix is read by columns: nothing is used again, and no choice is better than none. It is reported once.
    assert_eq!(advice.best, Some(warpline::advice::Best::AsItIs));
    let report = assert_cmd::Command::cargo_bin("warpline").unwrap().arg("report").arg(&output).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("of 4 choices none sends less to L2 than all loads using L1"), "{report}");
    assert!(!report.contains("least to L2") && !report.contains("no better"), "{report}");
    // What was not computed is not called nothing.
    assert!(report.contains("no block uses what it loaded again"), "{report}");
    let mut sim = assert_cmd::Command::cargo_bin("warpline").unwrap();
    sim.args(["sim", "--bypass", "--reuse", "off", "-o"]).arg(&output).arg(&trace);
    let printed = sim.assert().success().get_output().stderr.clone();
    assert!(String::from_utf8_lossy(&printed).contains("reuse distances were not computed (--reuse off)"));
    let report = assert_cmd::Command::cargo_bin("warpline").unwrap().arg("report").arg(&output).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("not computed, as reuse distances were off"), "{report}");
    assert!(!report.contains("uses what it loaded again"), "{report}");
    assert!(warpline::profile::read(&output).unwrap().kernels[0].bypass.as_ref().unwrap().without_reuse);
    // Each of the 3 SMs makes 128 requests to the matrix in a launch, all to one page, and 2 to the sums in another,
    // in windows of 32.
    let pages = kernel.pages.as_ref().unwrap();
    assert_eq!((pages.page_bytes, pages.windows, pages.most, pages.distinct), (65536, 2 * 3 * 5, 1, 2));
    let mut wrong = assert_cmd::Command::cargo_bin("warpline").unwrap();
    wrong.args(["sim", "--page-size", "3K"]).arg(&trace);
    wrong.assert().code(2);
}

/// Three launches, the second of which needs more shared memory than an SM of Turing has.
fn too_large_for_turing() -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    for number in 0..3 {
        let dynamic_shared = if number == 1 { 100 << 10 } else { 0 };
        trace.event(Event::Launch(Launch { dynamic_shared, resident_blocks: 1, ..demo::launch(number) }));
        let mut batch = Batch::default();
        batch.block(0, demo::WARPS, 0).turn(0);
        batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| demo::MATRIX + 4 * lane);
        trace.batch(number, &batch);
        trace.event(demo::end(number, 0));
    }
    trace.event(Event::End { launches: 3 });
    trace.finish()
}

#[test]
fn a_launch_that_a_model_cannot_have_is_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("large.wltrace"), folder.path().join("large.wlprof"));
    std::fs::write(&trace, too_large_for_turing()).unwrap();
    let sim = |gpus: &str, code: i32| {
        let mut sim = assert_cmd::Command::cargo_bin("warpline").unwrap();
        sim.args(["sim", "--gpu", gpus, "-o"]).arg(&output).arg(&trace).assert().code(code);
        warpline::profile::read(&output).unwrap()
    };
    let described = |profile: &Profile| profile.run.notes.iter().filter(|note| note.contains("left out")).count();
    // On the first model all ran; the other's figures lack one, and its estimate too.
    let both = sim("a100,rtx2080ti", 0);
    let kernel = &both.kernels[0];
    assert_eq!((kernel.launches.len(), both.run.complete, described(&both)), (3, true, 1), "{:?}", both.run.notes);
    let global = &kernel.metrics["global"];
    assert_eq!((global.l1.unwrap().lookups, global.other_models["rtx2080ti"].l1.lookups), (12, 8));
    let launches: Vec<u64> = kernel.estimates.iter().map(|estimate| estimate.launches).collect();
    assert_eq!(launches, [3, 2]);
    assert!(!kernel.launches[1].metrics["global"].other_models.contains_key("rtx2080ti"));
    assert_eq!(kernel.launches[2].metrics["global"].other_models["rtx2080ti"].l1.lookups, 4);
    // As the first model it is incomplete.
    let turing = sim("rtx2080ti", 7);
    assert_eq!((turing.kernels[0].launches.len(), turing.run.complete, described(&turing)), (2, false, 1));
    let mut text = assert_cmd::Command::cargo_bin("warpline").unwrap();
    let text = text.arg("report").arg(&output).output().unwrap().stdout;
    assert!(String::from_utf8(text).unwrap().contains("rtx2080ti: launch 1 of"));
}

#[test]
fn files_that_are_needed_are_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, profile) = (folder.path().join("demo.wltrace"), folder.path().join("demo.wlprof"));
    let bytes = demo::trace("/nowhere/columns.cu");
    std::fs::write(&trace, &bytes).unwrap();
    let warpline = || assert_cmd::Command::cargo_bin("warpline").unwrap();
    let refused = |command: &mut assert_cmd::Command| {
        let message = command.assert().code(2).get_output().stderr.clone();
        assert!(String::from_utf8(message).unwrap().contains("would be written over"));
    };
    refused(warpline().arg("sim").arg(&trace).arg("-o").arg(&trace));
    assert_eq!(std::fs::read(&trace).unwrap(), bytes);
    warpline().arg("sim").arg(&trace).arg("-o").arg(&profile).assert().success();
    refused(warpline().arg("report").arg(&profile).arg("-o").arg(folder.path().join(".").join("demo.wlprof")));
    refused(warpline().args(["run", "--trace"]).arg(&trace).arg("-o").arg(&trace).args(["--", "true"]));
    // A program that never begins leaves an older trace alone.
    warpline().args(["run", "--trace"]).arg(&trace).args(["--", "./no-such-program"]).assert().failure();
    assert_eq!(std::fs::read(&trace).unwrap(), bytes);
}

/// Lanes that share a sector across groups of 8: Pascal looks it up twice for loads, and sends it once for stores.
#[test]
fn pascal_sends_stores_once_per_request() {
    let mut table = demo::table("/nowhere/columns.cu");
    let (load, store) = (demo::site::MATRIX, demo::site::TILE);
    table.sites[store as usize].space = Space::Global;
    table.sites[store as usize].bytes = 4;
    let of = |model: &str, site: u32, offset: u64, stride: u64| {
        let mut trace = TraceBuilder::default();
        trace.event(Event::Program {
            executable: "/home/someone/columns".into(),
            arguments: Vec::new(),
            device: models::find(model).unwrap().run_device().unwrap().device,
        });
        trace.event(Event::Module { id: 0, site_table: table.to_bytes() });
        trace.event(Event::Launch(Launch::with_defaults(0, 1, 32)));
        let mut batch = Batch::default();
        batch.block(0, 1, 0).turn(0);
        batch.access(Space::Global, site, u32::MAX, |lane| demo::MATRIX + offset + stride * lane);
        trace.batch(0, &batch);
        trace.event(demo::end(0, 0));
        trace.event(Event::End { launches: 1 });
        let traffic = traffic(&analysis(&trace.finish(), 1, &settings(model)));
        (traffic.l1.lookups, traffic.l2.lookups)
    };
    // Neighbouring words from the middle of a sector on: 5 sectors, 8 by groups. A load requests what it finds again
    // once.
    assert_eq!((of("p100", load, 16, 4), of("p100", store, 16, 4).1), ((8, 5), 5));
    assert_eq!((of("v100", load, 16, 4), of("v100", store, 16, 4).1), ((5, 5), 5));
    // Aligned ones, and ones that are sectors apart, are the same either way.
    assert_eq!((of("p100", load, 0, 4), of("p100", store, 0, 4).1), ((4, 4), 4));
    assert_eq!((of("p100", load, 0, 32), of("p100", store, 0, 32).1), ((32, 32), 32));
}
