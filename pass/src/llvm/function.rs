//! Functions and global variables.

use super::types::{Type, Types};
use super::value::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex};
use std::ffi::CStr;

// SAFETY (whole file): as in `value.rs`.

/// Attributes of the function itself, for [`Value::add_attribute`] and its kin. Parameter `n` is `n + 1`.
pub const OF_FUNCTION: LLVMAttributeIndex = LLVMAttributeFunctionIndex;

impl<'c> Value<'c> {
    /// Type of a function, global variable or alias, as opposed to the pointer that it is.
    pub fn value_type(self) -> Type<'c> {
        assert!(self.is_global(), "{self} is no global");
        Type::new(unsafe { LLVMGlobalGetValueType(self.raw()) })
    }

    /// Whether it is a function, global variable or alias.
    pub fn is_global(self) -> bool {
        !unsafe { LLVMIsAGlobalValue(self.raw()) }.is_null()
    }

    /// Whether a function or variable is only declared.
    pub fn is_declaration(self) -> bool {
        self.is_global() && unsafe { LLVMIsDeclaration(self.raw()) != 0 }
    }

    /// Parameters of a function.
    pub fn parameters(self) -> Vec<Value<'c>> {
        if !self.is_function() {
            return Vec::new();
        }
        (0..unsafe { LLVMCountParams(self.raw()) })
            .map(|index| Value::new(unsafe { LLVMGetParam(self.raw(), index) }))
            .collect()
    }

    /// Blocks of a function.
    pub fn blocks(self) -> Vec<Block<'c>> {
        let mut list = Vec::new();
        if self.is_function() {
            unsafe {
                let mut next = LLVMGetFirstBasicBlock(self.raw());
                while !next.is_null() {
                    list.push(Block::new(next));
                    next = LLVMGetNextBasicBlock(next);
                }
            }
        }
        list
    }

    /// Appends a block to a function.
    pub fn append_block(self, name: &str) -> Block<'c> {
        assert!(self.is_function(), "{self} is no function");
        let name = super::c_name(name);
        Block::new(unsafe { LLVMAppendBasicBlockInContext(self.types().raw(), self.raw(), name.as_ptr()) })
    }

    /// Adds a block to a function, before another; before the entry it becomes the entry.
    pub fn insert_block_before(self, block: Block<'c>, name: &str) -> Block<'c> {
        let name = super::c_name(name);
        Block::new(unsafe { LLVMInsertBasicBlockInContext(self.types().raw(), block.raw(), name.as_ptr()) })
    }

    /// Calling convention of a function or call.
    pub fn calling_convention(self) -> u32 {
        if self.is_function() {
            unsafe { LLVMGetFunctionCallConv(self.raw()) }
        } else if self.is_call() {
            unsafe { LLVMGetInstructionCallConv(self.raw()) }
        } else {
            0
        }
    }

    /// Sets the calling convention of a function; calls made by the builder take it over.
    pub fn set_calling_convention(self, convention: u32) {
        assert!(self.is_function(), "{self} is no function");
        unsafe { LLVMSetFunctionCallConv(self.raw(), convention) }
    }

    /// Whether a function is one of LLVM's intrinsics.
    pub fn is_intrinsic(self) -> bool {
        self.is_function() && unsafe { LLVMGetIntrinsicID(self.raw()) != 0 }
    }

    /// Linkage of a global.
    pub fn linkage(self) -> Linkage {
        unsafe { LLVMGetLinkage(self.raw()) }
    }

    /// Sets the linkage of a global.
    pub fn set_linkage(self, linkage: Linkage) {
        unsafe { LLVMSetLinkage(self.raw(), linkage) }
    }

    /// The section that a global is to lie in; empty if it has none.
    pub fn section(self) -> String {
        assert!(self.is_global(), "{self} is no global");
        let raw = unsafe { LLVMGetSection(self.raw()) };
        if raw.is_null() { String::new() } else { unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned() }
    }

    /// Puts a global where the linker puts its kind.
    pub fn clear_section(self) {
        assert!(self.is_global(), "{self} is no global");
        unsafe { LLVMSetSection(self.raw(), c"".as_ptr()) }
    }

    /// Sets the visibility of a global.
    pub fn set_visibility(self, visibility: Visibility) {
        unsafe { LLVMSetVisibility(self.raw(), visibility) }
    }

    /// Whether it is visible inside the module only.
    pub fn is_local(self) -> bool {
        matches!(self.linkage(), Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage)
    }

    /// Value of a string attribute of a function.
    pub fn string_attribute(self, key: &str) -> Option<String> {
        if !self.is_function() {
            return None;
        }
        unsafe {
            let raw = LLVMGetStringAttributeAtIndex(self.raw(), OF_FUNCTION, key.as_ptr().cast(), key.len() as u32);
            if raw.is_null() {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetStringAttributeValue(raw, &mut length);
            Some(super::copy_text(text, length as usize))
        }
    }

    /// Sets a string attribute of a function.
    pub fn set_string_attribute(self, key: &str, value: &str) {
        assert!(self.is_function(), "{self} is no function");
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
        assert!(self.is_function(), "{self} is no function");
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            assert!(kind != 0, "LLVM has no attribute {name}");
            LLVMAddAttributeAtIndex(self.raw(), index, LLVMCreateEnumAttribute(self.types().raw(), kind, value));
        }
    }

    /// Takes an attribute away, if it is there.
    pub fn remove_attribute(self, index: LLVMAttributeIndex, name: &str) {
        assert!(self.is_function(), "{self} is no function");
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMRemoveEnumAttributeAtIndex(self.raw(), index, kind);
        }
    }

    /// Whether a function, or one of its parameters, has the attribute.
    pub fn has_attribute(self, index: LLVMAttributeIndex, name: &str) -> bool {
        self.is_function()
            && unsafe {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                kind != 0 && !LLVMGetEnumAttributeAtIndex(self.raw(), index, kind).is_null()
            }
    }

    /// Type of a type attribute such as `byval` of a function's parameter.
    pub fn type_attribute(self, index: LLVMAttributeIndex, name: &str) -> Option<Type<'c>> {
        if !self.is_function() {
            return None;
        }
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let raw = LLVMGetEnumAttributeAtIndex(self.raw(), index, kind);
            (!raw.is_null()).then(|| Type::new(LLVMGetTypeAttributeValue(raw)))
        }
    }

    /// Number of an attribute such as `align` of a function's parameter.
    pub fn int_attribute(self, index: LLVMAttributeIndex, name: &str) -> Option<u64> {
        if !self.is_function() {
            return None;
        }
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let raw = LLVMGetEnumAttributeAtIndex(self.raw(), index, kind);
            (!raw.is_null()).then(|| LLVMGetEnumAttributeValue(raw))
        }
    }

    /// Initialiser of a variable.
    pub fn initializer(self) -> Option<Value<'c>> {
        if !self.is_global_variable() {
            return None;
        }
        Value::maybe(unsafe { LLVMGetInitializer(self.raw()) })
    }

    /// Sets the initialiser of a variable.
    pub fn set_initializer(self, value: Value<'c>) {
        assert!(self.is_global_variable(), "{self} is no variable");
        unsafe { LLVMSetInitializer(self.raw(), value.raw()) }
    }

    /// Marks a variable as constant.
    pub fn set_constant(self, constant: bool) {
        assert!(self.is_global_variable(), "{self} is no variable");
        unsafe { LLVMSetGlobalConstant(self.raw(), constant as i32) }
    }

    /// Whether a variable is constant.
    pub fn is_constant_variable(self) -> bool {
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.raw()) != 0 }
    }

    /// Whether a variable is written from outside before the program runs.
    pub fn is_externally_initialized(self) -> bool {
        self.is_global_variable() && unsafe { LLVMIsExternallyInitialized(self.raw()) != 0 }
    }

    /// Address space of a global.
    pub fn address_space(self) -> u32 {
        match self.ty().kind() {
            super::types::Kind::Pointer(space) => space,
            _ => 0,
        }
    }

    /// Deletes a variable or function without users.
    pub fn delete_global(self) {
        if self.is_global_variable() {
            unsafe { LLVMDeleteGlobal(self.raw()) }
        } else if self.is_function() {
            unsafe { LLVMDeleteFunction(self.raw()) }
        }
    }
}

