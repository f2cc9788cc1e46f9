//! The spread of a figure over launches, and estimates for launches that were not recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frames::Frame;
use super::merged::Exact;

/// Spread of a count over launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Minimum.
    pub min: u64,
    /// Maximum.
    pub max: u64,
    /// Standard deviation of the population.
    pub stddev: f64,
}

/// Spread of a ratio over the launches that have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RatioSpread {
    /// Mean of the launches' ratios.
    pub mean: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    /// Standard deviation of the population.
    pub stddev: f64,
}

/// Spread over the launches of a kernel from one call path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathSpread {
    /// Host call path.
    pub path: Vec<Frame>,
    /// Numbers of the launches that are listed separately.
    pub launches: Vec<u64>,
    /// Number of all launches, including those in groups.
    #[serde(default)]
    pub count: u64,
    /// Spread of counts, by `space.metric` and similar names.
    pub counts: BTreeMap<String, Spread>,
    /// Spread of ratios.
    pub ratios: BTreeMap<String, RatioSpread>,
    /// Exact sums for further merging.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exact: BTreeMap<String, Exact>,
}

impl PathSpread {
    /// Returns the number of launches. Profiles without groups list all of them.
    pub fn count(&self) -> u64 {
        self.count.max(self.launches.len() as u64)
    }
}

/// An estimated figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimated {
    /// The estimate.
    pub estimate: f64,
    /// Maximum difference from the true figure of the whole run at the stated confidence; `None` if the variation
    /// between launches is unknown.
    pub bound: Option<f64>,
}

/// Figures of all launches, estimated from the recorded launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WholeRun {
    /// Number of launches from which the sample was chosen.
    pub launches: u64,
    /// Number of recorded launches.
    pub recorded_launches: u64,
    /// Number of distinguished kinds of launches (kernel, shape, call path).
    pub kinds: u64,
    /// Probability that a bound is correct, over all possible samples.
    pub confidence: f64,
    /// Sums over all launches, by `space.metric` as in `over_launches`.
    pub totals: BTreeMap<String, Estimated>,
    /// Ratios of these sums.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ratios: BTreeMap<String, Estimated>,
}

impl WholeRun {
    /// Returns a total; `None` if the run does not have it.
    pub fn total(&self, name: &str) -> Option<Estimated> {
        self.totals.get(name).copied()
    }

    /// Adds the figures of another run. Ratios are not merged, because their components are unknown.
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
    /// Adds a sum of another run. The estimates are added as integers, and the bounds are added as worst cases, so the
    /// result does not depend on the order of merging.
    pub fn add(&mut self, more: &Estimated) {
        self.estimate = self.estimate.round() + more.estimate.round();
        self.bound = self.bound.zip(more.bound).map(|(one, other)| one.ceil() + other.ceil());
    }
}
