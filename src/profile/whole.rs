//! Figures of a whole run of which a budget recorded some launches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::estimate::nine_digits;
use crate::analysis::{self, Bounded, CONFIDENCE};

/// An estimated figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimated {
    /// Estimate.
    pub estimate: f64,
    /// The figure of the whole run is within so much of it, with the confidence told; `None` where nothing says how much
    /// launches differ.
    pub bound: Option<f64>,
}

/// Figures of all launches, estimated from those that were recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WholeRun {
    /// Launches among which was chosen.
    pub launches: u64,
    /// Of these, those that were recorded.
    pub recorded_launches: u64,
    /// Kinds of launches (kernel, shape, call path) that were told apart.
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
    /// A total; nothing where the run has none of it.
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
            // Whole numbers, and bounds at their worst, so that neither order nor parts of a merge matter.
            sum.estimate = sum.estimate.round() + more.estimate.round();
            sum.bound = sum.bound.zip(more.bound).map(|(one, other)| one.ceil() + other.ceil());
        }
    }
}

fn row(figures: &BTreeMap<String, Bounded>) -> BTreeMap<String, Estimated> {
    let row = |bounded: &Bounded| Estimated {
        estimate: nine_digits(bounded.estimate),
        bound: bounded.bound.map(nine_digits),
    };
    figures.iter().map(|(name, bounded)| (name.clone(), row(bounded))).collect()
}

/// As the profile tells it.
pub(super) fn whole_run(whole: &analysis::WholeRun) -> WholeRun {
    WholeRun {
        launches: whole.launches,
        recorded_launches: whole.recorded,
        kinds: whole.strata,
        confidence: CONFIDENCE,
        totals: row(&whole.totals),
        ratios: row(&whole.ratios),
    }
}

/// What a reader should know of the sample.
pub(super) fn note(whole: &analysis::WholeRun) -> String {
    format!(
        "--budget: {} of {} launches were recorded, and counts are those of these; `whole_run` estimates what all launches did, \
         with bounds that hold in {} of 100 draws. The caches saw the recorded launches only: what others leave in L2 is not \
         in L2 hit rates and DRAM traffic, and no bound covers it",
        whole.recorded,
        whole.launches,
        (CONFIDENCE * 100.0).round()
    )
}
