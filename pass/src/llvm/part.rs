//! Copies parts of modules to separate modules.

use super::value::Value;
use inkwell::llvm_sys::core::{LLVMGetFirstGlobalAlias, LLVMGetFirstGlobalIFunc};
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

unsafe extern "C" {
    fn wl_clone_part(module: LLVMModuleRef, definitions: *mut LLVMValueRef, count: usize) -> LLVMModuleRef;
    fn wl_delete_body(function: LLVMValueRef);
}

/// Returns a copy of some functions and variables of a module as a module in the same context. Other functions and
/// variables to which they refer are declared.
pub fn clone_part<'c>(module: &Module<'c>, definitions: &[Value<'c>]) -> Module<'c> {
    assert!(definitions.iter().all(|value| value.is_global()), "only functions and variables are defined in a module");
    let mut raw: Vec<_> = definitions.iter().map(|value| value.raw()).collect();
    // SAFETY: the module is live, the array outlives the call, and its elements are globals, as checked above. The shim
    // passes the only ownership: CloneModule returns a std::unique_ptr (llvm/Transforms/Utils/Cloning.h), which the
    // shim releases. The context belongs to the old module and outlives `'c`.
    unsafe { Module::new(wl_clone_part(module.as_mut_ptr(), raw.as_mut_ptr(), raw.len())) }
}

/// Returns whether a module has aliases of functions or variables, or functions that are selected at start-up.
pub fn has_aliases(module: &Module<'_>) -> bool {
    // SAFETY: the module is live; both functions return null at the end of a list.
    unsafe {
        let module = module.as_mut_ptr();
        !LLVMGetFirstGlobalAlias(module).is_null() || !LLVMGetFirstGlobalIFunc(module).is_null()
    }
}

impl<'c> Value<'c> {
    /// Turns a defined function into a declaration. Handles of its blocks and instructions must not be used again.
    pub fn delete_body(self) {
        assert!(self.is_function(), "{self} is not a function");
        // SAFETY: the function is live; Function::deleteBody (llvm/IR/Function.h) drops the references among its blocks
        // before it deletes them, and makes its linkage external.
        unsafe { wl_delete_body(self.raw()) }
    }
}
