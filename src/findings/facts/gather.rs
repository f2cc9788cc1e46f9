//! How threads come to elements at irregular addresses, by the terms of the address: along rows, lists and regions of their own.

use super::super::thresholds::coalescing::{LEAST_SCATTERED_EXCESS, MOST_UNROLLED, NEAR_LISTS_BYTES};
use super::access::Access;
use super::terms::{Term, terms_of};
use super::{Facts, beside, index, warps};
use warpline_simulator::geometry::SECTOR_BYTES;

/// Lanes of a warp.
const WARP: u64 = 32;

/// A loop goes from element to element.
pub(in super::super) fn iterates_elements(access: &Access<'_>, terms: &[Term]) -> bool {
    let element = i64::from(access.operand.map_or(0, |operand| operand.structure_bytes).max(access.bytes));
    let by_elements = |term: &Term| {
        !(term.loaded || term.of_thread || term.times_unknown)
            && (1..=MOST_UNROLLED.saturating_mul(element)).contains(&term.scale)
    };
    terms.iter().any(|term| term.counts && by_elements(term))
}

/// Loaded data gives a row, and a loop goes along it from element to element.
pub(in super::super) fn iterates_loaded_rows(access: &Access<'_>, terms: &[Term]) -> bool {
    let rows = |term: &Term| term.loaded && !term.counts && (term.times_unknown || term.scale >= SECTOR_BYTES as i64);
    terms.iter().any(rows) && iterates_elements(access, terms)
}

/// A loop goes from a loaded start from element to element, as over a row of a sparse matrix.
pub(in super::super) fn iterates_lists(facts: &Facts<'_>, access: &Access<'_>, terms: &[Term]) -> bool {
    let lanes = access.sums.lanes as f64 / access.sums.requests.max(1) as f64;
    let span = access.pattern.span_bytes.unwrap_or(0.0);
    let is_indirect = access.operand.is_some_and(|operand| operand.loaded_index);
    let from_start = terms.iter().any(is_start) && iterates_elements(access, terms);
    from_start && access.most_requests > lists_started(facts, access, terms)
        || is_indirect
            && (terms.is_empty() || terms.iter().any(|term| term.counts))
            && access.most_requests > warps(access.kernel)
            && span < lanes * NEAR_LISTS_BYTES
}

/// Loaded data is the start of a list.
pub(in super::super) fn is_start(term: &Term) -> bool {
    term.loaded && !(term.counts || term.of_thread || term.times_unknown)
}

/// Warps that start such a list: those that load its start, or else all of the kernel, of which many may have nothing to do.
fn lists_started(facts: &Facts<'_>, access: &Access<'_>, terms: &[Term]) -> u64 {
    let lines: Vec<u32> = terms.iter().filter(|term| term.loaded).filter_map(|term| term.loaded_at).collect();
    let starts = facts
        .accesses_of(access.kernel.id, "global")
        .filter(|one| one.op == "load" && one.file == access.file && lines.contains(&one.line));
    let all = warps(access.kernel);
    // The line may have the list's own loads as well.
    starts.map(|one| one.most_requests).min().map_or(all, |started| started.min(all))
}

/// A loop moves the address by less than whole sectors, as over the neighbours of an element: no layout aligns all its iterations.
pub(in super::super) fn iterates_within_sectors(access: &Access<'_>) -> bool {
    let off =
        |term: &Term| term.counts && !(term.loaded || term.times_unknown) && term.scale % SECTOR_BYTES as i64 != 0;
    terms_of(access).iter().any(off)
}

/// Two coordinates that were computed in floating point lead to the element, as where an image is sampled.
pub(in super::super) fn is_sampled(access: &Access<'_>, terms: &[Term]) -> bool {
    access.op == "load" && terms.iter().filter(|term| term.of_floats).count() >= 2
}

/// The kernel's threads append to the same memory, each to a region of its own.
pub(in super::super) fn is_appended_to(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let there = |one: &&Access<'_>| access.allocation.is_some() && one.allocation == access.allocation;
    // What goes to neighbouring elements is no region of each thread, whatever loop comes there.
    let is_scattered = |one: &Access<'_>| one.sums.excess_share() >= LEAST_SCATTERED_EXCESS;
    let mut stores = facts.accesses_of(access.kernel.id, "global").filter(there);
    stores.any(|one| index::is_appended(one) && is_scattered(one) && stores_several(one))
}

/// A thread stores there again and again; a search for a slot stores once.
pub(in super::super) fn stores_several(access: &Access<'_>) -> bool {
    access.sums.lanes >= 2 * WARP * warps(access.kernel)
}

/// The thread's number gives a row, and loaded data a place in it.
pub(in super::super) fn has_own_rows(terms: &[Term]) -> bool {
    let rows = |term: &Term| term.of_thread && !term.loaded && (term.times_unknown || term.scale > SECTOR_BYTES as i64);
    let places = |term: &Term| (term.loaded || term.of_floats) && !term.of_thread;
    terms.iter().any(rows) && terms.iter().any(places)
}

/// Each thread accesses a region of its own, whatever chooses between the places in it: on all paths to the address the thread's
/// number is multiplied by one length, and the lanes lie as far apart.
pub(in super::super) fn has_own_region(access: &Access<'_>) -> bool {
    let Some(region) = beside::part_of_thread(access).filter(|&bytes| bytes > SECTOR_BYTES) else { return false };
    let lanes = access.sums.lanes as f64 / access.sums.requests.max(1) as f64;
    // Active lanes may have others between them.
    let spans = (lanes - 2.0) * region as f64..=WARP as f64 * region as f64;
    access.op == "load" && lanes > 2.0 && access.pattern.span_bytes.is_some_and(|bytes| spans.contains(&bytes))
}

/// The thread's number gives a column, and loaded data a row.
pub(in super::super) fn has_own_columns(access: &Access<'_>, terms: &[Term]) -> bool {
    let columns =
        |term: &Term| term.of_thread && !term.loaded && !term.times_unknown && term.scale == i64::from(access.bytes);
    let rows =
        |term: &Term| term.loaded && !term.of_thread && (term.times_unknown || term.scale >= SECTOR_BYTES as i64);
    terms.iter().any(columns) && terms.iter().any(rows)
}

/// The line that loads the indices, where all of them come from one: what leads to the elements of one array leads to those of
/// others, too.
pub(in super::super) fn line_of_indices(terms: &[Term]) -> Option<u32> {
    let mut lines = terms.iter().filter(|term| term.loaded).map(|term| term.loaded_at);
    let first = lines.next()??;
    lines.all(|line| line == Some(first)).then_some(first)
}
