use proptest::prelude::*;
use warpline_format::access::Space;
use warpline_format::event::Launch;

use super::*;
use warpline_analyzer::analysis::{BlockSum, BranchSum, InstructionSums, WarpSum};
use warpline_analyzer::attribution::ContextTree;
use warpline_analyzer::requests::Cells;
use warpline_simulator::metrics::{Counters, Footprint, Wavefronts};

#[test]
fn spread_is_that_of_the_population() {
    let mut figures = Figures::default();
    for requests in [2, 4, 4, 4, 5, 5, 7, 9] {
        let mut launch = data(
            0,
            &LaunchCase {
                path: 1,
                recorded: true,
                requests: Vec::new(),
                passes: Vec::new(),
                branches: None,
                seconds: None,
            },
        );
        launch.spaces.insert(Space::Global, Counters { requests, lanes: 8 * (requests % 4), ..Counters::default() });
        figures.add(&launch);
    }
    assert_eq!(counts(&figures)["global.requests"], Spread { mean: 5.0, min: 2, max: 9, stddev: 2.0 });
    let mut figures = Figures::default();
    [0.25, 0.75].into_iter().for_each(|seconds| figures.add_seconds(seconds));
    assert_eq!(ratios(&figures)["estimate.seconds"], RatioSpread { mean: 0.5, min: 0.25, max: 0.75, stddev: 0.25 });
}

/// The figures of one generated launch.
#[derive(Clone, Debug)]
struct LaunchCase {
    path: u32,
    recorded: bool,
    /// Lanes, sectors and lines of each request.
    requests: Vec<(u32, u32, u32)>,
    passes: Vec<(u32, u32)>,
    branches: Option<(u64, u64)>,
    seconds: Option<f64>,
}

fn made() -> impl Strategy<Value = LaunchCase> {
    let request = (1u32..=32, 1u32..=32).prop_flat_map(|(lanes, sectors)| (Just(lanes), Just(sectors), 1..=sectors));
    let branches = (1u64..9).prop_flat_map(|all| (Just(all), 0..=all));
    (
        (1u32..4, prop::bool::weighted(0.9)),
        prop::collection::vec(request, 0..6),
        prop::collection::vec((1u32..33, 1u32..2), 0..4),
        prop::option::of(branches),
        prop::option::of(1e-9f64..1.0),
    )
        .prop_map(|((path, recorded), requests, passes, branches, seconds)| LaunchCase {
            path,
            recorded,
            requests,
            passes,
            branches,
            seconds,
        })
}

fn data(id: u64, made: &LaunchCase) -> LaunchData {
    let mut spaces: BTreeMap<Space, Counters> = BTreeMap::new();
    for &(lanes, sectors, lines) in &made.requests {
        let footprint = Footprint { sectors, lines, bytes: 4 * lanes };
        spaces.entry(Space::Global).or_default().count(lanes, 4, footprint, Wavefronts::default());
    }
    for &(passes, ideal) in &made.passes {
        let footprint = Footprint { sectors: 1, lines: 1, bytes: 4 };
        spaces.entry(Space::Constant).or_default().count(1, 4, footprint, Wavefronts { passes, ideal });
    }
    let (executions, divergent) = made.branches.unwrap_or_default();
    LaunchData {
        event: Launch { block_share: made.recorded.into(), path: made.path, ..Launch::with_defaults(id, 1, 32) },
        spaces,
        by_op: BTreeMap::new(),
        host_memory: Vec::new(),
        atomics: Default::default(),
        error: Some(0),
        instructions: InstructionSums::default(),
        blocks: BlockSum {
            executions,
            lanes: executions,
            partial: divergent,
            by_warp: Some(WarpSum { pairs: executions, uneven: divergent, partial: divergent }),
        },
        branches: BranchSum { executions, divergent, lanes: Vec::new() },
        arguments: Vec::new(),
    }
}

/// Computes mean and standard deviation from the sums of values and of squares.
fn textbook(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), value| (sum + value, squares + value * value));
    (sum / count, ((squares - sum * sum / count) / count).max(0.0).sqrt())
}

fn agrees(values: &[f64], mean: f64, min: f64, max: f64, stddev: f64) {
    let (wanted_mean, wanted_stddev) = textbook(values);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let near = |got: f64, want: f64| (got - want).abs() <= 1e-6 * most.abs().max(1e-9);
    let all = near(mean, wanted_mean) && near(stddev, wanted_stddev) && near(min, least) && near(max, most);
    assert!(all, "{mean} {min} {max} {stddev} of {values:?}");
}