/// Functions and variables of a module.
pub trait ModuleItems<'c> {
    /// All functions, declarations too.
    fn functions(&self) -> Vec<Value<'c>>;
    /// All variables.
    fn variables(&self) -> Vec<Value<'c>>;
    /// The function of this name.
    fn function(&self, name: &str) -> Option<Value<'c>>;
    /// The variable of this name.
    fn variable(&self, name: &str) -> Option<Value<'c>>;
    /// Adds a function. LLVM appends a number where the name is taken.
    fn new_function(&self, name: &str, ty: Type<'c>) -> Value<'c>;
    /// The function of this name, declared if it is not there.
    fn declare(&self, name: &str, ty: Type<'c>) -> Value<'c>;
    /// Adds a variable without initialiser.
    fn new_variable(&self, name: &str, ty: Type<'c>, space: u32) -> Value<'c>;
    /// The declaration of an intrinsic, by base name and overloaded types.
    fn intrinsic(&self, name: &str, overloads: &[Type<'c>]) -> Value<'c>;
    /// Types of the module's context.
    fn types(&self) -> Types<'c>;
}

impl<'c> ModuleItems<'c> for inkwell::module::Module<'c> {
    fn functions(&self) -> Vec<Value<'c>> {
        let mut list = Vec::new();
        unsafe {
            let mut next = LLVMGetFirstFunction(self.as_mut_ptr());
            while !next.is_null() {
                list.push(Value::new(next));
                next = LLVMGetNextFunction(next);
            }
        }
        list
    }

    fn variables(&self) -> Vec<Value<'c>> {
        let mut list = Vec::new();
        unsafe {
            let mut next = LLVMGetFirstGlobal(self.as_mut_ptr());
            while !next.is_null() {
                list.push(Value::new(next));
                next = LLVMGetNextGlobal(next);
            }
        }
        list
    }

    fn function(&self, name: &str) -> Option<Value<'c>> {
        Value::maybe(unsafe { LLVMGetNamedFunctionWithLength(self.as_mut_ptr(), name.as_ptr().cast(), name.len()) })
    }

    fn variable(&self, name: &str) -> Option<Value<'c>> {
        Value::maybe(unsafe { LLVMGetNamedGlobalWithLength(self.as_mut_ptr(), name.as_ptr().cast(), name.len()) })
    }

    fn new_function(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        let name = super::c_name(name);
        Value::new(unsafe { LLVMAddFunction(self.as_mut_ptr(), name.as_ptr(), ty.raw()) })
    }

    fn declare(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        self.function(name).unwrap_or_else(|| self.new_function(name, ty))
    }

    fn new_variable(&self, name: &str, ty: Type<'c>, space: u32) -> Value<'c> {
        let name = super::c_name(name);
        Value::new(unsafe { LLVMAddGlobalInAddressSpace(self.as_mut_ptr(), ty.raw(), name.as_ptr(), space) })
    }

    fn intrinsic(&self, name: &str, overloads: &[Type<'c>]) -> Value<'c> {
        let mut raw: Vec<_> = overloads.iter().map(|ty| ty.raw()).collect();
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            assert!(id != 0, "LLVM has no intrinsic {name}");
            Value::new(LLVMGetIntrinsicDeclaration(self.as_mut_ptr(), id, raw.as_mut_ptr(), raw.len()))
        }
    }

    fn types(&self) -> Types<'c> {
        Types::new(&self.get_context())
    }
}
