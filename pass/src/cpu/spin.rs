//! Loops that may wait for other threads.

use super::body::{Body, BodyLoop};
use crate::llvm::Value;
use crate::llvm::value::{Opcode, Ordering};
use std::collections::HashSet;

/// For each loop of a body, whether leaving it can depend on what other threads write: an exit condition that comes
/// from a volatile or atomic access, or from a call, inside the loop.
pub fn spinning_loops(body: &Body<'_>) -> Vec<bool> {
    body.loops.iter().map(|one| spins(body, one)).collect()
}

fn spins<'c>(body: &Body<'c>, one: &BodyLoop) -> bool {
    let inside = |block: usize| one.blocks.binary_search(&block).is_ok();
    let conditions = |exits_only: bool| {
        one.blocks.iter().filter_map(move |&block| {
            let leaves = body.blocks[block].successors.iter().any(|&next| !inside(next));
            (leaves || !exits_only).then(|| body.blocks[block].terminator().condition()).flatten()
        })
    };
    let mut work: Vec<Value<'c>> = conditions(true).collect();
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
        // Which value a phi takes depends on the branches of the loop.
        if value.is_phi() && !control {
            control = true;
            next.extend(conditions(false));
        }
        work.extend(next.into_iter().filter(|operand| operand.is_instruction() && seen.insert(*operand)));
    }
    false
}

/// Whether what an instruction reads may be written by other threads meanwhile.
pub fn reads_from_others(value: Value<'_>) -> bool {
    match value.opcode() {
        Some(Opcode::LLVMLoad) => {
            value.is_volatile() || value.ordering().is_some_and(|order| order != Ordering::LLVMAtomicOrderingNotAtomic)
        }
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => true,
        Some(Opcode::LLVMCall) => {
            let Some(callee) = value.called_value() else { return false };
            if callee.is_inline_asm() {
                let text = callee.asm_text();
                return ["ld.", "atom."].iter().any(|part| text.contains(part));
            }
            // A function of the module may read anything; intrinsics other than atomics read nothing that changes.
            !callee.is_intrinsic() || callee.name().starts_with("llvm.nvvm.atomic")
        }
        _ => false,
    }
}
