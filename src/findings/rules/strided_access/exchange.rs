//! Whether another index could take the place of the thread's number, and what that would do to other accesses.

use super::super::super::facts::access::{Access, share};
use super::super::super::facts::index;
use super::super::super::facts::{Facts, block_of};
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::ThreadStep;

/// Whether the statement moves data from here to where neighbouring threads have neighbouring elements, or the other way. What a loop
/// adds up at one address goes nowhere.
pub(super) fn is_transposition(facts: &Facts<'_>, access: &Access<'_>) -> bool {
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

/// Whether another access of the kernel is coalesced by this index and would not be by the other one.
pub(super) fn harmed_by_exchange(facts: &Facts<'_>, access: &Access<'_>, axis: usize, other: usize) -> bool {
    facts.accesses_of(access.kernel.id, "global").any(|one| {
        let steps = one.operand.map(|operand| &operand.thread_steps);
        let contiguous = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(one.bytes));
        steps.is_some_and(|steps| contiguous(&steps[axis]) && !contiguous(&steps[other]) && steps[other] != ThreadStep::None)
    })
}

/// Whether another load of the kernel has what neighbouring threads take side by side, and the other index would bring it far apart.
pub(super) fn brought_apart(facts: &Facts<'_>, access: &Access<'_>, axis: usize, other: usize) -> bool {
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
pub(super) fn still(access: &Access<'_>, facts: &Facts<'_>, axis: usize) -> Option<usize> {
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
