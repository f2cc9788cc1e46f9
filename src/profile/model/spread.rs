//! How a figure differs from launch to launch, and what is estimated of launches that were not recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frames::Frame;
use super::merged::Exact;

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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathSpread {
    /// Host call path.
    pub path: Vec<Frame>,
    /// Numbers of those that are listed separately.
    pub launches: Vec<u64>,
    /// How many launches there are, those in groups among them.
    #[serde(default)]
    pub count: u64,
    /// Counts, by `space.metric` and the like.
    pub counts: BTreeMap<String, Spread>,
    /// Ratios.
    pub ratios: BTreeMap<String, RatioSpread>,
    /// What merging it again needs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exact: BTreeMap<String, Exact>,
}

impl PathSpread {
    /// How many launches it is of; profiles from before there were groups list them all.
    pub fn count(&self) -> u64 {
        self.count.max(self.launches.len() as u64)
    }
}

/// An estimated figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimated {
    /// Estimate.
    pub estimate: f64,
    /// The figure of the whole run is within so much of it, with the stated confidence; `None` if it is unknown how
    /// much launches differ.
    pub bound: Option<f64>,
}

/// Figures of all launches, estimated from those that were recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WholeRun {
    /// Launches among which was chosen.
    pub launches: u64,
    /// Those of them that were recorded.
    pub recorded_launches: u64,
    /// Kinds of launches (kernel, shape, call path) that were distinguished.
    pub kinds: u64,
    /// Share of the bounds that hold, over all choices of launches.
    pub confidence: f64,
    /// Sums over all launches, by `space.metric` as in `over_launches`.
    pub totals: BTreeMap<String, Estimated>,
    /// Ratios of such sums.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ratios: BTreeMap<String, Estimated>,
}

impl WholeRun {
    /// Returns a total; nothing where the run has none of it.
    pub fn total(&self, name: &str) -> Option<Estimated> {
        self.totals.get(name).copied()
    }

    /// Adds figures of another run. Ratios are not taken over: what they are of is not known.
    pub fn add(&mut self, other: &WholeRun) {
        self.launches = self.launches.saturating_add(other.launches);
        self.recorded_launches = self.recorded_launches.saturating_add(other.recorded_launches);
        self.kinds = self.kinds.saturating_add(other.kinds);
        self.ratios.clear();
        for (name, more) in &other.totals {
            let sum = self.totals.entry(name.clone()).or_insert(Estimated { estimate: 0.0, bound: Some(0.0) });
            sum.add(more);
        }
    }
}

impl Estimated {
    /// Adds a sum of another run: whole numbers, and bounds at their worst, so that neither order nor parts of a merge
    /// matter.
    pub fn add(&mut self, more: &Estimated) {
        self.estimate = self.estimate.round() + more.estimate.round();
        self.bound = self.bound.zip(more.bound).map(|(one, other)| one.ceil() + other.ceil());
    }
}
