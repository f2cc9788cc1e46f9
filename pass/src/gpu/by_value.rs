//! Parameters passed by value. Preparation has lowered them once already: what reads one reads parameter space, by way
//! of a call of `llvm.nvvm.internal.addrspace.wrap` on it. The code generator lowers them again, takes that call for an
//! escape (LLVM 22, NVPTXLowerArgs.cpp, `ArgUseChecker` handles casts to parameter space, but no such calls), makes the
//! parameter's generic address, and `ld.param` reads from there what is not the parameter. As casts it leaves them
//! alone.

use crate::llvm::value::Opcode;
use crate::llvm::{Builder, ModuleItems};
use inkwell::module::Module;

const WRAP: &str = "llvm.nvvm.internal.addrspace.wrap";

/// Makes a cast of each such call. To be done to a copy: the CPU lowering needs the calls.
pub fn cast(module: &Module<'_>) {
    let functions = module.functions();
    let instructions =
        functions.into_iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions());
    for call in instructions.filter(|instruction| instruction.callee_name().starts_with(WRAP)).collect::<Vec<_>>() {
        let builder = Builder::new(ModuleItems::types(module));
        builder.before(call);
        call.replace_all_uses_with(builder.cast(Opcode::LLVMAddrSpaceCast, call.operand(0), call.ty()));
        call.erase();
    }
}
