//! Computes the figures that follow from the sums of a merged profile.

use super::sums::{estimates, open, spreads};
use warpline_profile::memory_divergence;
use warpline_profile::model::{Profile, Spaces};

fn spaces(of: &mut Spaces) {
    of.values_mut().for_each(open::metrics);
}

/// Computes all figures that follow from sums.
pub(super) fn whole(of: &mut Profile) {
    for kernel in &mut of.kernels {
        spreads::settle(kernel);
        kernel.estimates.iter_mut().for_each(estimates::settle);
        spaces(&mut kernel.metrics);
        kernel.launch_groups.iter_mut().for_each(|group| spaces(&mut group.metrics));
    }
    of.memory_divergence = memory_divergence(of);
    let estimated = of.run.whole_run.is_some();
    for line in &mut of.lines {
        spaces(&mut line.metrics);
        // If one of the runs had no budget, the estimates of the others do not include its counts.
        if !estimated {
            line.whole_run.clear();
        }
    }
    for site in &mut of.sites {
        open::metrics(&mut site.metrics);
        site.by_allocation.iter_mut().for_each(|row| open::metrics(&mut row.metrics));
        site.contexts.iter_mut().for_each(|row| open::metrics(&mut row.metrics));
    }
    for row in &mut of.allocations {
        open::metrics(&mut row.metrics);
        row.by_kernel.iter_mut().for_each(|row| open::metrics(&mut row.metrics));
    }
}
