//! Computes the spread of figures over the launches of a kernel, and over those from one call path.

use std::collections::BTreeMap;

use warpline_format::event::{LaunchId, PathId};

use crate::build::rows::Paths;
use crate::model::{PathSpread, RatioSpread, Spread, nine_digits};
use warpline_analyzer::analysis::{CountMoments, Figures, KernelData, LaunchData, LaunchGroup, RatioMoments};

/// Combines the figures of separately reported launches, in order, with those of groups.
fn figures<'a>(
    launches: &[&LaunchData],
    groups: impl Iterator<Item = &'a LaunchGroup>,
    seconds: &BTreeMap<LaunchId, f64>,
) -> Figures {
    let mut figures = Figures::default();
    for launch in launches {
        figures.add(launch);
        if let Some(&seconds) = seconds.get(&launch.event.id) {
            figures.add_seconds(seconds);
        }
    }
    groups.for_each(|group| figures.merge(&group.figures));
    figures
}

/// Returns recorded launches that are reported separately, in order.
fn recorded(kernel: &KernelData) -> Vec<&LaunchData> {
    let mut recorded: Vec<&LaunchData> =
        kernel.launches.iter().filter(|launch| launch.event.block_share != 0).collect();
    recorded.sort_by_key(|launch| launch.event.id);
    recorded
}

/// Returns the spread of counts and ratios over all launches of a kernel, and of their estimated `seconds` if known.
pub(in crate::build) fn over_launches(
    kernel: &KernelData,
    seconds: &BTreeMap<LaunchId, f64>,
) -> (BTreeMap<String, Spread>, BTreeMap<String, RatioSpread>) {
    let figures = figures(&recorded(kernel), kernel.groups.values(), seconds);
    (counts(&figures), ratios(&figures))
}

/// Returns the spread over the launches from each call path with two or more launches.
pub(in crate::build) fn over_paths(
    kernel: &KernelData,
    seconds: &BTreeMap<LaunchId, f64>,
    paths: &mut Paths<'_>,
) -> Vec<PathSpread> {
    let mut by_path: BTreeMap<PathId, (Vec<&LaunchData>, Vec<&LaunchGroup>)> = BTreeMap::new();
    for launch in recorded(kernel) {
        by_path.entry(launch.event.path).or_default().0.push(launch);
    }
    for group in kernel.groups.values().filter(|group| group.same_path && group.figures.launches > 0) {
        by_path.entry(group.sum.event.path).or_default().1.push(group);
    }
    let row = |(path, (launches, groups)): (PathId, (Vec<&LaunchData>, Vec<&LaunchGroup>))| {
        let figures = figures(&launches, groups.into_iter(), seconds);
        (figures.launches > 1).then(|| PathSpread {
            path: paths.host(path),
            launches: launches.iter().map(|launch| launch.event.id).collect(),
            count: figures.launches,
            counts: counts(&figures),
            ratios: ratios(&figures),
            exact: BTreeMap::new(),
        })
    };
    by_path.into_iter().filter_map(row).collect()
}

/// Returns the spread of every count that at least one launch has. In launches without the count, it is 0.
pub(in crate::build) fn counts(figures: &Figures) -> BTreeMap<String, Spread> {
    let spread = |moments: &CountMoments| {
        let (mean, stddev) = moments.over(figures.launches);
        let min = if moments.launches < figures.launches { 0 } else { moments.min };
        Spread { mean: nine_digits(mean), min, max: moments.max, stddev: nine_digits(stddev) }
    };
    figures.counts().map(|(name, moments)| (name, spread(moments))).collect()
}

/// Returns the spread of every ratio, over the launches that have it.
pub(in crate::build) fn ratios(figures: &Figures) -> BTreeMap<String, RatioSpread> {
    let spread = |moments: &RatioMoments| RatioSpread {
        mean: nine_digits(moments.mean),
        min: nine_digits(moments.min),
        max: nine_digits(moments.max),
        stddev: nine_digits(moments.stddev()),
    };
    figures.ratios().map(|(name, moments)| (name, spread(moments))).collect()
}

#[cfg(test)]
#[path = "spread_tests.rs"]
mod tests;
