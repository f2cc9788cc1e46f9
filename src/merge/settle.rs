//! Means and the like, which follow from exact sums: told once, when everything is added up. Rounding them after each of thousands of
//! profiles took a third of the time of merging.

use super::{kernels, spreads};
use crate::profile::model::{Distances, Metrics, Profile, Spaces};
use crate::profile::nine_digits;

/// Stands for a number that is told later; no document has it.
pub(super) const LATER: f64 = f64::NAN;

/// Whether a number is still to be told.
pub(super) fn is_open(number: f64) -> bool {
    number.is_nan()
}

/// Tells the means of a set of requests.
pub(super) fn metrics(of: &mut Metrics) {
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

fn spaces(of: &mut Spaces) {
    of.values_mut().for_each(metrics);
}

/// Tells all that follows from the sums of a whole.
pub(super) fn whole(of: &mut Profile) {
    for kernel in &mut of.kernels {
        spreads::settle(kernel);
        kernel.estimates.iter_mut().for_each(kernels::settle_estimate);
        spaces(&mut kernel.metrics);
        kernel.launch_groups.iter_mut().for_each(|group| spaces(&mut group.metrics));
    }
    of.lines.iter_mut().for_each(|line| spaces(&mut line.metrics));
    for site in &mut of.sites {
        metrics(&mut site.metrics);
        site.by_allocation.iter_mut().for_each(|row| metrics(&mut row.metrics));
        site.contexts.iter_mut().for_each(|row| metrics(&mut row.metrics));
    }
    for row in &mut of.allocations {
        metrics(&mut row.metrics);
        row.by_kernel.iter_mut().for_each(|row| metrics(&mut row.metrics));
    }
}
