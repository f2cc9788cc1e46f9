//! How threads come to the elements that they gather, by the terms of the address: along rows, lists and parts of their own.

use super::super::super::facts::access::Access;
use super::super::super::facts::beside;
use super::super::super::facts::index;
use super::super::super::facts::terms::{Term, terms_of};
use super::super::super::facts::{Facts, warps};
use super::LEAST_EXCESS;
use crate::geometry::SECTOR_BYTES;

/// Lanes of a warp.
const WARP: u32 = 32;
/// Elements by which an unrolled loop goes on, at most.
const MOST_UNROLLED: i64 = 16;

/// Bytes of what the array has, of which the access may take a member.
fn element_bytes(access: &Access<'_>) -> i64 {
    i64::from(access.operand.map_or(0, |operand| operand.structure_bytes).max(access.bytes))
}

/// Whether a loop goes from element to element.
pub(super) fn goes_along(access: &Access<'_>, terms: &[Term]) -> bool {
    terms.iter().any(|term| term.counts && is_along(access, term))
}

/// Whether a term that moves with a loop does so by an element or a few.
fn is_along(access: &Access<'_>, term: &Term) -> bool {
    !(term.loaded || term.of_thread || term.times_unknown)
        && (1..=MOST_UNROLLED * element_bytes(access)).contains(&term.scale)
}

/// Whether loaded data gives a row, and a loop goes along it from element to element.
pub(super) fn goes_along_rows(access: &Access<'_>, terms: &[Term]) -> bool {
    let rows = |term: &Term| term.loaded && !term.counts && (term.times_unknown || term.scale >= SECTOR_BYTES as i64);
    terms.iter().any(rows) && goes_along(access, terms)
}

/// Whether a loop moves the address by less than whole sectors, as over the neighbours of an element: no layout aligns all its iterations.
pub(in super::super) fn goes_over_neighbours(access: &Access<'_>) -> bool {
    let off =
        |term: &Term| term.counts && !(term.loaded || term.times_unknown) && term.scale % SECTOR_BYTES as i64 != 0;
    terms_of(access).iter().any(off)
}

/// Whether a loop goes from a loaded begin from element to element.
pub(super) fn goes_along_lists(facts: &Facts<'_>, access: &Access<'_>, terms: &[Term]) -> bool {
    terms.iter().any(is_begin) && goes_along(access, terms) && access.most_requests > times_begun(facts, access, terms)
}

/// Whether loaded data is the begin of a list.
pub(super) fn is_begin(term: &Term) -> bool {
    term.loaded && !(term.counts || term.of_thread || term.times_unknown)
}

/// Whether it takes the element at which a loop along a list has ended, as that which a search has found.
pub(super) fn is_end_of_way(access: &Access<'_>, terms: &[Term]) -> bool {
    let way = |term: &Term| term.counted && is_along(access, term);
    // Between a begin and what is taken there lies the way.
    let is_apart = |term: &Term| is_begin(term) && term.loaded_at != Some(access.line);
    terms.iter().any(is_apart) && terms.iter().any(way) && !goes_along(access, terms)
}

/// Whether two coordinates that were computed in floating point lead to the element, as where an image is sampled.
pub(super) fn is_sampled(access: &Access<'_>, terms: &[Term]) -> bool {
    access.op == "load" && terms.iter().filter(|term| term.of_floats).count() >= 2
}

/// Warps that begin such a list: those that load its begin, or else all of the kernel, of which many may have nothing to do.
fn times_begun(facts: &Facts<'_>, access: &Access<'_>, terms: &[Term]) -> u64 {
    let lines: Vec<u32> = terms.iter().filter(|term| term.loaded).filter_map(|term| term.loaded_at).collect();
    let begins = facts
        .accesses_of(access.kernel.id, "global")
        .filter(|one| one.op == "load" && one.file == access.file && lines.contains(&one.line));
    let all = warps(access.kernel);
    // The line may have the list's own loads as well.
    begins.map(|one| one.most_requests).min().map_or(all, |begun| begun.min(all))
}

/// Whether the kernel's threads append to the same memory, each to a part of its own.
pub(super) fn is_appended_to(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let there = |one: &&Access<'_>| access.allocation.is_some() && one.allocation == access.allocation;
    // What goes to neighbouring elements is no part of each thread's own, whatever loop comes there.
    let is_scattered = |one: &Access<'_>| one.sums.excess_share() >= LEAST_EXCESS;
    facts
        .accesses_of(access.kernel.id, "global")
        .filter(there)
        .any(|one| index::is_appended(one) && is_scattered(one) && stores_several(one))
}

/// Whether the line also reads what the thread has appended to a part of its own, so that what it makes of an element depends on those before it.
pub(super) fn meets_appended(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let mut loads = facts.accesses_of(access.kernel.id, "global").filter(|one| {
        one.op == "load" && (one.file, one.line) == (access.file, access.line) && one.allocation != access.allocation
    });
    loads.any(|one| is_appended_to(facts, one))
}

/// Whether a thread stores there again and again: who looks for a slot stores once.
pub(super) fn stores_several(access: &Access<'_>) -> bool {
    access.sums.lanes >= 2 * 32 * warps(access.kernel)
}

/// Whether the address is that of a row which the thread's number gives, and of a place in it that loaded data gives.
pub(in super::super) fn has_own_rows(terms: &[Term]) -> bool {
    let rows = |term: &Term| term.of_thread && !term.loaded && (term.times_unknown || term.scale > SECTOR_BYTES as i64);
    let places = |term: &Term| (term.loaded || term.of_floats) && !term.of_thread;
    terms.iter().any(rows) && terms.iter().any(places)
}

/// Whether each thread takes an element of a part of its own, whatever chooses between the places in it: on all ways to the address the thread's number is
/// multiplied by one length, and as far apart lie the lanes.
pub(super) fn has_part_of_own(access: &Access<'_>) -> bool {
    let Some(part) = beside::part_of_thread(access).filter(|&bytes| bytes > SECTOR_BYTES) else { return false };
    let lanes = access.sums.lanes as f64 / access.sums.requests.max(1) as f64;
    // Lanes that have work may have others between them.
    let spans = (lanes - 2.0) * part as f64..=f64::from(WARP) * part as f64;
    access.op == "load" && lanes > 2.0 && access.pattern.span_bytes.is_some_and(|bytes| spans.contains(&bytes))
}

/// Whether the address is that of a column which the thread's number gives, in a row that loaded data gives.
pub(in super::super) fn has_own_columns(access: &Access<'_>, terms: &[Term]) -> bool {
    let columns =
        |term: &Term| term.of_thread && !term.loaded && !term.times_unknown && term.scale == i64::from(access.bytes);
    let rows =
        |term: &Term| term.loaded && !term.of_thread && (term.times_unknown || term.scale >= SECTOR_BYTES as i64);
    terms.iter().any(columns) && terms.iter().any(rows)
}
