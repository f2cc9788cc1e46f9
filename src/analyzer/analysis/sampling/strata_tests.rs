use warpline_format::access::Space;
use warpline_format::budget::{Budget, Sampler, Shape};
use warpline_format::event::Launch;

use super::*;
use crate::analysis::sampling::lines::LineCount;
use warpline_simulator::metrics::Counters;

/// Returns a share of the sectors that differs between launches.
fn ideal(sectors: u64) -> u64 {
    (sectors as f64 * (0.3 + 0.4 * random(sectors))) as u64
}

/// Creates a launch with two figures.
fn launch(sectors: u64) -> LaunchData {
    let counters = Counters { requests: 1, sectors, ideal_sectors: ideal(sectors), ..Counters::default() };
    LaunchData {
        event: Launch::with_defaults(0, 1, 32),
        spaces: BTreeMap::from([(Space::Global, counters)]),
        by_op: BTreeMap::new(),
        host_memory: Vec::new(),
        atomics: Default::default(),
        error: Some(0),
        instructions: Default::default(),
        blocks: Default::default(),
        branches: Default::default(),
        arguments: Vec::new(),
    }
}

fn shape(kernel: u32) -> Shape {
    Shape { kernel: (0, kernel), grid: [64, 1, 1], block: [64, 1, 1], dynamic_shared: 0, path: 0 }
}

/// Returns the sectors of two lines in a launch: a varying share of all sectors, and a value that occurs only in about
/// every second launch.
fn line_sectors(launch: u64, sectors: u64) -> [u64; 2] {
    let first = ideal(sectors);
    [first, if random(launch ^ 0xabcd) < 0.5 { sectors - first } else { 0 }]
}

fn line(kernel: u32, line: u32) -> LineFigure {
    LineFigure { kernel, file: Some(0), line, space: Space::Global, count: LineCount::Sectors }
}

/// Returns the estimate for a program, given the kernel and the sectors of each launch.
fn estimated(launches: &[(u32, u64)], millionths: u32, seed: u64) -> WholeRuns {
    let mut sampler = Sampler::new(Budget { millionths, seed });
    let mut strata = Strata::default();
    for (number, &(kernel, sectors)) in launches.iter().enumerate() {
        let shape = shape(kernel);
        let mut choice = sampler.choose(&shape);
        choice.place.launch = number as u64;
        strata.begin(kernel, &choice.place).unwrap();
        if choice.recorded {
            let lines = line_sectors(number as u64, sectors);
            let lines = (1..).zip(lines).filter(|(_, sectors)| *sectors != 0);
            let lines = lines.map(|(number, sectors)| (line(kernel, number), sectors)).collect();
            strata.end(&choice.place, &launch(sectors), &lines);
        }
        sampler.ran(&choice, shape.warps(), choice.recorded.then_some(sectors));
    }
    strata.whole()
}

fn random(number: u64) -> f64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns programs whose launches differ in various ways.
fn programs(launches: u64) -> Vec<(&'static str, Vec<(u32, u64)>)> {
    let all = |of: &dyn Fn(u64) -> (u32, u64)| (0..launches).map(of).collect::<Vec<_>>();
    vec![
        ("alike", all(&|_| (0, 1000))),
        ("cold at first", all(&|n| (0, if n == 0 { 90_000 } else { 1000 }))),
        ("in turn", all(&|n| (0, if n % 2 == 0 { 1000 } else { 5000 }))),
        ("every tenth", all(&|n| (0, if n % 10 == 0 { 9000 } else { 1000 }))),
        ("growing", all(&|n| (0, 100 + 10 * n))),
        ("shrinking", all(&|n| (0, 20_000 * 100 / (100 + n)))),
        ("random", all(&|n| (0, 500 + (1000.0 * random(n)) as u64))),
        ("skewed", all(&|n| (0, (1000.0 * (-random(n).max(1e-9).ln()).exp().min(60.0)) as u64))),
        ("three kernels", all(&|n| ((n % 3) as u32, (1 + n % 3) * 1000 + (300.0 * random(n)) as u64))),
        ("phases", all(&|n| (0, if n < launches / 3 { 1000 } else { 4000 + n % 7 }))),
    ]
}

/// Shares of correct bounds over many random samples.
struct Coverage {
    /// Share for sums.
    held: f64,
    /// Share for ratios.
    ratios_held: f64,
    /// Share for sums of lines.
    lines_held: f64,
    /// Mean error of sums, and mean width of their bounds, relative to the sums.
    bias: f64,
    width: f64,
}

