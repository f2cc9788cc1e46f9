//! Parameters passed by value. The preparation has already lowered them: a read of such a parameter reads parameter
//! space, through a call of `llvm.nvvm.internal.addrspace.wrap`. The code generator lowers the parameters again and
//! treats this call as an escape: in LLVM 22 (NVPTXLowerArgs.cpp), `ArgUseChecker` handles casts to parameter space but
//! not such calls. It then creates the parameter's generic address, and `ld.param` reads from this address, which is
//! wrong. If the calls are casts, the code generator does not change them.

use crate::llvm::value::Opcode;
use crate::llvm::{Builder, ModuleItems};
use inkwell::module::Module;

const WRAP: &str = "llvm.nvvm.internal.addrspace.wrap";

/// Converts each such call to a cast. This must be done in a copy, because the CPU lowering needs the calls.
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
