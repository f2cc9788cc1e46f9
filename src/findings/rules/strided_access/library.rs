//! Accesses that a library's code makes for the user.

use super::super::super::facts::access::Access;
use super::super::super::facts::lane_axis;
use super::layout;
use crate::profile::is_system;
use crate::profile::model::ThreadStep;

/// A library's kernel gives each thread neighbouring items, all of which it takes: an arrangement that the library chose, and tuned.
pub(super) fn is_blocked(access: &Access<'_>) -> bool {
    let whole = |stride: i64| access.bytes_together >= Some(stride.unsigned_abs());
    // The user's iterator or function is called for one item after the other.
    let by_items = |stride: i64| {
        let axis = lane_axis(access.kernel);
        let fixed = access.operand.is_some_and(|operand| matches!(operand.thread_steps[axis], ThreadStep::Bytes(_)));
        fixed && stride.unsigned_abs() <= layout::MOST_ITEMS * u64::from(access.bytes)
    };
    is_system(&access.kernel.file)
        && access.pattern.stride_bytes.is_some_and(|stride| whole(stride) || by_items(stride))
}

/// Whether a library's code makes the access, which nobody but the library gives another width.
pub(super) fn is_copied(access: &Access<'_>) -> bool {
    is_system(&access.kernel.file) && is_system(access.file)
}

/// What to do where a library moves elements of the user's type piece by piece.
pub(in super::super) fn aligned(bytes: u64, at_a_time: u32) -> String {
    format!(
        "the library moves elements of {bytes} bytes here, {at_a_time} at a time, as their type is aligned to no more: give the type the alignment of its size (alignas({bytes})), so that \
         it moves as a whole, or keep its members in arrays of their own (as keys and values: sort_by_key, zip_iterator)"
    )
}

/// The algorithm of CUB's that takes the place of one of its block-wide loads or stores in the user's kernel.
pub(super) fn of_block_wide(access: &Access<'_>) -> Option<&'static str> {
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
