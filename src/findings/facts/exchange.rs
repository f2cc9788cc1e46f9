//! Whether another index could take the place of the thread's number, and what that would do to other accesses.

use super::super::thresholds::coalescing::MOST_OF_TILE;
use super::access::{Access, share};
use super::{Facts, block_of, index, lane_axis};
use warpline_profile::model::ThreadStep;
use warpline_simulator::geometry::SECTOR_BYTES;

/// The statement moves data from here to where neighbouring threads have neighbouring elements, or the other way. What a loop
/// adds up at one address goes nowhere.
pub(in super::super) fn is_transposition(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let other_end = match access.op {
        "load" => "store",
        _ => "load",
    };
    let here =
        facts.accesses_of(access.kernel.id, "global").filter(|one| (one.file, one.line) == (access.file, access.line));
    let mut ends = here.filter(|one| one.op == other_end && one.allocation != access.allocation);
    !index::stays_in_loop(access)
        && ends.any(|one| {
            share(one.pattern.contiguous, one.pattern.requests) >= 0.5
                && !index::stays_in_loop(one)
                && one.bytes == access.bytes
                && one.sums.lanes == access.sums.lanes
        })
}

/// Another access of the kernel is coalesced by this index and would not be by the other one.
pub(in super::super) fn harmed_by_exchange(facts: &Facts<'_>, access: &Access<'_>, axis: usize, other: usize) -> bool {
    facts.accesses_of(access.kernel.id, "global").any(|one| {
        let steps = one.operand.map(|operand| &operand.thread_steps);
        let contiguous = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(one.bytes));
        steps.is_some_and(|steps| contiguous(&steps[axis]) && !contiguous(&steps[other]) && steps[other] != ThreadStep::None)
    })
}

/// Another load of the kernel has what neighbouring threads take side by side, and the other index would bring it far apart.
fn brought_apart(facts: &Facts<'_>, access: &Access<'_>, axis: usize, other: usize) -> bool {
    let is_near = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(bytes) if bytes.unsigned_abs() <= SECTOR_BYTES);
    facts.accesses_of(access.kernel.id, "global").any(|one| {
        let steps = one.operand.map(|operand| &operand.thread_steps);
        one.op == "load"
            && steps.is_some_and(|steps| {
                is_near(&steps[axis]) && !is_near(&steps[other]) && steps[other] != ThreadStep::None
            })
    })
}

/// An index of the block's other dimensions that does not move the address of this load, though it moves another access's by one
/// element.
fn still(access: &Access<'_>, facts: &Facts<'_>, axis: usize) -> Option<usize> {
    let steps = &access.operand?.thread_steps;
    let block = block_of(access.kernel)?;
    let coalesces = |other: usize| {
        facts.accesses_of(access.kernel.id, "global").any(|one| {
            one.operand.is_some_and(|operand| {
                matches!(operand.thread_steps[other], ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(one.bytes))
            })
        })
    };
    (0..3).find(|&other| {
        other != axis && access.op == "load" && block[other] > 1 && steps[other] == ThreadStep::None && coalesces(other)
    })
}

/// Another index that moves the address by one element, or by a few of a tile, and could take the place of the lanes' one.
pub(in super::super) fn contiguous_index(access: &Access<'_>, stride: Option<u64>, axis: usize) -> Option<usize> {
    let steps = access.operand.map(|operand| &operand.thread_steps)?;
    let moves = |step: &ThreadStep, most: u64| matches!(step, ThreadStep::Bytes(bytes) if (1..=most).contains(&bytes.unsigned_abs()));
    let few = MOST_OF_TILE * u64::from(access.bytes);
    let far = stride.is_some_and(|stride| stride >= 8 * few);
    let block = block_of(access.kernel);
    let of_tile = |other: usize| far && block.is_some_and(|block| block[other] > 1) && moves(&steps[other], few);
    let by_one = |other: usize| matches!(steps[other], ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(access.bytes));
    let others = || (0..3).filter(|&other| other != axis);
    others().find(|&other| by_one(other)).or_else(|| others().find(|&other| of_tile(other)))
}

/// An index of the block that the address does not depend on, which could take the place of the lanes' one without harm to others.
pub(in super::super) fn unused_index(facts: &Facts<'_>, access: &Access<'_>) -> Option<usize> {
    let axis = lane_axis(access.kernel);
    still(access, facts, axis)
        .filter(|&other| !harmed_by_exchange(facts, access, axis, other) && !brought_apart(facts, access, axis, other))
}
