//! Functions whose atomic operations may order other accesses.

use std::collections::HashSet;

use crate::device::accesses::assembly;
use crate::ir::kernel::is_kernel;
use crate::llvm::Value;
use crate::llvm::value::Opcode;

/// Returns the functions with a memory fence. An atomic operation of CUDA is relaxed: without a fence, it orders no
/// other access (CUDA C++ Programming Guide, "Memory Fence Functions"). A fence in a called function may be intended
/// for every caller.
pub(in crate::device) fn fencing<'c>(functions: &[Value<'c>]) -> HashSet<Value<'c>> {
    let with_fence =
        |function: &Value<'c>| function.blocks().iter().any(|block| block.instructions().into_iter().any(is_fence));
    let found: HashSet<_> = functions.iter().copied().filter(with_fence).collect();
    if found.iter().any(|&function| !is_kernel(function)) {
        return functions.iter().copied().collect();
    }
    found
}

/// Returns whether an instruction is a fence, or an access that acquires or releases.
fn is_fence(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMFence) => true,
        Some(Opcode::LLVMCall) => match instruction.called_value() {
            Some(callee) if callee.is_inline_asm() => {
                assembly::statements(&callee.asm_text()).iter().any(|statement| orders(assembly::opcode(statement)))
            }
            _ => {
                let name = instruction.callee_name();
                ["llvm.nvvm.membar", "llvm.nvvm.fence"].iter().any(|prefix| name.starts_with(prefix))
            }
        },
        _ => false,
    }
}

fn orders(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    let is_fence = matches!(parts.next(), Some("fence" | "membar"));
    is_fence || parts.any(|part| matches!(part, "acquire" | "release" | "acq_rel"))
}
