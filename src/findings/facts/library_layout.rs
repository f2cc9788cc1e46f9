//! Arrangements of data that a library chose, for itself or for the user.

use super::super::thresholds::coalescing::{LIBRARY_SPAN_BYTES, MOST_LIBRARY_ITEMS};
use super::access::Access;
use super::{Facts, is_of_library, lane_axis};
use warpline_profile::model::ThreadStep;
use warpline_profile::{is_system, library_call};

/// A library's kernel gives each thread consecutive items, all of which it accesses: an arrangement that the library tuned.
pub(in super::super) fn is_blocked(access: &Access<'_>) -> bool {
    let whole = |stride: i64| access.bytes_together >= Some(stride.unsigned_abs());
    // The user's iterator or function is called for one item after the other.
    let by_items = |stride: i64| {
        let axis = lane_axis(access.kernel);
        let fixed = access.operand.is_some_and(|operand| matches!(operand.thread_steps[axis], ThreadStep::Bytes(_)));
        fixed && stride.unsigned_abs() <= MOST_LIBRARY_ITEMS * u64::from(access.bytes)
    };
    is_system(&access.kernel.file)
        && access.pattern.stride_bytes.is_some_and(|stride| whole(stride) || by_items(stride))
}

/// A library brings its own scratch memory into another order, leaves out what is not wanted, or is there to shuffle.
pub(in super::super) fn is_permuted(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    if !is_system(&access.kernel.file) {
        return false;
    }
    let allocation = access.allocation.and_then(|id| facts.profile.allocation(id));
    let shuffles = || library_call(access.kernel).is_some_and(|call| call.function.contains("shuffle"));
    access.pattern.span_bytes.is_some_and(|span| span < LIBRARY_SPAN_BYTES)
        || is_system(access.file) && (allocation.is_some_and(is_of_library) || shuffles())
}

/// A library's code makes the access, whose width only the library can change.
pub(in super::super) fn is_copied(access: &Access<'_>) -> bool {
    is_system(&access.kernel.file) && is_system(access.file)
}

/// The algorithm of CUB that takes the place of one of its direct block-wide loads or stores in the user's kernel.
pub(in super::super) fn transposing_algorithm(access: &Access<'_>) -> Option<&'static str> {
    if is_system(&access.kernel.file) || !access.innermost.contains("cub::") {
        return None;
    }
    let is = |name: &str| access.innermost.contains(name);
    match () {
        () if is("LoadDirectBlocked") => Some("BLOCK_LOAD_WARP_TRANSPOSE"),
        () if is("StoreDirectBlocked") => Some("BLOCK_STORE_WARP_TRANSPOSE"),
        () => None,
    }
}
