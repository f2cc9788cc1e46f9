//! Functions and global variables.

use super::types::{Kind, Type, Types};
use super::value::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex};
use std::ffi::CStr;

/// The index for attributes of the function itself, for [`Value::add_attribute`] and similar functions. Parameter `n`
/// has the index `n + 1`.
pub const OF_FUNCTION: LLVMAttributeIndex = LLVMAttributeFunctionIndex;

impl<'c> Value<'c> {
    /// Returns the type of a function, global variable or alias, as opposed to its pointer type.
    pub fn value_type(self) -> Type<'c> {
        assert!(self.is_global(), "{self} is not a global");
        // SAFETY: a global, checked above.
        unsafe { Type::from_raw(LLVMGlobalGetValueType(self.raw())) }
    }

    /// Returns whether the value is a function, global variable or alias.
    pub fn is_global(self) -> bool {
        // SAFETY: the value is live, and LLVM supports this query for every value.
        !unsafe { LLVMIsAGlobalValue(self.raw()) }.is_null()
    }

    /// Returns whether a function or variable is only declared.
    pub fn is_declaration(self) -> bool {
        // SAFETY: a global, checked in the condition.
        self.is_global() && unsafe { LLVMIsDeclaration(self.raw()) != 0 }
    }

    /// Returns the parameters of a function.
    pub fn parameters(self) -> Vec<Value<'c>> {
        if !self.is_function() {
            return Vec::new();
        }
        // SAFETY: a function, checked above; there is a parameter for every index below the count.
        (0..unsafe { LLVMCountParams(self.raw()) })
            // SAFETY: the function has this parameter.
            .map(|index| unsafe { Value::from_raw(LLVMGetParam(self.raw(), index)) })
            .collect()
    }

    /// Returns the blocks of a function.
    pub fn blocks(self) -> Vec<Block<'c>> {
        let mut list = Vec::new();
        if self.is_function() {
            // SAFETY: the value is a function, as checked above; the list ends with null, and does not change during
            // the loop.
            unsafe {
                let mut next = LLVMGetFirstBasicBlock(self.raw());
                while !next.is_null() {
                    list.push(Block::from_raw(next));
                    next = LLVMGetNextBasicBlock(next);
                }
            }
        }
        list
    }

    /// Appends a block to a function.
    pub fn append_block(self, name: &str) -> Block<'c> {
        assert!(self.is_function(), "{self} is not a function");
        let name = super::text::c_name(name);
        // SAFETY: a function, checked above; the name is zero-terminated.
        unsafe { Block::from_raw(LLVMAppendBasicBlockInContext(self.types().raw(), self.raw(), name.as_ptr())) }
    }

    /// Inserts a block in a function before another block. A block before the entry becomes the new entry.
    pub fn insert_block_before(self, block: Block<'c>, name: &str) -> Block<'c> {
        let name = super::text::c_name(name);
        // SAFETY: a live block; the name is zero-terminated.
        unsafe { Block::from_raw(LLVMInsertBasicBlockInContext(self.types().raw(), block.raw(), name.as_ptr())) }
    }

    /// Returns the calling convention of a function or call.
    pub fn calling_convention(self) -> u32 {
        if self.is_function() {
            // SAFETY: a function, checked in the condition.
            unsafe { LLVMGetFunctionCallConv(self.raw()) }
        } else if self.is_call() {
            // SAFETY: a call, checked in the condition.
            unsafe { LLVMGetInstructionCallConv(self.raw()) }
        } else {
            0
        }
    }

    /// Sets the calling convention of a function; calls that the builder creates use it.
    pub fn set_calling_convention(self, convention: u32) {
        assert!(self.is_function(), "{self} is not a function");
        // SAFETY: a function, checked above.
        unsafe { LLVMSetFunctionCallConv(self.raw(), convention) }
    }

    /// Returns whether a function is one of LLVM's intrinsics.
    pub fn is_intrinsic(self) -> bool {
        // SAFETY: a function, checked in the condition.
        self.is_function() && unsafe { LLVMGetIntrinsicID(self.raw()) != 0 }
    }

    /// Returns the linkage of a global.
    pub fn linkage(self) -> Linkage {
        assert!(self.is_global(), "{self} is not a global");
        // SAFETY: a global, checked above.
        unsafe { LLVMGetLinkage(self.raw()) }
    }

    /// Sets the linkage of a global.
    pub fn set_linkage(self, linkage: Linkage) {
        assert!(self.is_global(), "{self} is not a global");
        // SAFETY: a global, checked above.
        unsafe { LLVMSetLinkage(self.raw(), linkage) }
    }

    /// Returns the section of a global; empty if it has none.
    pub fn section(self) -> String {
        assert!(self.is_global(), "{self} is not a global");
        // SAFETY: a global, checked above.
        let raw = unsafe { LLVMGetSection(self.raw()) };
        // SAFETY: LLVM's text ends with zero and is copied immediately.
        if raw.is_null() { String::new() } else { unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned() }
    }

    /// Removes the section of a global, so that the linker uses the default section.
    pub fn clear_section(self) {
        assert!(self.is_function() || self.is_global_variable(), "{self} has no section");
        // SAFETY: a global object, checked above; the text ends with zero.
        unsafe { LLVMSetSection(self.raw(), c"".as_ptr()) }
    }

    /// Sets the visibility of a global.
    pub fn set_visibility(self, visibility: Visibility) {
        assert!(self.is_global(), "{self} is not a global");
        // SAFETY: a global, checked above.
        unsafe { LLVMSetVisibility(self.raw(), visibility) }
    }

    /// Returns whether the global is visible only inside the module.
    pub fn is_local(self) -> bool {
        matches!(self.linkage(), Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage)
    }

    /// Returns the value of a string attribute of a function.
    pub fn string_attribute(self, key: &str) -> Option<String> {
        if !self.is_function() {
            return None;
        }
        // SAFETY: the value is a function, as checked above; texts are passed as pointer and length, and the result is
        // copied immediately.
        unsafe {
            let raw = LLVMGetStringAttributeAtIndex(self.raw(), OF_FUNCTION, key.as_ptr().cast(), key.len() as u32);
            if raw.is_null() {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetStringAttributeValue(raw, &mut length);
            Some(super::text::copy_text(text, length as usize))
        }
    }

    /// Sets a string attribute of a function.
    pub fn set_string_attribute(self, key: &str, value: &str) {
        assert!(self.is_function(), "{self} is not a function");
        // SAFETY: a function, checked above; texts are passed as pointer and length, and copied.
        unsafe {
            let raw = LLVMCreateStringAttribute(
                self.types().raw(),
                key.as_ptr().cast(),
                key.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.raw(), OF_FUNCTION, raw);
        }
    }

    /// Adds an attribute such as `nounwind` or, with a number, `align` to a function (see [`OF_FUNCTION`]) or one
    /// of its parameters.
    pub fn add_attribute(self, index: LLVMAttributeIndex, name: &str, value: u64) {
        assert!(self.is_function(), "{self} is not a function");
        // SAFETY: the value is a function, as checked above; the attribute is created in its context, after its kind
        // was found.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            assert!(kind != 0, "LLVM has no attribute {name}");
            LLVMAddAttributeAtIndex(self.raw(), index, LLVMCreateEnumAttribute(self.types().raw(), kind, value));
        }
    }

    /// Removes an attribute, if it exists.
    pub fn remove_attribute(self, index: LLVMAttributeIndex, name: &str) {
        assert!(self.is_function(), "{self} is not a function");
        // SAFETY: a function, checked above; the name is passed as pointer and length.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMRemoveEnumAttributeAtIndex(self.raw(), index, kind);
        }
    }

    /// Returns whether a function, or one of its parameters, has the attribute.
    pub fn has_attribute(self, index: LLVMAttributeIndex, name: &str) -> bool {
        self.is_function()
            // SAFETY: the value is a function, as checked in the condition; kind 0 is not queried.
            && unsafe {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                kind != 0 && !LLVMGetEnumAttributeAtIndex(self.raw(), index, kind).is_null()
            }
    }

    /// Returns the type of a type attribute such as `byval` of a function's parameter.
    pub fn type_attribute(self, index: LLVMAttributeIndex, name: &str) -> Option<Type<'c>> {
        if !self.is_function() {
            return None;
        }
        // SAFETY: a function, checked above; only an existing attribute's type is read.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let raw = LLVMGetEnumAttributeAtIndex(self.raw(), index, kind);
            (!raw.is_null()).then(|| Type::from_raw(LLVMGetTypeAttributeValue(raw)))
        }
    }

    /// Returns the number of an attribute such as `align` of a function's parameter.
    pub fn int_attribute(self, index: LLVMAttributeIndex, name: &str) -> Option<u64> {
        if !self.is_function() {
            return None;
        }
        // SAFETY: a function, checked above; only an existing attribute's number is read.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let raw = LLVMGetEnumAttributeAtIndex(self.raw(), index, kind);
            (!raw.is_null()).then(|| LLVMGetEnumAttributeValue(raw))
        }
    }

    /// Returns the initialiser of a variable.
    pub fn initializer(self) -> Option<Value<'c>> {
        if !self.is_global_variable() {
            return None;
        }
        // SAFETY: the value is a variable, as checked above; the result is null if it has no initialiser.
        unsafe { Value::from_nullable(LLVMGetInitializer(self.raw())) }
    }

    /// Sets the initialiser of a variable.
    pub fn set_initializer(self, value: Value<'c>) {
        assert!(self.is_global_variable(), "{self} is not a variable");
        // SAFETY: a variable, checked above, and a live value.
        unsafe { LLVMSetInitializer(self.raw(), value.raw()) }
    }

    /// Marks a variable as constant.
    pub fn set_constant(self, constant: bool) {
        assert!(self.is_global_variable(), "{self} is not a variable");
        // SAFETY: a variable, checked above.
        unsafe { LLVMSetGlobalConstant(self.raw(), constant as i32) }
    }

    /// Returns whether a variable is constant.
    pub fn is_constant_variable(self) -> bool {
        // SAFETY: a variable, checked in the condition.
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.raw()) != 0 }
    }

    /// Returns whether a variable is written from outside before the program runs.
    pub fn is_externally_initialized(self) -> bool {
        // SAFETY: a variable, checked in the condition.
        self.is_global_variable() && unsafe { LLVMIsExternallyInitialized(self.raw()) != 0 }
    }

    /// Returns the address space of a global.
    pub fn address_space(self) -> u32 {
        match self.ty().kind() {
            Kind::Pointer(space) => space,
            _ => 0,
        }
    }

    /// Deletes a variable or function that has no users.
    pub fn delete_global(self) {
        if self.is_global_variable() {
            // SAFETY: a variable, checked in the condition, that is not used again.
            unsafe { LLVMDeleteGlobal(self.raw()) }
        } else if self.is_function() {
            // SAFETY: a function, checked in the condition, that is not used again.
            unsafe { LLVMDeleteFunction(self.raw()) }
        }
    }
}

