//! Tells what follows from the sums of a whole.

use super::sums::{estimates, open, spreads};
use crate::profile::model::{Profile, Spaces};

fn spaces(of: &mut Spaces) {
    of.values_mut().for_each(open::metrics);
}

/// Tells all that follows from the sums of a whole.
pub(super) fn whole(of: &mut Profile) {
    for kernel in &mut of.kernels {
        spreads::settle(kernel);
        kernel.estimates.iter_mut().for_each(estimates::settle);
        spaces(&mut kernel.metrics);
        kernel.launch_groups.iter_mut().for_each(|group| spaces(&mut group.metrics));
    }
    of.lines.iter_mut().for_each(|line| spaces(&mut line.metrics));
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
