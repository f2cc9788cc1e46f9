//! Sources of irregular addresses, derived from the terms of the address: rows, lists, and separate regions of threads.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;
use super::address::{Term, terms_of, thread_factor};
use super::index;

/// Lanes of a warp. Physical.
const WARP: u64 = 32;
const SECTOR: i64 = SECTOR_BYTES as i64;

/// Returns whether a loop iterates over consecutive elements.
fn iterates_elements(access: &Access<'_>, terms: &[Term]) -> bool {
    let element = i64::from(access.operand.map_or(0, |operand| operand.structure_bytes).max(access.bytes));
    let most = MOST_UNROLLED.saturating_mul(element);
    let by_elements =
        |term: &Term| !(term.loaded || term.of_thread || term.times_unknown) && (1..=most).contains(&term.scale);
    terms.iter().any(|term| term.counts && by_elements(term))
}

/// Returns whether loaded data determines a row, and a loop iterates over the elements of this row.
pub fn iterates_loaded_rows(access: &Access<'_>, terms: &[Term]) -> bool {
    let rows = |term: &Term| term.loaded && !term.counts && (term.times_unknown || term.scale >= SECTOR);
    terms.iter().any(rows) && iterates_elements(access, terms)
}

/// Returns whether a loop iterates over consecutive elements from a loaded start, as over a row of a sparse matrix.
pub fn iterates_lists(facts: &Facts<'_>, access: &Access<'_>, terms: &[Term]) -> bool {
    let span = access.pattern.span_bytes.unwrap_or(0.0);
    let from_start = terms.iter().any(is_start) && iterates_elements(access, terms);
    let is_looped = terms.is_empty() || terms.iter().any(|term| term.counts);
    from_start && access.most_requests > lists_started(facts, access, terms)
        || access.has_loaded_index()
            && is_looped
            && access.most_requests > warps(access.kernel)
            && span < access.mean_lanes() * NEAR_LISTS_BYTES
}

/// Returns whether loaded data is the start of a list.
pub fn is_start(term: &Term) -> bool {
    term.loaded && !(term.counts || term.of_thread || term.times_unknown)
}

/// Returns the number of warps that start such a list: the warps that load its start, or otherwise all warps of the
/// kernel, many of which may have no work.
fn lists_started(facts: &Facts<'_>, access: &Access<'_>, terms: &[Term]) -> u64 {
    let lines: Vec<u32> = terms.iter().filter(|term| term.loaded).filter_map(|term| term.loaded_at).collect();
    let starts = facts.loads_of(access.kernel.id).filter(|one| one.file == access.file && lines.contains(&one.line));
    // The line may contain loads of the list itself as well.
    let all = warps(access.kernel);
    starts.map(|one| one.most_requests).min().map_or(all, |started| started.min(all))
}

/// Returns whether two coordinates that were computed in floating point determine the element, as in image sampling.
pub fn is_sampled(access: &Access<'_>, terms: &[Term]) -> bool {
    access.is_load() && terms.iter().filter(|term| term.of_floats).count() >= 2
}

/// Returns whether the kernel's threads append to the same memory, each thread to a separate region.
pub fn is_appended_to(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    // Accesses to neighbouring elements are not in regions of threads, even in a loop.
    let is_region = |one: &Access<'_>| {
        one.allocation == access.allocation
            && index::is_appended(one)
            && one.sums.excess_share() >= LEAST_SCATTERED_EXCESS
            && stores_several(one)
    };
    access.allocation.is_some() && facts.accesses_of(access.kernel.id, "global").any(is_region)
}

/// Returns whether a thread stores repeatedly. A search for a free slot stores once.
pub fn stores_several(access: &Access<'_>) -> bool {
    access.sums.lanes >= 2 * WARP * warps(access.kernel)
}

/// Returns whether the thread index determines a row, and loaded data a position in the row.
pub fn has_own_rows(terms: &[Term]) -> bool {
    let rows = |term: &Term| term.of_thread && !term.loaded && (term.times_unknown || term.scale > SECTOR);
    let places = |term: &Term| (term.loaded || term.of_floats) && !term.of_thread;
    terms.iter().any(rows) && terms.iter().any(places)
}

/// Returns whether each thread accesses a separate region, however the position in the region is selected. On all paths
/// to the address, the thread index is multiplied by the same length, and the distance between lanes matches this
/// length.
pub fn has_own_region(access: &Access<'_>) -> bool {
    let Some(region) = thread_factor(access).filter(|&bytes| bytes > SECTOR_BYTES) else { return false };
    let lanes = access.mean_lanes();
    // Inactive lanes may lie between the active lanes.
    let spans = (lanes - 2.0) * region as f64..=WARP as f64 * region as f64;
    access.is_load() && lanes > 2.0 && access.pattern.span_bytes.is_some_and(|bytes| spans.contains(&bytes))
}

/// Returns the line that loads the indices, if one line loads all of them. Indices that select elements of one array
/// often select elements of other arrays as well.
pub fn line_of_indices(terms: &[Term]) -> Option<u32> {
    let mut lines = terms.iter().filter(|term| term.loaded).map(|term| term.loaded_at);
    let first = lines.next()??;
    lines.all(|line| line == Some(first)).then_some(first)
}

/// Returns whether the lanes are so close together that reordering the data has no benefit. Examples are computed
/// indices of an image that is scaled, and loaded indices of a sorted list into much longer data.
pub fn is_dense(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let is_loaded = access.has_loaded_index();
    let most = if is_loaded { ORDERED_SPAN } else { DENSE_SPAN };
    let Some(span) =
        access.pattern.span_bytes.filter(|&span| span <= most * access.mean_lanes() * f64::from(access.bytes))
    else {
        return false;
    };
    let whole = facts.memory(access).map_or(0, |one| one.touched_bytes);
    !is_loaded || whole as f64 >= MUCH_LONGER * span && !iterates_elements(access, &terms_of(access))
}

/// Returns whether lanes access the same element of one of several arrays, as if the compiler merged two stores into
/// one.
pub fn spans_allocations(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let exceeds = |memory: &Allocation| access.pattern.span_bytes.is_some_and(|span| span > memory.bytes as f64);
    !access.has_loaded_index() && facts.memory(access).is_some_and(exceeds)
}
