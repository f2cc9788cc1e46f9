//! Arrangements of data that a library chose, for itself or for the user.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;

/// A library's kernel gives each thread consecutive items, all of which it accesses: an arrangement that the library tuned. The
/// user's iterator or function is called for one item after the other.
pub fn is_blocked(access: &Access<'_>) -> bool {
    let whole = |stride: u64| access.bytes_together >= Some(stride);
    let is_fixed = matches!(access.step(), Some(ThreadStep::Bytes(_)));
    let by_items = |stride: u64| is_fixed && stride <= MOST_LIBRARY_ITEMS * u64::from(access.bytes);
    let stride = access.pattern.stride_bytes.map(i64::unsigned_abs);
    is_system(&access.kernel.file) && stride.is_some_and(|stride| whole(stride) || by_items(stride))
}

/// A library brings its own scratch memory into another order, leaves out what is not wanted, or is there to shuffle.
pub fn is_permuted(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let shuffles = || library_call(access.kernel).is_some_and(|call| call.function.contains("shuffle"));
    let is_near = access.pattern.span_bytes.is_some_and(|span| span < LIBRARY_SPAN_BYTES);
    let is_own = is_system(access.file) && (facts.memory(access).is_some_and(is_of_library) || shuffles());
    is_system(&access.kernel.file) && (is_near || is_own)
}

/// A library's code makes the access, whose width only the library can change.
pub fn is_copied(access: &Access<'_>) -> bool {
    is_system(&access.kernel.file) && is_system(access.file)
}
