//! Copies of functions, and operations that are needed to link modules.

use super::function::OF_FUNCTION;
use super::types::Type;
use super::value::Value;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::ffi::c_char;

unsafe extern "C" {
    fn wl_clone_with_parameters(
        function: LLVMValueRef,
        name: *const c_char,
        types: *mut LLVMTypeRef,
        count: usize,
    ) -> LLVMValueRef;
}

impl<'c> Value<'c> {
    /// Returns a copy of a function in its module, with more parameters at the end. Calls in the copy, including
    /// recursive calls, still refer to the original functions.
    pub fn clone_with_parameters(self, name: &str, further: &[Type<'c>]) -> Value<'c> {
        assert!(self.is_function() && !self.is_declaration(), "{self} has no body");
        let name = super::text::c_name(name);
        let mut types: Vec<_> = further.iter().map(|ty| ty.raw()).collect();
        // SAFETY: the function is defined in a live module; the array outlives the call.
        unsafe { Value::from_raw(wl_clone_with_parameters(self.raw(), name.as_ptr(), types.as_mut_ptr(), types.len())) }
    }

    /// Removes a string attribute from a function.
    pub fn remove_string_attribute(self, key: &str) {
        assert!(self.is_function(), "{self} is not a function");
        // SAFETY: the value is a function, as checked above; the key is passed as pointer and length.
        unsafe { LLVMRemoveStringAttributeAtIndex(self.raw(), OF_FUNCTION, key.as_ptr().cast(), key.len() as u32) }
    }

    /// Copies another call's attributes of the complete call, such as `convergent`.
    pub fn take_call_effects(self, from: Value<'c>) {
        assert!(self.is_call() && from.is_call(), "{self} or {from} is not a call");
        // SAFETY: both are calls; the array has the length that LLVM requires.
        unsafe {
            let count = LLVMGetCallSiteAttributeCount(from.raw(), OF_FUNCTION) as usize;
            let mut attributes = vec![std::ptr::null_mut(); count];
            LLVMGetCallSiteAttributes(from.raw(), OF_FUNCTION, attributes.as_mut_ptr());
            for attribute in attributes {
                LLVMAddCallSiteAttribute(self.raw(), OF_FUNCTION, attribute);
            }
        }
    }

    /// Copies the calling convention and the attributes of another call: those of the call, of its result, and of the
    /// arguments that both calls have.
    pub fn copy_call_attributes(self, from: Value<'c>) {
        assert!(self.is_call() && from.is_call(), "{self} or {from} is not a call");
        // SAFETY: both are calls; the arrays have the lengths that LLVM requires, and this call has every argument that
        // `from` has.
        unsafe {
            LLVMSetInstructionCallConv(self.raw(), LLVMGetInstructionCallConv(from.raw()));
            let places = (0..=LLVMGetNumArgOperands(from.raw())).chain([OF_FUNCTION]);
            for place in places {
                let mut attributes =
                    vec![std::ptr::null_mut(); LLVMGetCallSiteAttributeCount(from.raw(), place) as usize];
                LLVMGetCallSiteAttributes(from.raw(), place, attributes.as_mut_ptr());
                for attribute in attributes {
                    LLVMAddCallSiteAttribute(self.raw(), place, attribute);
                }
            }
        }
    }
}
