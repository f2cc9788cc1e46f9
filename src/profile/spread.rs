//! How figures spread over the launches of a kernel, and over those from one call path.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpline_format::access::Space;
use warpline_format::event::{LaunchId, PathId};

use super::estimate::nine_digits;
use super::model::Frame;
use super::paths::Paths;
use super::rows::space_name;
use crate::analysis::LaunchData;
use crate::metrics::Counters;

/// Spread of a count over launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Least.
    pub min: u64,
    /// Greatest.
    pub max: u64,
    /// Standard deviation of the population.
    pub stddev: f64,
}

/// Spread of a ratio over the launches that have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RatioSpread {
    /// Mean of the launches' ratios.
    pub mean: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// Standard deviation of the population.
    pub stddev: f64,
}

/// Launches of a kernel from one call path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathSpread {
    /// Host call path.
    pub path: Vec<Frame>,
    /// Their numbers.
    pub launches: Vec<u64>,
    /// Counts, by `space.metric` and the like.
    pub counts: BTreeMap<String, Spread>,
    /// Ratios.
    pub ratios: BTreeMap<String, RatioSpread>,
}

/// Launches that were recorded, in order.
fn recorded(launches: &[LaunchData]) -> Vec<&LaunchData> {
    let mut recorded: Vec<&LaunchData> = launches.iter().filter(|launch| launch.event.block_share != 0).collect();
    recorded.sort_by_key(|launch| launch.event.id);
    recorded
}

/// Over all launches of a kernel.
pub(super) fn over_launches(launches: &[LaunchData]) -> BTreeMap<String, Spread> {
    counts(&recorded(launches))
}

/// Ratios over all launches of a kernel, with their estimated `seconds` where these are known.
pub(super) fn ratios_over_launches(
    launches: &[LaunchData],
    seconds: &BTreeMap<LaunchId, f64>,
) -> BTreeMap<String, RatioSpread> {
    ratios(&recorded(launches), seconds)
}

/// Over the launches from each call path that made two or more.
pub(super) fn over_paths(
    launches: &[LaunchData],
    seconds: &BTreeMap<LaunchId, f64>,
    paths: &mut Paths<'_>,
) -> Vec<PathSpread> {
    let mut by_path: BTreeMap<PathId, Vec<&LaunchData>> = BTreeMap::new();
    for launch in recorded(launches) {
        by_path.entry(launch.event.path).or_default().push(launch);
    }
    let several = by_path.into_iter().filter(|(_, launches)| launches.len() > 1);
    several
        .map(|(path, launches)| PathSpread {
            path: paths.host(path),
            launches: launches.iter().map(|launch| launch.event.id).collect(),
            counts: counts(&launches),
            ratios: ratios(&launches, seconds),
        })
        .collect()
}

/// Spread of every count that one of the launches has; it is 0 in the others.
fn counts(launches: &[&LaunchData]) -> BTreeMap<String, Spread> {
    let figures: Vec<BTreeMap<String, u64>> = launches.iter().map(|launch| counts_of(launch)).collect();
    let names: std::collections::BTreeSet<&String> = figures.iter().flat_map(BTreeMap::keys).collect();
    names
        .into_iter()
        .map(|name| {
            let values: Vec<u64> = figures.iter().map(|all| all.get(name).copied().unwrap_or(0)).collect();
            (name.clone(), spread(&values))
        })
        .collect()
}