/// Compares counts and ratios of launches with lists of the generated figures.
fn check(launches: &[(u64, &LaunchCase)], counts: &BTreeMap<String, Spread>, ratios: &BTreeMap<String, RatioSpread>) {
    let count = |name: &str, of: &dyn Fn(&LaunchCase) -> u64| {
        let values: Vec<f64> = launches.iter().map(|(_, made)| of(made) as f64).collect();
        match counts.get(name) {
            Some(Spread { mean, min, max, stddev }) => agrees(&values, *mean, *min as f64, *max as f64, *stddev),
            None => assert!(values.iter().all(|value| *value == 0.0), "no {name}"),
        }
    };
    count("global.requests", &|made| made.requests.len() as u64);
    count("global.sectors", &|made| made.requests.iter().map(|request| u64::from(request.1)).sum());
    count("constant.wavefronts", &|made| made.passes.iter().map(|passes| u64::from(passes.0)).sum());
    count("branches.divergent", &|made| made.branches.map_or(0, |branches| branches.1));
    count("warp_blocks.divergent", &|made| made.branches.map_or(0, |branches| branches.1));
    let ratio = |name: &str, of: &dyn Fn(&LaunchCase) -> Option<f64>| {
        let values: Vec<f64> = launches.iter().filter_map(|(_, made)| of(made)).collect();
        match ratios.get(name) {
            Some(RatioSpread { mean, min, max, stddev }) => agrees(&values, *mean, *min, *max, *stddev),
            None => assert!(values.is_empty(), "no {name}"),
        }
    };
    let mean = |values: &[u32]| {
        let sum: u32 = values.iter().sum();
        (!values.is_empty()).then(|| f64::from(sum) / values.len() as f64)
    };
    ratio("global.divergence_degree", &|made| mean(&made.requests.iter().map(|request| request.2).collect::<Vec<_>>()));
    ratio("global.lanes_per_request", &|made| mean(&made.requests.iter().map(|request| request.0).collect::<Vec<_>>()));
    ratio("constant.passes_useful", &|made| {
        Some(1.0 / mean(&made.passes.iter().map(|passes| passes.0).collect::<Vec<_>>())?)
    });
    ratio("branches.divergent_share", &|made| made.branches.map(|(all, some)| some as f64 / all as f64));
    ratio("estimate.seconds", &|made| made.seconds);
}

/// Creates a kernel with these launches. Launches from `listed` on are grouped by path and by whether they were
/// recorded.
fn kernel(launches: Vec<LaunchData>, listed: usize) -> KernelData {
    let mut groups: BTreeMap<(u32, bool), LaunchGroup> = BTreeMap::new();
    let mut alone = launches;
    for launch in alone.split_off(listed.min(alone.len())) {
        let number = 2 * launch.event.path + u32::from(launch.event.block_share != 0);
        match groups.get_mut(&(number, false)) {
            Some(group) => group.add(&launch),
            None => _ = groups.insert((number, false), LaunchGroup::new(launch)),
        }
    }
    KernelData {
        module: 0,
        function: 0,
        cells: Cells::default(),
        contexts: ContextTree::default(),
        launches: alone,
        groups,
        blocks: BTreeMap::new(),
        branches: BTreeMap::new(),
        sums: Default::default(),
        patterns: BTreeMap::new(),
    }
}

proptest! {
    #[test]
    fn spreads_agree_with_lists_of_every_launch(launches in prop::collection::vec(made(), 1..8), listed in 0usize..9) {
        let mut launches = launches;
        // Times are estimated only for launches that are reported separately.
        launches.iter_mut().skip(listed).for_each(|made| made.seconds = None);
        let all: Vec<LaunchData> = (0..).zip(&launches).map(|(id, made)| data(id, made)).collect();
        let mut kernel = kernel(all, listed);
        kernel.launches.reverse();
        let seconds: BTreeMap<LaunchId, f64> =
            (0..).zip(&launches).filter_map(|(id, made)| Some((id, made.seconds?))).collect();
        let recorded: Vec<(u64, &LaunchCase)> = (0..).zip(&launches).filter(|(_, made)| made.recorded).collect();
        let (counts, ratios) = over_launches(&kernel, &seconds);
        check(&recorded, &counts, &ratios);
        let analysis = warpline_analyzer::analysis::Analysis::empty(warpline_analyzer::analysis::Finish::Complete);
        let rows = over_paths(&kernel, &seconds, &mut Paths::new(&analysis));
        let paths: Vec<Vec<(u64, &LaunchCase)>> = (1..4)
            .map(|path| recorded.iter().copied().filter(|(_, made)| made.path == path).collect::<Vec<_>>())
            .filter(|launches| launches.len() > 1)
            .collect();
        prop_assert_eq!(rows.len(), paths.len());
        for (row, launches) in rows.iter().zip(&paths) {
            let ids: Vec<u64> = launches.iter().map(|(id, _)| *id).filter(|id| (*id as usize) < listed).collect();
            prop_assert_eq!((&row.launches, row.count()), (&ids, launches.len() as u64));
            check(launches, &row.counts, &row.ratios);
        }
        prop_assert_eq!(kernel.launch_count(), launches.len() as u64);
    }
}
