//! Data layouts that a library chose, for its own data or for the user's data.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;

/// Returns whether a library's kernel assigns consecutive items to each thread, which accesses all of them. The library
/// tuned this layout. It calls the user's iterator or function for each item in order.
pub fn is_blocked(access: &Access<'_>) -> bool {
    let whole = |stride: u64| access.bytes_together >= Some(stride);
    let is_fixed = matches!(access.step(), Some(ThreadStep::Bytes(_)));
    let by_items = |stride: u64| is_fixed && stride <= MOST_LIBRARY_ITEMS * u64::from(access.bytes);
    let stride = access.pattern.stride_bytes.map(i64::unsigned_abs);
    is_system(&access.kernel.file) && stride.is_some_and(|stride| whole(stride) || by_items(stride))
}

/// Returns whether a library permutes its own scratch memory, discards unwanted elements, or shuffles data.
pub fn is_permuted(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let shuffles = || library_call(access.kernel).is_some_and(|call| call.function.contains("shuffle"));
    let is_near = access.pattern.span_bytes.is_some_and(|span| span < LIBRARY_SPAN_BYTES);
    let is_own = is_system(access.file) && (facts.memory(access).is_some_and(is_of_library) || shuffles());
    is_system(&access.kernel.file) && (is_near || is_own)
}

/// Returns whether library code performs the access, so that only the library can change its width.
pub fn is_copied(access: &Access<'_>) -> bool {
    is_system(&access.kernel.file) && is_system(access.file)
}