fn counts_of(launch: &LaunchData) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (&space, counters) in &launch.spaces {
        let mut add = |name: &str, value: u64| _ = all.insert(format!("{}.{name}", space_name(space)), value);
        add("requests", counters.requests);
        add("lanes", counters.lanes);
        add("bytes", counters.bytes);
        add("sectors", counters.sectors);
        add("ideal_sectors", counters.ideal_sectors);
        if matches!(space, Space::Shared | Space::Constant) && counters.wavefronts != 0 {
            add("wavefronts", counters.wavefronts);
            add("ideal_wavefronts", counters.ideal_wavefronts);
        }
        if let Some(traffic) = counters.traffic.first() {
            for (name, value) in super::caches::spread(traffic) {
                add(name, value);
            }
        }
        if let Some(reuse) = &counters.reuse {
            for (name, histogram) in [("element", &reuse.element), ("sector", &reuse.sector), ("line", &reuse.line)] {
                add(&format!("reuse.{name}.infinite"), histogram.infinite);
                add(&format!("reuse.{name}.finite"), histogram.buckets().iter().map(|(_, count)| count).sum());
            }
            add("reuse.streaming", reuse.streaming);
        }
    }
    for (class, sum) in launch.instructions.iter() {
        all.insert(format!("instructions.{class}.warps"), sum.warps);
        all.insert(format!("instructions.{class}.lanes"), sum.lanes);
    }
    if launch.blocks.executions != 0 {
        all.insert("blocks.executions".to_owned(), launch.blocks.executions);
        all.insert("blocks.lanes".to_owned(), launch.blocks.lanes);
        all.insert("blocks.partial".to_owned(), launch.blocks.partial);
        if let Some(pairs) = launch.blocks.by_warp {
            all.insert("warp_blocks.count".to_owned(), pairs.pairs);
            all.insert("warp_blocks.divergent".to_owned(), pairs.uneven);
        }
    }
    if launch.branches.executions != 0 {
        all.insert("branches.executions".to_owned(), launch.branches.executions);
        all.insert("branches.divergent".to_owned(), launch.branches.divergent);
    }
    all
}

fn ratios(launches: &[&LaunchData], seconds: &BTreeMap<LaunchId, f64>) -> BTreeMap<String, RatioSpread> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for launch in launches {
        let mut add = |name: String, part: f64, whole: u64| {
            if whole != 0 {
                all.entry(name).or_default().push(part / whole as f64);
            }
        };
        for (&space, counters) in &launch.spaces {
            let name = |figure: &str| format!("{}.{figure}", space_name(space));
            add(name("lanes_per_request"), counters.lanes as f64, counters.requests);
            add(name("sectors_per_request"), counters.sectors as f64, counters.requests);
            add(name("coalescing_efficiency"), counters.ideal_sectors as f64, counters.sectors);
            add(name("divergence_degree"), lines(counters) as f64, counters.requests);
            if matches!(space, Space::Shared | Space::Constant) {
                add(name("passes_useful"), counters.ideal_wavefronts as f64, counters.wavefronts);
            }
            if let Some(traffic) = counters.traffic.first() {
                add(name("l1.load_hit_rate"), traffic.l1.load_hits as f64, traffic.l1.load_lookups);
                add(name("l1.hit_rate"), traffic.l1.hits as f64, traffic.l1.lookups);
                add(name("l2.hit_rate"), traffic.l2.hits as f64, traffic.l2.lookups);
            }
            if let Some(reuse) = &counters.reuse {
                for (of, histogram) in [("element", &reuse.element), ("sector", &reuse.sector), ("line", &reuse.line)] {
                    add(
                        name(&format!("reuse.{of}.mean")),
                        histogram.mean().unwrap_or(0.0),
                        histogram.mean().is_some().into(),
                    );
                }
            }
        }
        add("branches.divergent_share".to_owned(), launch.branches.divergent as f64, launch.branches.executions);
        add("blocks.partial_share".to_owned(), launch.blocks.partial as f64, launch.blocks.executions);
        if let Some(&seconds) = seconds.get(&launch.event.id) {
            add("estimate.seconds".to_owned(), seconds, 1);
        }
    }
    all.into_iter().map(|(name, values)| (name, ratio_spread(&values))).collect()
}

/// Lines touched, summed over requests.
fn lines(counters: &Counters) -> u64 {
    (0u64..).zip(counters.by_lines.to_vec()).map(|(lines, requests)| lines * requests).sum()
}

fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (nine_digits(mean), nine_digits(variance.sqrt()))
}

fn spread(values: &[u64]) -> Spread {
    let (mean, stddev) = moments(values.iter().map(|&value| value as f64));
    Spread {
        mean,
        min: values.iter().copied().min().unwrap_or(0),
        max: values.iter().copied().max().unwrap_or(0),
        stddev,
    }
}

fn ratio_spread(values: &[f64]) -> RatioSpread {
    let (mean, stddev) = moments(values.iter().copied());
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    RatioSpread { mean, min: nine_digits(least), max: nine_digits(most), stddev }
}

#[cfg(test)]
#[path = "spread_tests.rs"]
mod tests;
