//! Parts of modules as modules of their own.

use super::value::Value;
use inkwell::llvm_sys::core::{LLVMGetFirstGlobalAlias, LLVMGetFirstGlobalIFunc};
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

unsafe extern "C" {
    fn wl_clone_part(module: LLVMModuleRef, definitions: *mut LLVMValueRef, count: usize) -> LLVMModuleRef;
    fn wl_delete_body(function: LLVMValueRef);
}

/// Returns a copy of some functions and variables of a module as a module of the same context. What they refer to beyond
/// themselves is declared.
pub fn clone_part<'c>(module: &Module<'c>, definitions: &[Value<'c>]) -> Module<'c> {
    assert!(definitions.iter().all(|value| value.is_global()), "only functions and variables are defined in a module");
    let mut raw: Vec<_> = definitions.iter().map(|value| value.raw()).collect();
    // SAFETY: a live module, and an array that outlives the call, of globals (checked above). The shim hands over the
    // only owner: CloneModule returns a std::unique_ptr (llvm/Transforms/Utils/Cloning.h), which it releases. The
    // context is the old module's and outlives `'c`.
    unsafe { Module::new(wl_clone_part(module.as_mut_ptr(), raw.as_mut_ptr(), raw.len())) }
}

/// Returns whether a module has second names for its functions or variables, or functions that are chosen at start-up.
pub fn has_aliases(module: &Module<'_>) -> bool {
    // SAFETY: a live module; both return null at the end of a list.
    unsafe {
        let module = module.as_mut_ptr();
        !LLVMGetFirstGlobalAlias(module).is_null() || !LLVMGetFirstGlobalIFunc(module).is_null()
    }
}

impl<'c> Value<'c> {
    /// Turns a defined function into a declaration. Handles of its blocks and instructions must not be used again.
    pub fn delete_body(self) {
        assert!(self.is_function(), "{self} is no function");
        // SAFETY: a live function; Function::deleteBody (llvm/IR/Function.h) drops the references among its blocks
        // before it deletes them, and makes its linkage external.
        unsafe { wl_delete_body(self.raw()) }
    }
}
