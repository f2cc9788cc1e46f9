//! Loops that may wait for other threads.

use super::body::{Body, BodyLoop};
use crate::ir::threads::{exchanges, is_block_barrier, is_seen_by_others, reads_from_others};
use crate::llvm::Value;
use std::collections::HashSet;

/// Returns, for each loop of a body, whether leaving it can depend on data that other threads write: an exit condition
/// that comes from a volatile or atomic access, or from a call, inside the loop.
pub fn spinning_loops(body: &Body<'_>) -> Vec<bool> {
    body.loops.iter().map(|one| spins(body, one)).collect()
}

/// Returns whether a loop of a body exchanges values with other threads, whatever their use is. Triton passes such
/// values through shared memory, so no exit condition shows them.
pub fn exchanges_values(body: &Body<'_>) -> bool {
    let mut inside = body.loops.iter().flat_map(|one| &one.blocks).flat_map(|&block| &body.blocks[block].instructions);
    inside.any(|value| exchanges(*value))
}

fn spins<'c>(body: &Body<'c>, one: &BodyLoop) -> bool {
    let mut instructions = one.blocks.iter().flat_map(|&block| &body.blocks[block].instructions);
    if !instructions.any(|value| reads_from_others(*value)) {
        return false;
    }
    let inside = |block: usize| one.blocks.binary_search(&block).is_ok();
    let condition = |block: usize| body.blocks[block].terminator().condition();
    let mut work: Vec<Value<'c>> = leaving(body, one).into_iter().filter_map(condition).collect();
    let mut seen: HashSet<Value<'c>> = work.iter().copied().collect();
    let mut control = false;
    while let Some(value) = work.pop() {
        let Some(&block) = value.block().and_then(|block| body.positions.get(&block)) else { continue };
        if !inside(block) {
            continue;
        }
        if reads_from_others(value) {
            return true;
        }
        let mut next = value.operands();
        // The value of a phi depends on the branches of the loop; but the phis at its entry receive the values of the
        // last iteration.
        if value.is_phi() && block != one.header && !control {
            control = true;
            next.extend(one.blocks.iter().copied().filter_map(condition));
        }
        work.extend(next.into_iter().filter(|operand| operand.is_instruction() && seen.insert(*operand)));
    }
    false
}

/// Returns the blocks of a loop whose branches decide whether it is left: those that leave it, and those that decide
/// whether an iteration reaches one of these.
fn leaving(body: &Body<'_>, one: &BodyLoop) -> Vec<usize> {
    let inside = |block: usize| one.blocks.binary_search(&block).is_ok();
    let successors = |block: usize| body.blocks[block].successors.iter().copied();
    let exits: Vec<usize> = one.blocks.iter().copied().filter(|&at| successors(at).any(|next| !inside(next))).collect();
    let mut deciding: Vec<bool> = one.blocks.iter().map(|at| exits.contains(at)).collect();
    for &exit in &exits {
        // The blocks from which an iteration can still reach the exit. In warp order, only back edges go to lower
        // blocks, and the blocks of a loop are adjacent.
        let mut comes = vec![false; one.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (index, &at) in one.blocks.iter().enumerate().rev() {
                let by =
                    |next: usize| next != one.header && one.blocks.binary_search(&next).is_ok_and(|next| comes[next]);
                let now = at == exit || successors(at).any(by);
                changed |= now != comes[index];
                comes[index] = now;
            }
        }
        for (index, &at) in one.blocks.iter().enumerate().filter(|(_, at)| **at != exit) {
            let by = |next: usize| next != one.header && one.blocks.binary_search(&next).is_ok_and(|next| comes[next]);
            let ways = successors(at).filter(|&next| inside(next));
            deciding[index] |= ways.clone().any(by) && !ways.clone().all(by);
        }
    }
    one.blocks.iter().zip(deciding).filter(|(_, decides)| *decides).map(|(at, _)| *at).collect()
}

/// Returns whether lanes that wait at a block cannot help other lanes of their warp. This is the case if, on every
/// path, they reach a block-wide barrier, which also needs the other lanes, before they could change anything that
/// another thread can observe. Such lanes may stay where they are as long as other lanes wait in a loop. `kernel` means
/// that the function's end is the end of the thread.
pub fn idle_until_barrier(body: &Body<'_>, block: usize, kernel: bool) -> bool {
    let (mut work, mut seen) = (vec![block], HashSet::from([block]));
    while let Some(at) = work.pop() {
        let Some(block) = body.blocks.get(at) else { return kernel };
        let deed = block.instructions.iter().find(|value| is_block_barrier(**value) || is_seen_by_others(**value));
        match deed {
            Some(barrier) if is_block_barrier(*barrier) => continue,
            Some(_) => return false,
            None if block.successors.is_empty() && !kernel => return false,
            None => work.extend(block.successors.iter().copied().filter(|next| seen.insert(*next))),
        }
    }
    true
}

/// Returns whether lanes that wait at a block of a kernel have no more work. This is the case if, on every path, they
/// reach the kernel's end without a barrier and without doing anything that another thread can observe.
pub fn is_as_good_as_gone(body: &Body<'_>, block: usize) -> bool {
    let (mut work, mut seen) = (vec![block], HashSet::from([block]));
    while let Some(at) = work.pop() {
        let Some(block) = body.blocks.get(at) else { continue };
        if block.instructions.iter().any(|value| is_block_barrier(*value) || is_seen_by_others(*value)) {
            return false;
        }
        work.extend(block.successors.iter().copied().filter(|next| seen.insert(*next)));
    }
    true
}
