//! The effects of instructions on other threads.

use super::barrier::{Barrier, barrier};
use super::class::{Call, classify};
use crate::llvm::Value;
use crate::llvm::value::{Opcode, Ordering};

/// Returns whether an instruction ends the thread: the inline assembly `exit;` or the intrinsic.
pub fn is_thread_exit(value: Value<'_>) -> bool {
    let Some(callee) = value.called_value() else { return false };
    if callee.is_inline_asm() {
        return callee.asm_text().trim().trim_end_matches(';').trim() == "exit";
    }
    callee.is_function() && callee.name() == "llvm.nvvm.exit"
}

/// Returns whether an instruction is a block-wide barrier.
pub fn is_block_barrier(value: Value<'_>) -> bool {
    barrier(value) == Some(Barrier::Block)
}

/// Returns whether other threads can observe that an instruction was executed.
pub fn is_seen_by_others(value: Value<'_>) -> bool {
    match value.opcode() {
        Some(Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => true,
        Some(Opcode::LLVMCall) => {
            let name = value.callee_name();
            let silent = [Call::Nothing, Call::PassThrough, Call::Pure].contains(&classify(&name));
            let fence = ["llvm.nvvm.membar", "llvm.nvvm.fence"].iter().any(|prefix| name.starts_with(prefix));
            !(silent || fence || matches!(classify(&name), Call::Hook(_) | Call::Register(_)))
        }
        _ => false,
    }
}

/// Returns whether an instruction receives data of other threads: an atomic operation, or a volatile or acquiring load.
pub fn exchanges(value: Value<'_>) -> bool {
    match value.opcode() {
        Some(Opcode::LLVMCall) => match value.called_value() {
            Some(callee) if callee.is_inline_asm() => {
                let text = callee.asm_text();
                ["atom.", "ld.acquire", "ld.relaxed", "ld.volatile", "ld.global.acquire", "ld.global.relaxed"]
                    .iter()
                    .any(|part| text.contains(part))
            }
            Some(callee) => callee.is_intrinsic() && callee.name().starts_with("llvm.nvvm.atomic"),
            None => false,
        },
        _ => reads_from_others(value),
    }
}

/// Returns whether other threads may write the memory that an instruction reads at the same time.
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
                return ["ld.", "atom.", "_wait."].iter().any(|part| text.contains(part));
            }
            // A function of the module may read any memory; intrinsics other than atomics read only memory that does
            // not change.
            let name = callee.name();
            let waits = name.starts_with("llvm.nvvm.mbarrier.") && name.contains("_wait")
                || name.contains("mbarrier.test.wait");
            !callee.is_intrinsic() || name.starts_with("llvm.nvvm.atomic") || waits
        }
        _ => false,
    }
}
