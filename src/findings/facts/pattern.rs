//! Patterns of a request's lanes in global memory that increase the number of sectors.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;

/// Returns whether most of the requests have a single stride with gaps, and the gaps cost sectors.
pub fn is_strided(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    let gaps = pattern.stride_bytes.is_some_and(|stride| stride.unsigned_abs() > access.bytes.into());
    // The estimate reads texels of arrays in linear order. In every layout, a column of texels differs from a row.
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

/// Returns whether the code moves the address by more than an element between threads, but the rows of the block are so
/// short that requests have no single stride.
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

/// Returns whether most of the requests are irregular, and the irregularity costs sectors.
pub fn is_scattered(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    access.space == "global"
        && !access.is_opaque
        && !access.in_library
        && pattern.atomics.is_none()
        && share(pattern.irregular, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_SCATTERED_EXCESS
}

/// Returns whether most of the requests access consecutive elements.
pub fn is_contiguous(access: &Access<'_>) -> bool {
    share(access.pattern.contiguous, access.pattern.requests) >= 0.5
}

/// Returns whether the stride equals the size of the structure whose member is accessed.
pub fn strides_over_structures(access: &Access<'_>) -> bool {
    let Some(operand) = access.operand else { return false };
    let bytes = i64::from(operand.structure_bytes);
    // An iterator refers to memory but is not stored there.
    let is_iterator =
        operand.structure.as_deref().is_some_and(|name| is_system(access.file) && name.contains("iterator"));
    operand.member.is_some()
        && !is_iterator
        && bytes > 0
        && access.pattern.stride_bytes.is_some_and(|stride| stride.abs() == bytes)
}

/// Returns whether lanes access a member of consecutive structures without gaps between the structures, except for
/// inactive lanes.
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

/// Returns whether the code assigns consecutive elements to consecutive threads, so that gaps belong to lanes that a
/// branch disables.
fn moves_by_elements(access: &Access<'_>) -> bool {
    matches!(access.step(), Some(ThreadStep::Bytes(bytes)) if bytes.unsigned_abs() <= access.bytes.into())
}

fn has_lanes(access: &Access<'_>) -> bool {
    access.sums.lanes >= LEAST_LANES * access.sums.requests
}
