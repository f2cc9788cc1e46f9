//! Means and other values that follow from exact sums. They are computed once, after everything is added, because
//! rounding them after each of thousands of profiles took a third of the time.

use warpline_profile::model::{Distances, Metrics};
use warpline_profile::nine_digits;

/// Marks a value that is computed later. No document contains it.
pub(in crate::merge) const LATER: f64 = f64::NAN;

/// Returns whether a number is still to be computed.
pub(in crate::merge) fn is_open(number: f64) -> bool {
    number.is_nan()
}

/// Computes the means of a set of requests.
pub(in crate::merge) fn metrics(of: &mut Metrics) {
    if let Some(reuse) = &mut of.reuse {
        [&mut reuse.element, &mut reuse.sector, &mut reuse.line].into_iter().for_each(distances);
    }
}

fn distances(of: &mut Distances) {
    if of.mean.is_some_and(is_open) {
        let count = of.buckets.iter().fold(0u64, |sum, bucket| sum.saturating_add(bucket.count)).max(1);
        let sum = of.sum.unwrap_or_default();
        of.mean = Some(nine_digits(sum.0 as f64 / count as f64));
    }
}
