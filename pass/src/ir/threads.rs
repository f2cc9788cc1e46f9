//! The effects of instructions on other threads.

use super::barrier::{Barrier, barrier};
use super::class::{Call, classify};
use super::space;
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

/// Beginnings of PTX instructions with an effect on other blocks, or whose result depends on them.
const SHARED_INSTRUCTIONS: [&str; 10] =
    ["atom", "red", "membar", "fence", "mbarrier", "barrier", "bar.", "cp.", "griddepcontrol", "nanosleep"];

/// Parts of PTX instructions and registers that show the same.
const SHARED_PARTS: [&str; 6] = ["volatile", "acquire", "release", "relaxed", "clock", "globaltimer"];

/// Returns whether an instruction passes data between blocks other than by a plain access to memory, depends on when
/// other blocks run, or uses state of the runtime that all blocks share. Such an instruction prevents blocks from
/// running at the same time on several host threads.
pub fn involves_other_blocks(value: Value<'_>) -> bool {
    let is_of_block = |pointer: Value<'_>| [space::SHARED, space::LOCAL].contains(&pointer.address_space());
    let is_plain =
        || !value.is_volatile() && value.ordering().is_none_or(|order| order == Ordering::LLVMAtomicOrderingNotAtomic);
    match value.opcode() {
        Some(Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) if is_of_block(value.operand(0)) => {
            false
        }
        Some(Opcode::LLVMStore) if is_of_block(value.operand(1)) => false,
        Some(Opcode::LLVMLoad | Opcode::LLVMStore) => !is_plain(),
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMFence) => true,
        Some(Opcode::LLVMCall) => call_involves_other_blocks(value),
        _ => false,
    }
}

fn call_involves_other_blocks(call: Value<'_>) -> bool {
    let Some(callee) = call.called_value() else { return true };
    if callee.is_inline_asm() {
        let text = callee.asm_text();
        let mut words = text.split(|letter: char| letter.is_whitespace() || matches!(letter, ';' | '{' | '}'));
        let starts = |word: &str| SHARED_INSTRUCTIONS.iter().any(|start| word.starts_with(start));
        return words.any(starts) || SHARED_PARTS.iter().any(|part| text.contains(part));
    }
    if !callee.is_function() {
        // The functions that it may call are analysed.
        return false;
    }
    let name = callee.name();
    match classify(&name) {
        Call::Register(_) => name.contains("clock") || name.contains("timer"),
        Call::Hook(_) | Call::Nothing | Call::PassThrough | Call::Pure | Call::WarpWide => false,
        Call::Other if is_block_barrier(call) => false,
        // These are plain accesses, as `llvm.memcpy` and `llvm.masked.load`.
        Call::Other if name.starts_with("llvm.mem") || name.starts_with("llvm.masked.") => false,
        Call::Other => callee.is_declaration(),
    }
}
