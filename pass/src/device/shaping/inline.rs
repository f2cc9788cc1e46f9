//! Inlines functions of the headers of the toolkit and of the compiler in code that is not optimised.

use crate::device::rows::table::lies_in;
use crate::ir::kernel::is_kernel;
use crate::llvm::debug::Scope;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;

/// The maximum number of instructions of a function that is inlined without optimisation. Functions that correspond to
/// one GPU instruction in nvcc have far fewer.
const LONGEST: usize = 200;

/// Inlines functions that system headers define, even if nothing else is inlined: `atomicAdd` is such a function, but
/// it is an instruction for nvcc, even with `-G`. Its access belongs to the line with the call, which is only the case
/// if it is inlined.
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

/// Returns whether a function has a short body and does not call itself.
fn is_short(function: Value<'_>) -> bool {
    let instructions: Vec<_> = function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
    let calls_itself = instructions.iter().any(|one| one.direct_callee() == Some(function));
    !instructions.is_empty() && instructions.len() <= LONGEST && !calls_itself
}