/// The functions and variables of a module.
pub trait ModuleItems<'c> {
    /// Returns all functions, including declarations.
    fn functions(&self) -> Vec<Value<'c>>;
    /// Returns all variables.
    fn variables(&self) -> Vec<Value<'c>>;
    /// Returns the function with this name.
    fn function(&self, name: &str) -> Option<Value<'c>>;
    /// Returns the variable with this name.
    fn variable(&self, name: &str) -> Option<Value<'c>>;
    /// Adds a function. LLVM appends a number if the name is already used.
    fn new_function(&self, name: &str, ty: Type<'c>) -> Value<'c>;
    /// Returns the function with this name, and declares it if it does not exist.
    fn declare(&self, name: &str, ty: Type<'c>) -> Value<'c>;
    /// Adds a variable without an initialiser.
    fn new_variable(&self, name: &str, ty: Type<'c>, space: u32) -> Value<'c>;
    /// Returns the declaration of an intrinsic, by base name and overloaded types.
    fn intrinsic(&self, name: &str, overloads: &[Type<'c>]) -> Value<'c>;
    /// Returns the types of the module's context.
    fn types(&self) -> Types<'c>;
}

impl<'c> ModuleItems<'c> for inkwell::module::Module<'c> {
    fn functions(&self) -> Vec<Value<'c>> {
        let mut list = Vec::new();
        // SAFETY: the module is live; the list ends with null, and does not change during the loop.
        unsafe {
            let mut next = LLVMGetFirstFunction(self.as_mut_ptr());
            while !next.is_null() {
                list.push(Value::from_raw(next));
                next = LLVMGetNextFunction(next);
            }
        }
        list
    }

    fn variables(&self) -> Vec<Value<'c>> {
        let mut list = Vec::new();
        // SAFETY: the module is live; the list ends with null, and does not change during the loop.
        unsafe {
            let mut next = LLVMGetFirstGlobal(self.as_mut_ptr());
            while !next.is_null() {
                list.push(Value::from_raw(next));
                next = LLVMGetNextGlobal(next);
            }
        }
        list
    }

    fn function(&self, name: &str) -> Option<Value<'c>> {
        // SAFETY: the module is live; the name is passed as pointer and length, and null means that no such function
        // exists.
        unsafe {
            Value::from_nullable(LLVMGetNamedFunctionWithLength(self.as_mut_ptr(), name.as_ptr().cast(), name.len()))
        }
    }

    fn variable(&self, name: &str) -> Option<Value<'c>> {
        // SAFETY: the module is live; the name is passed as pointer and length, and null means that no such variable
        // exists.
        unsafe {
            Value::from_nullable(LLVMGetNamedGlobalWithLength(self.as_mut_ptr(), name.as_ptr().cast(), name.len()))
        }
    }

    fn new_function(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        assert_eq!(ty.kind(), Kind::Function, "{ty} is not a function type");
        let name = super::text::c_name(name);
        // SAFETY: a live module and a function type, checked above; the name is zero-terminated.
        unsafe { Value::from_raw(LLVMAddFunction(self.as_mut_ptr(), name.as_ptr(), ty.raw())) }
    }

    fn declare(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        self.function(name).unwrap_or_else(|| self.new_function(name, ty))
    }

    fn new_variable(&self, name: &str, ty: Type<'c>, space: u32) -> Value<'c> {
        let name = super::text::c_name(name);
        // SAFETY: a live module and type; the name is zero-terminated.
        unsafe { Value::from_raw(LLVMAddGlobalInAddressSpace(self.as_mut_ptr(), ty.raw(), name.as_ptr(), space)) }
    }

    fn intrinsic(&self, name: &str, overloads: &[Type<'c>]) -> Value<'c> {
        let mut raw: Vec<_> = overloads.iter().map(|ty| ty.raw()).collect();
        // SAFETY: the module is live; the number is checked before its use, and the array outlives the call.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            assert!(id != 0, "LLVM has no intrinsic {name}");
            Value::from_raw(LLVMGetIntrinsicDeclaration(self.as_mut_ptr(), id, raw.as_mut_ptr(), raw.len()))
        }
    }

    fn types(&self) -> Types<'c> {
        Types::new(&self.get_context())
    }
}
