//! How the requests of a site use memory, over all runs.

use std::collections::BTreeMap;

use super::nine_digits;
use crate::profile::model::{Atomics, HotPlace, Pattern};

/// Places of atomic operations that profiles tell.
const HOTTEST: usize = 4;

/// Adds another run's; `allocation` gives the new number of an allocation.
pub(super) fn add(sum: &mut Pattern, more: &Pattern, allocation: impl Fn(u64) -> Option<u64>) {
    // What most of the requests of a shape have in common is told of the run that has more of them.
    if more.strided > sum.strided {
        sum.stride_bytes = more.stride_bytes;
    }
    if more.misaligned > sum.misaligned {
        sum.offset_bytes = more.offset_bytes;
    }
    if more.rows > sum.rows {
        (sum.row_lanes, sum.row_pitch_bytes) = (more.row_lanes, more.row_pitch_bytes);
    }
    sum.span_bytes = match (sum.span_bytes, more.span_bytes) {
        (Some(one), Some(other)) => {
            let (ours, theirs) = (sum.irregular as f64, more.irregular as f64);
            Some(nine_digits((one * ours + other * theirs) / (ours + theirs).max(1.0)))
        }
        (one, other) => one.or(other),
    };
    for (sum, more) in [
        (&mut sum.requests, more.requests),
        (&mut sum.uniform, more.uniform),
        (&mut sum.contiguous, more.contiguous),
        (&mut sum.misaligned, more.misaligned),
        (&mut sum.strided, more.strided),
        (&mut sum.rows, more.rows),
        (&mut sum.irregular, more.irregular),
    ] {
        *sum = sum.saturating_add(more);
    }
    if let Some(more) = &more.atomics {
        add_atomics(sum.atomics.get_or_insert_default(), more, allocation);
    }
    let passes = |pattern: &Pattern| pattern.bank_conflict.as_ref().map(|conflict| conflict.passes);
    if passes(more) > passes(sum) {
        sum.bank_conflict = more.bank_conflict.clone();
    }
}

fn add_atomics(sum: &mut Atomics, more: &Atomics, allocation: impl Fn(u64) -> Option<u64>) {
    sum.requests = sum.requests.saturating_add(more.requests);
    sum.lanes = sum.lanes.saturating_add(more.lanes);
    sum.addresses = sum.addresses.saturating_add(more.addresses);
    sum.deepest = sum.deepest.saturating_add(more.deepest);
    let renamed =
        more.hottest.iter().filter_map(|hot| Some(HotPlace { allocation: allocation(hot.allocation)?, ..*hot }));
    let mut places: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    for hot in sum.hottest.iter().copied().chain(renamed) {
        let (lanes, requests) = places.entry((hot.allocation, hot.offset)).or_default();
        *lanes = lanes.saturating_add(hot.lanes);
        *requests = requests.saturating_add(hot.requests);
    }
    let place = |((allocation, offset), (lanes, requests))| HotPlace { allocation, offset, lanes, requests };
    let mut hottest: Vec<HotPlace> = places.into_iter().map(place).collect();
    hottest.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.allocation, hot.offset));
    hottest.truncate(HOTTEST);
    sum.hottest = hottest;
}

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
