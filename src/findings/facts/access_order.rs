//! Irregular addresses that are in order all the same.

use super::super::thresholds::coalescing::{DENSE_SPAN, MUCH_LONGER, ORDERED_SPAN};
use super::Facts;
use super::access::Access;
use super::gather::iterates_elements;
use super::terms::terms_of;

/// Lanes lie so near each other that no order of the data brings them nearer: computed indices of an image that is scaled, or loaded
/// ones of a list in order, in much longer data.
pub(in super::super) fn is_dense(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let bytes_of_lanes = access.sums.lanes as f64 / access.sums.requests.max(1) as f64 * f64::from(access.bytes);
    let is_loaded = access.operand.is_some_and(|operand| operand.loaded_index);
    let most = if is_loaded { ORDERED_SPAN } else { DENSE_SPAN };
    let Some(span) = access.pattern.span_bytes.filter(|&span| span <= most * bytes_of_lanes) else {
        return false;
    };
    let whole = access.allocation.and_then(|id| facts.profile.allocation(id)).map_or(0, |one| one.touched_bytes);
    !is_loaded || whole as f64 >= MUCH_LONGER * span && !iterates_elements(access, &terms_of(access))
}

/// Lanes access the same element of one array or another, as where the compiler has made one store of two.
pub(in super::super) fn spans_allocations(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let is_loaded = access.operand.is_some_and(|operand| operand.loaded_index);
    let allocation = access.allocation.and_then(|id| facts.profile.allocation(id));
    !is_loaded
        && allocation
            .is_some_and(|allocation| access.pattern.span_bytes.is_some_and(|span| span > allocation.bytes as f64))
}