fn coverage(launches: &[(u32, u64)], millionths: u32, draws: u64) -> Coverage {
    let sum = launches.iter().map(|(_, sectors)| sectors).sum::<u64>() as f64;
    let ideal = launches.iter().map(|&(_, sectors)| ideal(sectors)).sum::<u64>() as f64;
    let mut of_lines: BTreeMap<LineFigure, u64> = BTreeMap::new();
    for (launch, &(kernel, sectors)) in launches.iter().enumerate() {
        for (number, sectors) in (1..).zip(line_sectors(launch as u64, sectors)) {
            *of_lines.entry(line(kernel, number)).or_default() += sectors;
        }
    }
    let (mut held, mut ratios_held, mut lines_held, mut error, mut width) = (0, 0, 0, 0.0, 0.0);
    for seed in 0..draws {
        let WholeRuns { all: whole, lines, .. } = estimated(launches, millionths, seed);
        for (line, &sum) in &of_lines {
            // A line that no recorded launch reached is not reported.
            let reported = lines.get(line).copied().unwrap_or_default();
            let off = (reported.estimate - sum as f64).abs();
            lines_held += u64::from(off <= reported.bound.unwrap_or_default() + 1e-6 * sum as f64);
        }
        let sectors = whole.totals["global.sectors"];
        let off = sectors.estimate - sum;
        error += off / sum;
        width += sectors.bound.unwrap() / sum;
        held += u64::from(off.abs() <= sectors.bound.unwrap() + 1e-6 * sum);
        let ratio = whole.ratios["global.coalescing_efficiency"];
        ratios_held += u64::from((ratio.estimate - ideal / sum).abs() <= ratio.bound.unwrap() + 1e-6);
    }
    let of = |count: u64| count as f64 / draws as f64;
    Coverage {
        held: of(held),
        ratios_held: of(ratios_held),
        lines_held: of(lines_held) / of_lines.len() as f64,
        bias: error / draws as f64,
        width: width / draws as f64,
    }
}

/// Programs with rare launches. A sample of a short run may miss them, so its bounds can be wrong.
const RARE: [&str; 2] = ["every tenth", "skewed"];

#[test]
fn bounds_hold_as_often_as_they_say() {
    for (launches, draws) in [(60, 200), (400, 200), (2000, 100)] {
        for (name, program) in programs(launches) {
            let Coverage { held, ratios_held, lines_held, bias, width } = coverage(&program, 100_000, draws);
            println!("{launches:>5} {name:<14} {held:.3} {ratios_held:.3} {lines_held:.3} {bias:+.4} ±{width:.3}");
            if RARE.contains(&name) && launches < 400 {
                continue;
            }
            let least = if name == "skewed" { 0.85 } else { 0.9 };
            assert!(held >= least, "{name}, {launches} launches: {held}");
            assert!(ratios_held >= 0.85, "{name}, {launches} launches, ratio: {ratios_held}");
            assert!(lines_held >= least || launches < 400, "{name}, {launches} launches, lines: {lines_held}");
            assert!(bias.abs() < 0.03, "{name}, {launches} launches: {bias}");
            // The intervals must be narrow enough to be useful.
            assert!(launches < 2000 || width < 0.35, "{name}: {width}");
        }
    }
}

#[test]
fn short_programs_have_bounds_too() {
    for launches in [1, 2, 3, 4, 5, 9, 20] {
        for (name, program) in programs(launches) {
            let held = coverage(&program, 50_000, 100).held;
            let least = if RARE.contains(&name) { 0.2 } else { 0.9 };
            assert!(held >= least, "{name}, {launches} launches: {held}");
        }
    }
}

#[test]
fn everything_recorded_is_exact() {
    for (_, program) in programs(50) {
        let WholeRuns { all: whole, kernels, lines } = estimated(&program, 1_000_000, 0);
        let lines_sum: f64 = lines.values().map(|one| one.estimate).sum();
        let launches = program.iter().enumerate();
        let expected: u64 =
            launches.map(|(n, &(_, sectors))| line_sectors(n as u64, sectors).iter().sum::<u64>()).sum();
        assert_eq!(lines_sum, expected as f64);
        assert!(lines.values().all(|one| one.bound == Some(0.0)));
        let sum = program.iter().map(|(_, sectors)| sectors).sum::<u64>() as f64;
        assert_eq!(whole.totals["global.sectors"], Bounded { estimate: sum, bound: Some(0.0) });
        assert_eq!((whole.launches, whole.recorded), (50, 50));
        assert_eq!(kernels.values().map(|kernel| kernel.launches).sum::<u64>(), 50);
    }
}

#[test]
fn impossible_places_are_refused() {
    let mut strata = Strata::default();
    let first = Sampled { launch: 0, stratum: 0, round: 0, length: 3, taken: 3 };
    strata.begin(0, &first).unwrap();
    for place in [
        Sampled { stratum: MOST_STRATA, ..first },
        Sampled { taken: 0, ..first },
        Sampled { length: 2, ..first },
        Sampled { length: u64::MAX, ..first },
        Sampled { taken: 1 << 40, length: 1 << 41, ..first },
    ] {
        assert_eq!(strata.begin(0, &place), Err(SampleError::Impossible(0)), "{place:?}");
    }
    // Launches are rejected if the round is incomplete, if it is a different round, or if the kernel differs.
    assert_eq!(strata.begin(0, &Sampled { round: 1, length: 4, taken: 2, ..first }), Err(SampleError::Order(0)));
    assert_eq!(strata.begin(0, &Sampled { length: 4, ..first }), Err(SampleError::Order(0)));
    assert_eq!(strata.begin(1, &first), Err(SampleError::Order(0)));
    strata.begin(0, &first).unwrap();
    strata.begin(0, &first).unwrap();
    assert_eq!(strata.begin(0, &first), Err(SampleError::Order(0)));
    strata.begin(0, &Sampled { round: 1, length: 4, taken: 2, ..first }).unwrap();
}
