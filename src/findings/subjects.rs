//! Selects the finding that reports a global access: the first table entry whose condition is true determines it.

use super::facts::banks::Conflict;
use super::facts::pattern::{is_strided_in_short_rows, packs_structures, strides_over_structures};
use super::facts::{address, atomics, gather, index, library_layout};
use super::prelude::*;
use super::texture;

/// Reasons why an access to global memory needs additional sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coalescing {
    /// Consecutive threads access members of consecutive structures.
    Members,
    /// Consecutive threads are a stride apart.
    Strided,
    /// Lanes access irregular addresses.
    Scattered,
    /// The access has no cost that a user could reduce.
    Accepted,
}

type Condition = fn(&Facts<'_>, &Access<'_>) -> bool;

/// Conditions and subjects; the first condition that is true applies.
const ORDER: &[(Condition, Coalescing)] = &[
    (|_, access| is_strided(access) && strides_over_structures(access), Coalescing::Members),
    (|_, access| is_scattered(access) && packs_structures(access), Coalescing::Members),
    // Only a few lanes at a border access other addresses.
    (|_, access| address::is_held_within(access), Coalescing::Accepted),
    (|_, access| is_any_strided(access) && index::is_given_by_atomics(access), Coalescing::Accepted),
    (|_, access| is_any_strided(access) && library_layout::is_blocked(access), Coalescing::Accepted),
    (|_, access| is_any_strided(access) && texture::is_scaled(access), Coalescing::Accepted),
    (|_, access| is_any_strided(access), Coalescing::Strided),
    (library_layout::is_permuted, Coalescing::Accepted),
    (gather::is_dense, Coalescing::Accepted),
    (gather::spans_allocations, Coalescing::Accepted),
    (|_, access| is_scattered(access), Coalescing::Scattered),
];

fn is_any_strided(access: &Access<'_>) -> bool {
    is_strided(access) || is_strided_in_short_rows(access)
}

/// Returns the subject of an access's finding; `None` if its requests are coalesced, or at most misaligned.
pub(super) fn coalescing(facts: &Facts<'_>, access: &Access<'_>) -> Option<Coalescing> {
    ORDER.iter().find(|(condition, _)| condition(facts, access)).map(|(_, subject)| *subject)
}

/// Returns whether atomic-contention reports lanes that collide on an address of shared memory. Its remedy, copies of
/// the array, also removes bank conflicts. The exception is a bank that the thread index alone determines.
pub(super) fn is_about_contention(conflict: &Conflict<'_, '_>) -> bool {
    let access = conflict.access;
    access.op == "atomic" && (conflict.is_data_dependent || !conflict.is_of_thread) && atomics::collides(access)
}
