//! Exchange of the thread index with another index, and the effect of the exchange on other accesses.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;
use super::index;

/// Returns whether the access belongs to a transposition: the statement's other access, its load or its store, is
/// contiguous for neighbouring threads. A loop that accumulates at one address moves no data.
pub fn is_transposition(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let other_end = if access.is_load() { "store" } else { "load" };
    let is_end = |one: &Access<'_>| {
        (one.file, one.line, one.op) == (access.file, access.line, other_end)
            && one.allocation != access.allocation
            && is_contiguous(one)
            && !index::stays_in_loop(one)
            && (one.bytes, one.sums.lanes) == (access.bytes, access.sums.lanes)
    };
    !index::stays_in_loop(access) && facts.accesses_of(access.kernel.id, "global").any(is_end)
}

/// Returns whether an index changes the address, by at most `most` bytes.
fn moves_by(step: &ThreadStep, most: u64) -> bool {
    matches!(step, ThreadStep::Bytes(bytes) if (1..=most).contains(&bytes.unsigned_abs()))
}

/// Returns whether another access of the kernel has neighbouring elements for one index but distant elements for the
/// other index. `near` returns the maximum distance in bytes between neighbouring elements.
fn any_other(facts: &Facts<'_>, access: &Access<'_>, [axis, other]: [usize; 2], near: fn(&Access<'_>) -> u64) -> bool {
    facts.accesses_of(access.kernel.id, "global").any(|one| {
        one.operand.map(|operand| &operand.thread_steps).is_some_and(|steps| {
            moves_by(&steps[axis], near(one)) && !moves_by(&steps[other], near(one)) && steps[other] != ThreadStep::None
        })
    })
}

/// Returns whether another access of the kernel is coalesced by this index and would not be coalesced by the other
/// index.
pub fn harmed_by_exchange(facts: &Facts<'_>, access: &Access<'_>, axis: usize, other: usize) -> bool {
    any_other(facts, access, [axis, other], |one| one.bytes.into())
}

/// Returns another index that changes the address by one element, or by a few elements of a tile, and that could
/// replace the lane index.
pub fn contiguous_index(access: &Access<'_>, stride: Option<u64>, axis: usize) -> Option<usize> {
    let steps = access.operand.map(|operand| &operand.thread_steps)?;
    let few = MOST_OF_TILE * u64::from(access.bytes);
    // If a vector or structure requires several accesses, the element is the whole vector or structure.
    let element = access.bytes_together.unwrap_or(0).max(access.bytes.into());
    let is_far = stride.is_some_and(|stride| stride >= 8 * few);
    let block = block_of(access.kernel);
    let of_tile =
        |other: &usize| is_far && block.is_some_and(|block| block[*other] > 1) && moves_by(&steps[*other], few);
    let others = || (0..3).filter(|&other| other != axis);
    others().find(|&other| moves_by(&steps[other], element)).or_else(|| others().find(of_tile))
}

/// Returns a block index on which the address of a load does not depend, and which could replace the lane index. The
/// exchange coalesces another access and harms no access.
pub fn unused_index(facts: &Facts<'_>, access: &Access<'_>) -> Option<usize> {
    let axis = lane_axis(access.kernel);
    let steps = &access.operand.filter(|_| access.is_load())?.thread_steps;
    let block = block_of(access.kernel)?;
    let coalesces = |other: usize| {
        let mut others = facts.accesses_of(access.kernel.id, "global");
        others.any(|one| one.operand.is_some_and(|operand| moves_by(&operand.thread_steps[other], one.bytes.into())))
    };
    let is_harmed = |other: usize| {
        harmed_by_exchange(facts, access, axis, other)
            || any_other(facts, access, [axis, other], |one| if one.is_load() { SECTOR_BYTES } else { 0 })
    };
    let is_free = |other: &usize| *other != axis && block[*other] > 1 && steps[*other] == ThreadStep::None;
    (0..3).find(|other| is_free(other) && coalesces(*other) && !is_harmed(*other))
}
