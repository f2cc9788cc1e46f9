//! Merges access patterns of a site over all runs.

use std::collections::BTreeMap;

use super::metrics::whole;
use warpline_profile::model::{Atomics, HotPlace, Pattern, Wide};
use warpline_profile::nine_digits;

/// Maximum number of locations of atomic operations in a document.
const HOTTEST: usize = 4;
/// Maximum number of locations that are kept to find these. If there are more, none is listed.
const PLACES: usize = 1024;

/// Returns the pattern of one run with the new numbers of allocations.
pub(in crate::merge) fn renumbered(pattern: &Pattern, allocation: impl Fn(u64) -> Option<u64>) -> Pattern {
    let mut pattern = pattern.clone();
    if let Some(atomics) = &mut pattern.atomics {
        let renumber = |hot: &mut HotPlace| match allocation(hot.allocation) {
            Some(id) => {
                hot.allocation = id;
                true
            }
            None => false,
        };
        atomics.hottest.retain_mut(renumber);
        if let Some(places) = &mut atomics.places {
            places.retain_mut(renumber);
        }
    }
    pattern
}

/// Adds the pattern of another run, whose allocations have the same numbers. Properties are kept if all runs agree on
/// them. Sums are exact, so the order of merging does not matter.
pub(in crate::merge) fn add(to: &mut Pattern, more: &Pattern) {
    to.stride_bytes = agreed((to.strided, to.stride_bytes), (more.strided, more.stride_bytes));
    let (ours, theirs) = (to.misaligned, more.misaligned);
    to.offset_bytes = agreed((ours, to.offset_bytes), (theirs, more.offset_bytes));
    to.sector_offset_bytes = agreed((ours, to.sector_offset_bytes), (theirs, more.sector_offset_bytes));
    let rows = |pattern: &Pattern| (pattern.rows, pattern.row_lanes.zip(pattern.row_pitch_bytes));
    let row = agreed(rows(to), rows(more));
    (to.row_lanes, to.row_pitch_bytes) = row.unzip();
    let span = |pattern: &Pattern| {
        let known = pattern.span_bytes.map(|mean| Wide(whole(mean * pattern.irregular as f64)));
        pattern.span_sum.or(known).unwrap_or_default()
    };
    if to.span_bytes.is_some() || more.span_bytes.is_some() {
        let sum = span(to).plus(span(more));
        let count = to.irregular.saturating_add(more.irregular).max(1);
        (to.span_sum, to.span_bytes) = (Some(sum), Some(nine_digits(sum.0 as f64 / count as f64)));
    }
    for (sum, more) in [
        (&mut to.requests, more.requests),
        (&mut to.uniform, more.uniform),
        (&mut to.contiguous, more.contiguous),
        (&mut to.misaligned, more.misaligned),
        (&mut to.strided, more.strided),
        (&mut to.rows, more.rows),
        (&mut to.irregular, more.irregular),
    ] {
        *sum = sum.saturating_add(more);
    }
    match (&mut to.atomics, &more.atomics) {
        (Some(sum), Some(more)) => add_atomics(sum, more),
        (sum @ None, Some(more)) => *sum = Some(more.clone()),
        (_, None) => {}
    }
    let worst = |pattern: &Pattern| {
        let conflict = pattern.bank_conflict.as_ref()?;
        let excess = conflict.passes.saturating_sub(conflict.ideal);
        Some((excess, std::cmp::Reverse(conflict.lanes.clone()), conflict.passes, conflict.bytes))
    };
    if worst(more) > worst(to) {
        to.bank_conflict.clone_from(&more.bank_conflict);
    }
}

/// Returns the value that all runs with such requests agree on.
fn agreed<T: PartialEq>(one: (u64, Option<T>), other: (u64, Option<T>)) -> Option<T> {
    match (one.0, other.0) {
        (_, 0) => one.1,
        (0, _) => other.1,
        _ => one.1.filter(|value| other.1.as_ref() == Some(value)),
    }
}

fn add_atomics(to: &mut Atomics, more: &Atomics) {
    to.requests = to.requests.saturating_add(more.requests);
    to.lanes = to.lanes.saturating_add(more.lanes);
    to.addresses = to.addresses.saturating_add(more.addresses);
    to.deepest = to.deepest.saturating_add(more.deepest);
    let known = |atomics: &Atomics| match &atomics.places {
        Some(places) => (places.clone(), places.is_empty() && atomics.hottest.is_empty()),
        None => (atomics.hottest.clone(), false),
    };
    let ((mut all, lost), (other, lost_too)) = (known(to), known(more));
    all.extend(other);
    let mut places: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    for hot in all {
        let (lanes, requests) = places.entry((hot.allocation, hot.offset)).or_default();
        *lanes = lanes.saturating_add(hot.lanes);
        *requests = requests.saturating_add(hot.requests);
    }
    let place = |((allocation, offset), (lanes, requests))| HotPlace { allocation, offset, lanes, requests };
    let mut places: Vec<HotPlace> = places.into_iter().map(place).collect();
    if lost || lost_too || places.len() > PLACES {
        places.clear();
    }
    to.hottest.clone_from(&places);
    to.hottest.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.allocation, hot.offset));
    to.hottest.truncate(HOTTEST);
    to.places = Some(places);
}

/// Sorts locations after allocations have their final numbers.
pub(in crate::merge) fn put_in_order(pattern: &mut Pattern) {
    if let Some(atomics) = &mut pattern.atomics {
        atomics.hottest.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.allocation, hot.offset));
        if let Some(places) = &mut atomics.places {
            places.sort_by_key(|hot| (hot.allocation, hot.offset));
            atomics.hottest.clone_from(places);
            atomics.hottest.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.allocation, hot.offset));
            atomics.hottest.truncate(HOTTEST);
        }
    }
}
