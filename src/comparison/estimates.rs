//! Compares estimates of whole runs, if a budget recorded only some launches of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::document::{Both, Value};
use super::figures::Figures;
use warpline_profile::Profile;
use warpline_profile::model::{Estimated, WholeRun};

/// The recorded part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Number of launches.
    pub launches: u64,
    /// Number of recorded launches.
    pub recorded_launches: u64,
    /// Probability that a bound is correct.
    pub confidence: f64,
}

/// A figure of the whole program on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimatedChange {
    /// Estimate for the profile before. A side without a budget has a bound of 0.
    pub before: Estimated,
    /// Estimate for the profile after.
    pub after: Estimated,
    /// Whether they differ by more than both bounds together; `None` if a bound is unknown.
    pub apart: Option<bool>,
}

/// Estimates of whole runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimates {
    /// Recorded part before; `None` if all launches were recorded.
    pub before: Option<Recorded>,
    /// Recorded part after; `None` if all launches were recorded.
    pub after: Option<Recorded>,
    /// Sums over all launches, by name.
    pub figures: BTreeMap<String, EstimatedChange>,
}

impl Estimates {
    /// Exchanges the sides.
    pub(super) fn mirrored(self) -> Estimates {
        let change = |one: EstimatedChange| EstimatedChange { before: one.after, after: one.before, apart: one.apart };
        let figures = self.figures.into_iter().map(|(name, figure)| (name, change(figure))).collect();
        Estimates { before: self.after, after: self.before, figures }
    }
}

/// Returns the estimates of two profiles, given the figures of their kernels; empty if neither had a budget.
pub(super) fn find([before, after]: [&Profile; 2], kernels: [&[Figures]; 2]) -> Option<Estimates> {
    let wholes = Both { before: before.run.whole_run.as_ref(), after: after.run.whole_run.as_ref() };
    wholes.any()?;
    let (one, other) = (side(wholes.before, kernels[0]), side(wholes.after, kernels[1]));
    let mut figures = BTreeMap::new();
    for name in wholes.before.into_iter().chain(wholes.after).flat_map(|whole| whole.totals.keys()) {
        let (Some(before), Some(after)) = (one(name), other(name)) else { continue };
        let bounds = before.bound.zip(after.bound).map(|(one, other)| one + other);
        let apart = bounds.map(|bounds| (before.estimate - after.estimate).abs() > bounds);
        figures.insert(name.clone(), EstimatedChange { before, after, apart });
    }
    let recorded = |whole: Option<&WholeRun>| {
        let of = |whole: &WholeRun| Recorded {
            launches: whole.launches,
            recorded_launches: whole.recorded_launches,
            confidence: whole.confidence,
        };
        whole.map(of)
    };
    Some(Estimates { before: recorded(wholes.before), after: recorded(wholes.after), figures })
}

/// Returns a figure of a side: the estimate (0 if an estimated run does not have it), or the exact count over all
/// launches.
fn side<'a>(whole: Option<&'a WholeRun>, kernels: &'a [Figures]) -> impl Fn(&str) -> Option<Estimated> + 'a {
    let exact = |count: u64| Estimated { estimate: count as f64, bound: Some(0.0) };
    move |name| match whole {
        Some(whole) => Some(whole.total(name).unwrap_or(exact(0))),
        None => {
            let counts = kernels.iter().filter_map(|figures| match figures.get(name)? {
                Value::Count(count) => Some(count),
                Value::Ratio(_) => None,
            });
            counts.reduce(u64::saturating_add).map(exact)
        }
    }
}
