//! Types.

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMOffsetOfElement, LLVMStoreSizeOfType};
use std::marker::PhantomData;

/// A type. `raw` is live and belongs to the context `'c`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type<'c> {
    raw: LLVMTypeRef,
    context: PhantomData<&'c Context>,
}

/// The kind of a [`Type`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// No value.
    Void,
    /// An integer of this many bits.
    Int(u32),
    /// 16-bit IEEE float.
    Half,
    /// 16-bit brain float.
    BFloat,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// A pointer in this address space.
    Pointer(u32),
    /// A vector of this many elements.
    Vector(u32),
    /// An array of this many elements.
    Array(u64),
    /// Structure.
    Struct,
    /// Function.
    Function,
    /// Any other type (label, token, metadata, …).
    Other,
}

/// The types of a context.
#[derive(Clone, Copy)]
pub struct Types<'c> {
    raw: LLVMContextRef,
    context: PhantomData<&'c Context>,
}

impl<'c> Types<'c> {
    /// Returns the types of `context`.
    pub fn new(context: &(impl AsContextRef<'c> + ?Sized)) -> Self {
        Types { raw: context.as_ctx_ref(), context: PhantomData }
    }

    /// Returns the types of the context to which `ty` belongs.
    pub fn from_type(ty: Type<'c>) -> Self {
        // SAFETY: `ty` is a live type.
        Types { raw: unsafe { LLVMGetTypeContext(ty.raw) }, context: PhantomData }
    }

    /// Returns the raw context.
    pub fn raw(self) -> LLVMContextRef {
        self.raw
    }

    /// `iN`.
    pub fn int(self, bits: u32) -> Type<'c> {
        // SAFETY: the context is live for `'c`.
        unsafe { Type::from_raw(LLVMIntTypeInContext(self.raw, bits)) }
    }

