//! How threads come to elements at irregular addresses, by the terms of the address: along rows, lists and regions of their own.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;
use super::address::{Term, terms_of, thread_factor};
use super::index;

/// Lanes of a warp. Physical.
const WARP: u64 = 32;
const SECTOR: i64 = SECTOR_BYTES as i64;

/// A loop goes from element to element.
fn iterates_elements(access: &Access<'_>, terms: &[Term]) -> bool {
    let element = i64::from(access.operand.map_or(0, |operand| operand.structure_bytes).max(access.bytes));
    let most = MOST_UNROLLED.saturating_mul(element);
    let by_elements =
        |term: &Term| !(term.loaded || term.of_thread || term.times_unknown) && (1..=most).contains(&term.scale);
    terms.iter().any(|term| term.counts && by_elements(term))
}

/// Loaded data gives a row, and a loop goes along it from element to element.
pub fn iterates_loaded_rows(access: &Access<'_>, terms: &[Term]) -> bool {
    let rows = |term: &Term| term.loaded && !term.counts && (term.times_unknown || term.scale >= SECTOR);
    terms.iter().any(rows) && iterates_elements(access, terms)
}

/// A loop goes from a loaded start from element to element, as over a row of a sparse matrix.
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

/// Loaded data is the start of a list.
pub fn is_start(term: &Term) -> bool {
    term.loaded && !(term.counts || term.of_thread || term.times_unknown)
}

/// Warps that start such a list: those that load its start, or else all of the kernel, of which many may have nothing to do.
fn lists_started(facts: &Facts<'_>, access: &Access<'_>, terms: &[Term]) -> u64 {
    let lines: Vec<u32> = terms.iter().filter(|term| term.loaded).filter_map(|term| term.loaded_at).collect();
    let starts = facts.loads_of(access.kernel.id).filter(|one| one.file == access.file && lines.contains(&one.line));
    // The line may have the list's own loads as well.
    let all = warps(access.kernel);
    starts.map(|one| one.most_requests).min().map_or(all, |started| started.min(all))
}

/// Two coordinates that were computed in floating point lead to the element, as where an image is sampled.
pub fn is_sampled(access: &Access<'_>, terms: &[Term]) -> bool {
    access.is_load() && terms.iter().filter(|term| term.of_floats).count() >= 2
}

/// The kernel's threads append to the same memory, each to a region of its own.
pub fn is_appended_to(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    // What goes to neighbouring elements is not a region of each thread, whatever loop comes there.
    let is_region = |one: &Access<'_>| {
        one.allocation == access.allocation
            && index::is_appended(one)
            && one.sums.excess_share() >= LEAST_SCATTERED_EXCESS
            && stores_several(one)
    };
    access.allocation.is_some() && facts.accesses_of(access.kernel.id, "global").any(is_region)
}

/// A thread stores there again and again; a search for a slot stores once.
pub fn stores_several(access: &Access<'_>) -> bool {
    access.sums.lanes >= 2 * WARP * warps(access.kernel)
}

/// The thread's number gives a row, and loaded data a place in it.
pub fn has_own_rows(terms: &[Term]) -> bool {
    let rows = |term: &Term| term.of_thread && !term.loaded && (term.times_unknown || term.scale > SECTOR);
    let places = |term: &Term| (term.loaded || term.of_floats) && !term.of_thread;
    terms.iter().any(rows) && terms.iter().any(places)
}

/// Each thread accesses a region of its own, whatever chooses between the places in it: on all paths to the address the thread's
/// number is multiplied by one length, and the lanes lie as far apart.
pub fn has_own_region(access: &Access<'_>) -> bool {
    let Some(region) = thread_factor(access).filter(|&bytes| bytes > SECTOR_BYTES) else { return false };
    let lanes = access.mean_lanes();
    // Active lanes may have others between them.
    let spans = (lanes - 2.0) * region as f64..=WARP as f64 * region as f64;
    access.is_load() && lanes > 2.0 && access.pattern.span_bytes.is_some_and(|bytes| spans.contains(&bytes))
}

/// Returns the line that loads the indices, where all of them come from one: what leads to the elements of one array leads to those of
/// others, too.
pub fn line_of_indices(terms: &[Term]) -> Option<u32> {
    let mut lines = terms.iter().filter(|term| term.loaded).map(|term| term.loaded_at);
    let first = lines.next()??;
    lines.all(|line| line == Some(first)).then_some(first)
}

/// Lanes lie so close to each other that no order of the data brings them closer: computed indices of an image that is scaled, or loaded
/// ones of a list in order, in much longer data.
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

/// Lanes access the same element of one array or another, as where the compiler has made one store of two.
pub fn spans_allocations(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let exceeds = |memory: &Allocation| access.pattern.span_bytes.is_some_and(|span| span > memory.bytes as f64);
    !access.has_loaded_index() && facts.memory(access).is_some_and(exceeds)
}
