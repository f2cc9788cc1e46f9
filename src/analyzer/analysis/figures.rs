//! Sums and moments of the figures of launches. They give mean and spread without storing each launch.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;
use warpline_format::access::Space;

use super::LaunchData;
use warpline_simulator::hierarchy::{StageCounts, Traffic};
use warpline_simulator::metrics::Counters;

/// The parts of a name.
type Parts = [&'static str; 3];

/// Name of a figure: its parts joined by dots. Empty parts are omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FigureName([&'static str; 3]);

impl FigureName {
    pub(super) fn new(parts: [&'static str; 3]) -> FigureName {
        FigureName(parts)
    }
}

impl fmt::Display for FigureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.0.iter().filter(|part| !part.is_empty()).enumerate() {
            if number > 0 {
                f.write_str(".")?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

/// Moments of a count over the launches that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountMoments {
    /// Number of launches that have the count. It is 0 in the others.
    pub launches: u64,
    /// Sum.
    pub sum: u128,
    /// Sum of the squares; saturating.
    pub squares: u128,
    /// Minimum.
    pub min: u64,
    /// Maximum.
    pub max: u64,
}

impl Default for CountMoments {
    fn default() -> Self {
        CountMoments { launches: 0, sum: 0, squares: 0, min: u64::MAX, max: 0 }
    }
}

impl CountMoments {
    fn add(&mut self, value: u64) {
        self.launches += 1;
        self.sum += u128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value).pow(2));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn merge(&mut self, other: &CountMoments) {
        self.launches += other.launches;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Returns the mean and the standard deviation over `all` launches. Launches without the count contribute 0.
    pub fn over(&self, all: u64) -> (f64, f64) {
        let count = u128::from(all.max(1));
        let mean = self.sum as f64 / count as f64;
        // This is a difference of two large numbers, so it is computed in integers if they do not overflow.
        let exact = self.squares.checked_mul(count).zip(self.sum.checked_mul(self.sum));
        let variance = match exact {
            Some((squares, square)) => squares.saturating_sub(square) as f64 / (count as f64 * count as f64),
            None => (self.squares as f64 / count as f64 - mean * mean).max(0.0),
        };
        (mean, variance.sqrt())
    }
}

/// Moments of a ratio over the launches that have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioMoments {
    /// Number of launches that have the ratio.
    pub launches: u64,
    /// Mean.
    pub mean: f64,
    /// Sum of the squared differences from the mean.
    squares: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

impl Default for RatioMoments {
    fn default() -> Self {
        RatioMoments { launches: 0, mean: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl RatioMoments {
    /// Adds the value of a launch (Welford).
    pub fn add(&mut self, value: f64) {
        self.launches += 1;
        let before = value - self.mean;
        self.mean += before / self.launches as f64;
        self.squares += before * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the moments of other launches (Chan et al.).
    pub fn merge(&mut self, other: &RatioMoments) {
        if other.launches == 0 {
            return;
        }
        let (ours, theirs) = (self.launches as f64, other.launches as f64);
        let apart = other.mean - self.mean;
        self.launches += other.launches;
        let all = self.launches as f64;
        self.mean += apart * theirs / all;
        self.squares += other.squares + apart * apart * ours * theirs / all;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Returns the standard deviation of the population.
    pub fn stddev(&self) -> f64 {
        (self.squares.max(0.0) / self.launches.max(1) as f64).sqrt()
    }
}

/// Moments of the counts and ratios of launches.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Number of added launches.
    pub launches: u64,
    counts: FxHashMap<FigureName, CountMoments>,
    ratios: FxHashMap<FigureName, RatioMoments>,
}

impl Figures {
    /// Adds a launch.
    pub fn add(&mut self, launch: &LaunchData) {
        self.launches += 1;
        each_count(launch, |name, value| self.counts.entry(FigureName(name)).or_default().add(value));
        each_ratio(launch, |name, part, whole| {
            if whole != 0 {
                self.ratios.entry(FigureName(name)).or_default().add(part / whole as f64);
            }
        });
    }

    /// Adds a launch's estimated time.
    pub fn add_seconds(&mut self, seconds: f64) {
        self.ratios.entry(FigureName(["estimate", "seconds", ""])).or_default().add(seconds);
    }

    /// Adds the figures of other launches.
    pub fn merge(&mut self, other: &Figures) {
        self.launches += other.launches;
        for (name, moments) in &other.counts {
            self.counts.entry(*name).or_default().merge(moments);
        }
        // The order is fixed, because floating-point sums depend on it.
        let ordered: BTreeMap<_, _> = other.ratios.iter().collect();
        for (name, moments) in ordered {
            self.ratios.entry(*name).or_default().merge(moments);
        }
    }

    /// Returns the counts by name. A count that a launch lacks is 0 there.
    pub fn counts(&self) -> impl Iterator<Item = (String, &CountMoments)> {
        self.counts.iter().map(|(name, moments)| (name.to_string(), moments))
    }

    /// Returns the ratios by name, each over the launches that have it.
    pub fn ratios(&self) -> impl Iterator<Item = (String, &RatioMoments)> {
        self.ratios.iter().map(|(name, moments)| (name.to_string(), moments))
    }
}

/// Returns the name of a space in figures and in the profile.
pub fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global | Space::Generic => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Constant => "constant",
    }
}

/// Calls `pair` for each ratio of two counts of a launch, with the names of the ratio, of its numerator and of its
/// denominator.
pub(super) fn each_pair(launch: &LaunchData, mut pair: impl FnMut(Parts, Parts, Parts)) {
    for (&space, counters) in &launch.spaces {
        let space_is = space_name(space);
        let mut one = |ratio, part, whole| pair([space_is, ratio, ""], [space_is, part, ""], [space_is, whole, ""]);
        one("lanes_per_request", "lanes", "requests");
        one("sectors_per_request", "sectors", "requests");
        one("coalescing_efficiency", "ideal_sectors", "sectors");
        if counters.wavefronts != 0 && matches!(space, Space::Shared | Space::Constant) {
            one("passes_useful", "ideal_wavefronts", "wavefronts");
        }
        if !counters.traffic.is_empty() {
            one("l1.load_hit_rate", "l1.load_hits", "l1.load_lookups");
            // The former name of the ratio.
            one("l1.hit_rate", "l1.load_hits", "l1.load_lookups");
            one("l2.hit_rate", "l2.hits", "l2.lookups");
        }
    }
}

/// Calls `add` for each count of a launch.
pub(super) fn each_count(launch: &LaunchData, mut add: impl FnMut([&'static str; 3], u64)) {
    for (&space, counters) in &launch.spaces {
        let space_is = space_name(space);
        let mut one = |name: &'static str, value: u64| add([space_is, name, ""], value);
        one("requests", counters.requests);
        one("lanes", counters.lanes);
        one("bytes", counters.bytes);
        one("sectors", counters.sectors);
        one("ideal_sectors", counters.ideal_sectors);
        if matches!(space, Space::Shared | Space::Constant) && counters.wavefronts != 0 {
            one("wavefronts", counters.wavefronts);
            one("ideal_wavefronts", counters.ideal_wavefronts);
        }
        if let Some(traffic) = counters.traffic.first() {
            each_of_traffic(traffic, one);
        }
        if let Some(reuse) = &counters.reuse {
            for (name, histogram) in
                [("reuse.element", &reuse.element), ("reuse.sector", &reuse.sector), ("reuse.line", &reuse.line)]
            {
                add([space_is, name, "infinite"], histogram.infinite);
                add([space_is, name, "finite"], histogram.finite());
            }
            add([space_is, "reuse.streaming", ""], reuse.streaming);
        }
    }
    for (class, sum) in launch.instructions.iter() {
        add(["instructions", class, "warps"], sum.warps);
        add(["instructions", class, "lanes"], sum.lanes);
    }
    if launch.blocks.executions != 0 {
        add(["blocks", "executions", ""], launch.blocks.executions);
        add(["blocks", "lanes", ""], launch.blocks.lanes);
        add(["blocks", "partial", ""], launch.blocks.partial);
        if let Some(pairs) = launch.blocks.by_warp {
            add(["warp_blocks", "count", ""], pairs.pairs);
            add(["warp_blocks", "divergent", ""], pairs.uneven);
        }
    }
    if launch.branches.executions != 0 {
        add(["branches", "executions", ""], launch.branches.executions);
        add(["branches", "divergent", ""], launch.branches.divergent);
    }
}

fn each_of_traffic(traffic: &Traffic, mut add: impl FnMut(&'static str, u64)) {
    add("l1.lookups", traffic.l1.lookups);
    add("l1.hits", traffic.l1.hits);
    add("l1.load_lookups", traffic.l1.load_lookups);
    add("l1.load_hits", traffic.l1.load_hits);
    add("l2.lookups", traffic.l2.lookups);
    add("l2.hits", traffic.l2.hits);
    add("l2.load_lookups", traffic.l2.load_lookups);
    add("l2.load_hits", traffic.l2.load_hits);
    add("dram.read_sectors", traffic.dram_reads);
    add("dram.write_sectors", traffic.dram_writes);
    if traffic.stages != StageCounts::default() {
        add("l1_wavefronts.data", traffic.stages.data);
        add("l1_wavefronts.tag", traffic.stages.tag);
    }
}

/// Calls `add` for each ratio of a launch, with numerator and denominator.
fn each_ratio(launch: &LaunchData, mut add: impl FnMut([&'static str; 3], f64, u64)) {
    for (&space, counters) in &launch.spaces {
        let space_is = space_name(space);
        let mut one = |name: &'static str, part: u64, whole: u64| add([space_is, name, ""], part as f64, whole);
        one("lanes_per_request", counters.lanes, counters.requests);
        one("sectors_per_request", counters.sectors, counters.requests);
        one("coalescing_efficiency", counters.ideal_sectors, counters.sectors);
        one("divergence_degree", lines(counters), counters.requests);
        if matches!(space, Space::Shared | Space::Constant) {
            one("passes_useful", counters.ideal_wavefronts, counters.wavefronts);
        }
        if let Some(traffic) = counters.traffic.first() {
            one("l1.load_hit_rate", traffic.l1.load_hits, traffic.l1.load_lookups);
            // The former name of the ratio.
            one("l1.hit_rate", traffic.l1.load_hits, traffic.l1.load_lookups);
            one("l2.hit_rate", traffic.l2.hits, traffic.l2.lookups);
        }
        if let Some(reuse) = &counters.reuse {
            for (of, histogram) in
                [("reuse.element", &reuse.element), ("reuse.sector", &reuse.sector), ("reuse.line", &reuse.line)]
            {
                let mean = histogram.mean();
                add([space_is, of, "mean"], mean.unwrap_or(0.0), mean.is_some().into());
            }
        }
    }
    let (branches, blocks) = (&launch.branches, &launch.blocks);
    add(["branches", "divergent_share", ""], branches.divergent as f64, branches.executions);
    add(["blocks", "partial_share", ""], blocks.partial as f64, blocks.executions);
}

/// Returns the touched lines, summed over requests.
fn lines(counters: &Counters) -> u64 {
    counters
        .by_lines
        .iter()
        .fold(0, |sum, (lines, requests)| u64::from(lines).saturating_mul(requests).saturating_add(sum))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that merged moments of two groups equal those of all values.
        #[test]
        fn moments_can_be_put_together(
            values in prop::collection::vec(0u64..1_000_000_000_000, 1..40), cut in 0usize..40, missing in 0u64..5,
        ) {
            let cut = cut.min(values.len());
            let (mut counts, mut ratios) = ([CountMoments::default(); 2], [RatioMoments::default(); 2]);
            for (index, &value) in values.iter().enumerate() {
                counts[usize::from(index >= cut)].add(value);
                ratios[usize::from(index >= cut)].add(value as f64);
            }
            let [mut count, more] = counts;
            count.merge(&more);
            let [mut ratio, more] = ratios;
            ratio.merge(&more);
            let moments = |all: f64| {
                let mean = values.iter().map(|&value| value as f64).sum::<f64>() / all;
                let zeroes = (all - values.len() as f64) * mean * mean;
                let squares: f64 = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
                (mean, ((squares + zeroes) / all).sqrt())
            };
            let near = |got: f64, want: f64| (got - want).abs() <= 1e-9 * want.abs().max(1.0) + 1e-3;
            let all = values.len() as u64 + missing;
            let (wanted, got) = (moments(all as f64), count.over(all));
            prop_assert!(near(got.0, wanted.0) && near(got.1, wanted.1), "{:?} for {:?}", got, wanted);
            let wanted = moments(values.len() as f64);
            prop_assert!(near(ratio.mean, wanted.0) && near(ratio.stddev(), wanted.1));
            prop_assert_eq!((count.min, count.max), (*values.iter().min().unwrap(), *values.iter().max().unwrap()));
            prop_assert_eq!((ratio.min, ratio.max), (count.min as f64, count.max as f64));
        }
    }

    #[test]
    fn huge_counts_do_not_overflow() {
        let mut count = CountMoments::default();
        (0..3).for_each(|_| count.add(u64::MAX));
        let (mean, stddev) = count.over(3);
        assert!((mean / u64::MAX as f64 - 1.0).abs() < 1e-9 && stddev < 1e-3 * mean, "{mean} {stddev}");
    }
}