    /// `half`.
    pub fn half(self) -> Type<'c> {
        // SAFETY: the context is live for `'c`.
        unsafe { Type::from_raw(LLVMHalfTypeInContext(self.raw)) }
    }

    /// `bfloat`.
    pub fn bfloat(self) -> Type<'c> {
        // SAFETY: the context is live for `'c`.
        unsafe { Type::from_raw(LLVMBFloatTypeInContext(self.raw)) }
    }

    /// `float`.
    pub fn float(self) -> Type<'c> {
        // SAFETY: the context is live for `'c`.
        unsafe { Type::from_raw(LLVMFloatTypeInContext(self.raw)) }
    }

    /// `double`.
    pub fn double(self) -> Type<'c> {
        // SAFETY: the context is live for `'c`.
        unsafe { Type::from_raw(LLVMDoubleTypeInContext(self.raw)) }
    }

    /// `void`.
    pub fn void(self) -> Type<'c> {
        // SAFETY: the context is live for `'c`.
        unsafe { Type::from_raw(LLVMVoidTypeInContext(self.raw)) }
    }

    /// `ptr addrspace(space)`.
    pub fn pointer(self, space: u32) -> Type<'c> {
        // SAFETY: the context is live for `'c`.
        unsafe { Type::from_raw(LLVMPointerTypeInContext(self.raw, space)) }
    }

    /// Returns an unnamed structure.
    pub fn structure(self, fields: &[Type<'c>], packed: bool) -> Type<'c> {
        let mut raw = raw_types(fields);
        // SAFETY: the context is live for `'c`; the array outlives the call.
        unsafe { Type::from_raw(LLVMStructTypeInContext(self.raw, raw.as_mut_ptr(), raw.len() as u32, packed as i32)) }
    }
}

impl<'c> Type<'c> {
    /// Wraps a type from LLVM.
    ///
    /// # Safety
    /// `raw` is null, which causes a panic, or a live type of the context `'c`.
    pub(super) unsafe fn from_raw(raw: LLVMTypeRef) -> Self {
        assert!(!raw.is_null(), "LLVM returned no type");
        Type { raw, context: PhantomData }
    }

    /// Returns the raw type.
    pub fn raw(self) -> LLVMTypeRef {
        self.raw
    }

    /// Returns the kind of the type.
    pub fn kind(self) -> Kind {
        // SAFETY: the type is live, and each query is made only for the kind for which it is defined.
        unsafe {
            match LLVMGetTypeKind(self.raw) {
                LLVMTypeKind::LLVMVoidTypeKind => Kind::Void,
                LLVMTypeKind::LLVMIntegerTypeKind => Kind::Int(LLVMGetIntTypeWidth(self.raw)),
                LLVMTypeKind::LLVMHalfTypeKind => Kind::Half,
                LLVMTypeKind::LLVMBFloatTypeKind => Kind::BFloat,
                LLVMTypeKind::LLVMFloatTypeKind => Kind::Float,
                LLVMTypeKind::LLVMDoubleTypeKind => Kind::Double,
                LLVMTypeKind::LLVMPointerTypeKind => Kind::Pointer(LLVMGetPointerAddressSpace(self.raw)),
                LLVMTypeKind::LLVMVectorTypeKind => Kind::Vector(LLVMGetVectorSize(self.raw)),
                LLVMTypeKind::LLVMArrayTypeKind => Kind::Array(LLVMGetArrayLength2(self.raw)),
                LLVMTypeKind::LLVMStructTypeKind => Kind::Struct,
                LLVMTypeKind::LLVMFunctionTypeKind => Kind::Function,
                _ => Kind::Other,
            }
        }
    }

    /// Returns the number of bits of an integer type, or `None`.
    pub fn int_bits(self) -> Option<u32> {
        match self.kind() {
            Kind::Int(bits) => Some(bits),
            _ => None,
        }
    }

    /// Returns whether it is `void`.
    pub fn is_void(self) -> bool {
        self.kind() == Kind::Void
    }

    /// Returns whether it is a pointer.
    pub fn is_pointer(self) -> bool {
        matches!(self.kind(), Kind::Pointer(_))
    }

    /// Returns whether it is a scalar floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Half | Kind::BFloat | Kind::Float | Kind::Double)
    }

    /// Returns whether it is a structure or array.
    pub fn is_aggregate(self) -> bool {
        matches!(self.kind(), Kind::Struct | Kind::Array(_))
    }

    /// Returns the element type of a vector, or the type itself otherwise.
    pub fn scalar(self) -> Type<'c> {
        if matches!(self.kind(), Kind::Vector(_)) { self.element() } else { self }
    }

    /// Returns the element type of a vector or array.
    ///
    /// # Panics
    /// Panics if the type is neither.
    pub fn element(self) -> Type<'c> {
        assert!(matches!(self.kind(), Kind::Vector(_) | Kind::Array(_)), "{self} has no element type");
        // SAFETY: checked above.
        unsafe { Type::from_raw(LLVMGetElementType(self.raw)) }
    }

    /// Returns the field types of a structure; empty for others.
    pub fn fields(self) -> Vec<Type<'c>> {
        if self.kind() != Kind::Struct {
            return Vec::new();
        }
        // SAFETY: a structure, checked above.
        let count = unsafe { LLVMCountStructElementTypes(self.raw) };
        // SAFETY: the structure has a field for every index below the count.
        (0..count).map(|index| unsafe { Type::from_raw(LLVMStructGetTypeAtIndex(self.raw, index)) }).collect()
    }

    /// Returns the name of a structure in the module, such as `struct.Particle`; empty for others.
    pub fn structure_name(self) -> String {
        if self.kind() != Kind::Struct {
            return String::new();
        }
        // SAFETY: a structure, checked above; the text is copied immediately, and is null for literal structures.
        unsafe {
            let name = LLVMGetStructName(self.raw);
            if name.is_null() { String::new() } else { std::ffi::CStr::from_ptr(name).to_string_lossy().into_owned() }
        }
    }

    /// Returns whether a structure is packed.
    pub fn is_packed(self) -> bool {
        // SAFETY: called for structures only.
        self.kind() == Kind::Struct && unsafe { LLVMIsPackedStruct(self.raw) != 0 }
    }

    /// `<count x self>`.
    pub fn vector(self, count: u32) -> Type<'c> {
        // SAFETY: the type is live; the verifier checks whether it can be an element of a vector.
        unsafe { Type::from_raw(LLVMVectorType(self.raw, count)) }
    }

    /// `[count x self]`.
    pub fn array(self, count: u64) -> Type<'c> {
        // SAFETY: a live type.
        unsafe { Type::from_raw(LLVMArrayType2(self.raw, count)) }
    }

    /// Returns the function type with this result.
    pub fn function(self, parameters: &[Type<'c>]) -> Type<'c> {
        let mut raw = raw_types(parameters);
        // SAFETY: live types; the array outlives the call.
        unsafe { Type::from_raw(LLVMFunctionType(self.raw, raw.as_mut_ptr(), raw.len() as u32, 0)) }
    }

    /// Returns the result of a function type.
    ///
    /// # Panics
    /// Panics if the type is not a function type.
    pub fn result(self) -> Type<'c> {
        assert_eq!(self.kind(), Kind::Function, "{self} is not a function type");
        // SAFETY: checked above.
        unsafe { Type::from_raw(LLVMGetReturnType(self.raw)) }
    }

    /// Returns the parameters of a function type; empty for others.
    pub fn parameters(self) -> Vec<Type<'c>> {
        if self.kind() != Kind::Function {
            return Vec::new();
        }
        // SAFETY: a function type; the array has the length that LLVM requires.
        unsafe {
            let mut raw = vec![std::ptr::null_mut(); LLVMCountParamTypes(self.raw) as usize];
            LLVMGetParamTypes(self.raw, raw.as_mut_ptr());
            raw.into_iter().map(|raw| Type::from_raw(raw)).collect()
        }
    }

    /// Returns whether a function type accepts more arguments than its parameters.
    pub fn is_variadic(self) -> bool {
        // SAFETY: called for function types only.
        self.kind() == Kind::Function && unsafe { LLVMIsFunctionVarArg(self.raw) != 0 }
    }
}

