//! How the requests of a site use memory, over all runs.

use crate::profile::model::Pattern;

/// One run's, with the new numbers of allocations.
pub(super) fn renumbered(pattern: &Pattern, allocation: impl Fn(u64) -> Option<u64>) -> Pattern {
    let mut pattern = pattern.clone();
    if let Some(atomics) = &mut pattern.atomics {
        atomics.hottest.retain_mut(|hot| match allocation(hot.allocation) {
            Some(id) => {
                hot.allocation = id;
                true
            }
            None => false,
        });
    }
    pattern
}
