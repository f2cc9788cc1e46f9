//! How a request's lanes lie in global memory: the patterns that cost sectors.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;

/// Most of its requests have one stride that leaves gaps, and it costs sectors.
pub fn is_strided(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    let gaps = pattern.stride_bytes.is_some_and(|stride| stride.unsigned_abs() > access.bytes.into());
    // The estimate reads texels of arrays in linear order: whatever theirs is, a column of them is not a row.
    access.space == "global"
        && (!access.is_opaque || access.by_texture)
        && !access.in_library
        && has_lanes(access)
        && pattern.atomics.is_none()
        && gaps
        && share(pattern.strided, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_STRIDED_EXCESS
        && !moves_by_elements(access)
}

/// The code moves the address by more than an element from thread to thread, and rows of the block are so short that its requests
/// show no single stride.
pub fn is_strided_in_short_rows(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    let Some(operand) = access.operand else { return false };
    let apart = match &operand.thread_steps[lane_axis(access.kernel)] {
        ThreadStep::Bytes(bytes) => bytes.unsigned_abs() > access.bytes.into(),
        step => matches!(step, ThreadStep::Times(_)),
    };
    access.space == "global"
        && !access.is_opaque
        && has_lanes(access)
        && pattern.atomics.is_none()
        && apart
        && !operand.loaded_index
        && operand.thread_steps.iter().all(|step| *step != ThreadStep::Other)
        && block_of(access.kernel).is_some_and(|block| block[lane_axis(access.kernel)] < 32)
        && share(pattern.irregular, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_STRIDED_EXCESS
}

/// Most of its requests follow no rule, and it costs sectors.
pub fn is_scattered(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    access.space == "global"
        && !access.is_opaque
        && !access.in_library
        && pattern.atomics.is_none()
        && share(pattern.irregular, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_SCATTERED_EXCESS
}

/// Most of its requests access consecutive elements.
pub fn is_contiguous(access: &Access<'_>) -> bool {
    share(access.pattern.contiguous, access.pattern.requests) >= 0.5
}

/// The stride is the size of the structure of which the access takes a member.
pub fn strides_over_structures(access: &Access<'_>) -> bool {
    let Some(operand) = access.operand else { return false };
    let bytes = i64::from(operand.structure_bytes);
    // An iterator leads to what lies in memory, and is nothing that lies there.
    let is_iterator =
        operand.structure.as_deref().is_some_and(|name| is_system(access.file) && name.contains("iterator"));
    operand.member.is_some()
        && !is_iterator
        && bytes > 0
        && access.pattern.stride_bytes.is_some_and(|stride| stride.abs() == bytes)
}

/// Lanes take a member of structures that follow each other without a gap, though inactive lanes lie between them.
pub fn packs_structures(access: &Access<'_>) -> bool {
    let Some(operand) = access.operand else { return false };
    let size = f64::from(operand.structure_bytes);
    let lanes = access.mean_lanes();
    let least = ALL_STRUCTURES * (lanes - 1.0) * size;
    operand.member.is_some()
        && operand.structure_bytes > access.bytes
        && access
            .pattern
            .span_bytes
            .is_some_and(|span| span >= least && span + f64::from(access.bytes) <= PACKED_STRUCTURES * lanes * size)
}

/// The code gives consecutive threads consecutive elements, so that gaps are those of lanes which a branch leaves out.
fn moves_by_elements(access: &Access<'_>) -> bool {
    matches!(access.step(), Some(ThreadStep::Bytes(bytes)) if bytes.unsigned_abs() <= access.bytes.into())
}

fn has_lanes(access: &Access<'_>) -> bool {
    access.sums.lanes >= LEAST_LANES * access.sums.requests
}
