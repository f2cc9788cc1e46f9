//! The kinds of atomic operations.

use crate::llvm::Value;
use crate::llvm::value::{AtomicOp, Opcode};
use warpline_format::condition::AtomicKind;

/// Returns the kind of an atomic instruction; `None` if it is unknown.
pub(in crate::device) fn kind(instruction: Value<'_>) -> Option<AtomicKind> {
    match instruction.opcode()? {
        Opcode::LLVMAtomicCmpXchg => Some(attempt(instruction.operand(1), instruction.operand(2))),
        Opcode::LLVMAtomicRMW => Some(update(instruction.atomic_op()?, instruction.operand(1))),
        Opcode::LLVMCall => of_call(instruction),
        _ => None,
    }
}

/// Returns the kind of a compare-and-swap. Only one thread can acquire a lock, even if several try.
fn attempt(expected: Value<'_>, new: Value<'_>) -> AtomicKind {
    match (expected.as_u64(), new.as_u64()) {
        (Some(0), Some(1)) => AtomicKind::Lock,
        _ => AtomicKind::Attempt,
    }
}

fn update(op: AtomicOp, operand: Value<'_>) -> AtomicKind {
    use AtomicOp::*;
    let negative = || operand.as_i64().is_some_and(|by| by < 0) || operand.as_f64().is_some_and(|by| by < 0.0);
    match op {
        LLVMAtomicRMWBinOpXchg | LLVMAtomicRMWBinOpUIncWrap | LLVMAtomicRMWBinOpUDecWrap => AtomicKind::Exchange,
        LLVMAtomicRMWBinOpSub | LLVMAtomicRMWBinOpFSub => AtomicKind::Subtract,
        LLVMAtomicRMWBinOpAdd | LLVMAtomicRMWBinOpFAdd if negative() => AtomicKind::Subtract,
        _ => AtomicKind::Combine,
    }
}

/// Returns the kind of the target's own forms, which have a scope in their names.
fn of_call(call: Value<'_>) -> Option<AtomicKind> {
    let name = call.callee_name();
    let op = name.strip_prefix("llvm.nvvm.atomic.")?;
    let arguments = call.arguments();
    Some(match op.split('.').next()? {
        "cas" => attempt(*arguments.get(1)?, *arguments.get(2)?),
        "exch" | "inc" | "dec" => AtomicKind::Exchange,
        _ => AtomicKind::Combine,
    })
}