impl std::fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: `raw` is live; this code owns the message and frees it.
        f.write_str(&unsafe { super::text::take_message(LLVMPrintTypeToString(self.raw)) })
    }
}

fn raw_types(types: &[Type<'_>]) -> Vec<LLVMTypeRef> {
    types.iter().map(|ty| ty.raw).collect()
}

/// The sizes and offsets in a module's data layout.
#[derive(Clone, Copy)]
pub struct Layout<'m> {
    raw: inkwell::llvm_sys::target::LLVMTargetDataRef,
    module: PhantomData<&'m ()>,
}

impl<'m> Layout<'m> {
    /// Returns the layout of `module`, valid until the module gets another layout.
    pub fn from_module(module: &'m inkwell::module::Module<'_>) -> Self {
        // SAFETY: the module is live and owns the layout.
        let raw = unsafe { inkwell::llvm_sys::target::LLVMGetModuleDataLayout(module.as_mut_ptr()) };
        Layout { raw, module: PhantomData }
    }

    /// Returns the number of bytes from one array element to the next.
    pub fn size(self, ty: Type<'_>) -> u64 {
        // SAFETY: the module keeps the layout, and the type is live.
        unsafe { LLVMABISizeOfType(self.raw, ty.raw) }
    }

    /// Returns the number of bytes that a store writes.
    pub fn store_size(self, ty: Type<'_>) -> u64 {
        // SAFETY: the module keeps the layout, and the type is live.
        unsafe { LLVMStoreSizeOfType(self.raw, ty.raw) }
    }

    /// Returns the alignment in bytes.
    pub fn align(self, ty: Type<'_>) -> u64 {
        // SAFETY: the module keeps the layout, and the type is live.
        u64::from(unsafe { LLVMABIAlignmentOfType(self.raw, ty.raw) })
    }

    /// Returns the byte offset of a structure's field.
    pub fn offset(self, structure: Type<'_>, field: u32) -> u64 {
        assert!((field as usize) < structure.fields().len(), "{structure} has no field {field}");
        // SAFETY: the module keeps the layout; the structure has this field, checked above.
        unsafe { LLVMOffsetOfElement(self.raw, structure.raw, field) }
    }
}
