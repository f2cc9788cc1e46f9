//! Functions of the toolkit's and the compiler's headers in code that is not optimised.

use crate::device::rows::table::lies_in;
use crate::ir::kernel::is_kernel;
use crate::llvm::debug::Scope;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;

/// Instructions of a function that is still inlined, without optimisation. Of what an instruction of the GPU is to nvcc, none
/// has nearly as many.
const LONGEST: usize = 200;

/// Has functions that system headers define inlined where nothing else is: `atomicAdd` is such a function, and an instruction
/// for nvcc, also with `-G`. What it does belongs to the line that calls it, which only inlining leaves with its access.
pub fn inline_headers(module: &Module<'_>, system_folders: &[String]) {
    for function in module.functions() {
        let file = Scope::of_function(function).and_then(Scope::path).unwrap_or_default();
        let system = system_folders.iter().any(|folder| lies_in(&file, folder));
        if !system || is_kernel(function) || !is_short(function) {
            continue;
        }
        for attribute in ["noinline", "optnone"] {
            function.remove_attribute(OF_FUNCTION, attribute);
        }
        function.add_attribute(OF_FUNCTION, "alwaysinline", 0);
    }
}

/// Returns whether a function has code of its own, not much of it, and does not call itself.
fn is_short(function: Value<'_>) -> bool {
    let instructions: Vec<_> = function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
    let calls_itself = instructions.iter().any(|one| one.direct_callee() == Some(function));
    !instructions.is_empty() && instructions.len() <= LONGEST && !calls_itself
}
