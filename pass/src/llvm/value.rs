//! Values, instructions, blocks and functions.

use super::text::{copy_text, take_message};
use super::types::{Kind, Type, Types};
use inkwell::context::Context;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
pub use inkwell::llvm_sys::{
    LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp as AtomicOp, LLVMIntPredicate as IntPredicate,
    LLVMLinkage as Linkage, LLVMOpcode as Opcode, LLVMRealPredicate as RealPredicate, LLVMVisibility as Visibility,
};
use inkwell::llvm_sys::{LLVMInlineAsmDialect, LLVMValueKind};
use std::marker::PhantomData;

/// A value: constant, global, function, argument or instruction. `raw` is live and belongs to the context `'c`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value<'c> {
    raw: LLVMValueRef,
    context: PhantomData<&'c Context>,
}

/// A basic block. `raw` is live and belongs to the context `'c`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block<'c> {
    raw: LLVMBasicBlockRef,
    context: PhantomData<&'c Context>,
}

/// Returns inline assembly of this function type, without side effects.
pub fn inline_asm<'c>(ty: Type<'c>, text: &str, constraints: &str) -> Value<'c> {
    assembly(ty, text, constraints, false)
}

/// Returns inline assembly of this function type that has side effects.
pub fn volatile_asm<'c>(ty: Type<'c>, text: &str, constraints: &str) -> Value<'c> {
    assembly(ty, text, constraints, true)
}

fn assembly<'c>(ty: Type<'c>, text: &str, constraints: &str, volatile: bool) -> Value<'c> {
    assert_eq!(ty.kind(), Kind::Function, "{ty} is not a function type");
    // SAFETY: a function type, checked above; texts are passed as pointer and length, and copied.
    unsafe {
        Value::from_raw(LLVMGetInlineAsm(
            ty.raw(),
            text.as_ptr().cast(),
            text.len(),
            constraints.as_ptr().cast(),
            constraints.len(),
            i32::from(volatile),
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        ))
    }
}

impl<'c> Value<'c> {
    /// Wraps a value from LLVM.
    ///
    /// # Safety
    /// `raw` is null, which causes a panic, or a live value of the context `'c`.
    pub(super) unsafe fn from_raw(raw: LLVMValueRef) -> Self {
        assert!(!raw.is_null(), "LLVM returned no value");
        Value { raw, context: PhantomData }
    }

    /// Wraps a value from LLVM, unless it is null.
    ///
    /// # Safety
    /// `raw` is null or a live value of the context `'c`.
    pub(super) unsafe fn from_nullable(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Value { raw, context: PhantomData })
    }

    /// Returns the raw value.
    pub fn raw(self) -> LLVMValueRef {
        self.raw
    }

    /// Returns the type of the value.
    pub fn ty(self) -> Type<'c> {
        // SAFETY: the value is live, and every value has a type.
        unsafe { Type::from_raw(LLVMTypeOf(self.raw)) }
    }

    /// Returns the types of the value's context.
    pub fn types(self) -> Types<'c> {
        Types::from_type(self.ty())
    }

    /// Returns the name of the value; empty if it has none.
    pub fn name(self) -> String {
        // SAFETY: the value is live; the name is read before anything can change it.
        unsafe {
            let mut length = 0;
            let name = LLVMGetValueName2(self.raw, &mut length);
            copy_text(name, length)
        }
    }

    /// Renames the value; LLVM appends a number if the name is already used.
    pub fn set_name(self, name: &str) {
        // SAFETY: live; the name is passed as pointer and length, and copied.
        unsafe { LLVMSetValueName2(self.raw, name.as_ptr().cast(), name.len()) }
    }

    fn kind(self) -> LLVMValueKind {
        // SAFETY: the value is live, and LLVM supports this query for every value.
        unsafe { LLVMGetValueKind(self.raw) }
    }

    /// Returns whether it is an instruction.
    pub fn is_instruction(self) -> bool {
        self.kind() == LLVMValueKind::LLVMInstructionValueKind
    }

    /// Returns whether it is a function's argument.
    pub fn is_argument(self) -> bool {
        self.kind() == LLVMValueKind::LLVMArgumentValueKind
    }

    /// Returns whether the value is a constant, which includes globals and functions.
    pub fn is_constant(self) -> bool {
        // SAFETY: the value is live, and LLVM supports this query for every value.
        unsafe { LLVMIsConstant(self.raw) != 0 }
    }

    /// Returns whether it is a function.
    pub fn is_function(self) -> bool {
        self.kind() == LLVMValueKind::LLVMFunctionValueKind
    }

    /// Returns whether it is a global variable.
    pub fn is_global_variable(self) -> bool {
        self.kind() == LLVMValueKind::LLVMGlobalVariableValueKind
    }

    /// Returns whether it is inline assembly.
    pub fn is_inline_asm(self) -> bool {
        self.kind() == LLVMValueKind::LLVMInlineAsmValueKind
    }

    /// Returns whether it is a constant expression.
    pub fn is_constant_expression(self) -> bool {
        self.kind() == LLVMValueKind::LLVMConstantExprValueKind
    }

    /// Returns whether it is metadata used as a value.
    pub fn is_metadata(self) -> bool {
        self.kind() == LLVMValueKind::LLVMMetadataAsValueValueKind
    }

    /// Returns whether it is `undef` or `poison`.
    pub fn is_undef(self) -> bool {
        // SAFETY: the value is live, and LLVM supports this query for every value.
        unsafe { LLVMIsUndef(self.raw) != 0 || LLVMIsPoison(self.raw) != 0 }
    }

    /// Returns whether it is a constant of all zero bits.
    pub fn is_zero(self) -> bool {
        // SAFETY: the value is live, and LLVM supports this query for every value.
        unsafe { LLVMIsNull(self.raw) != 0 }
    }

    /// Returns the value of a constant integer of at most 64 bits, zero-extended.
    pub fn as_u64(self) -> Option<u64> {
        (self.kind() == LLVMValueKind::LLVMConstantIntValueKind && self.ty().int_bits()? <= 64)
            // SAFETY: a constant integer of at most 64 bits, checked in the condition.
            .then(|| unsafe { LLVMConstIntGetZExtValue(self.raw) })
    }

    /// Returns the value of a constant integer of at most 64 bits, sign-extended.
    pub fn as_i64(self) -> Option<i64> {
        // SAFETY: `as_u64` found a constant integer of at most 64 bits.
        self.as_u64().map(|_| unsafe { LLVMConstIntGetSExtValue(self.raw) })
    }

    /// Returns the value of a constant floating-point number.
    pub fn as_f64(self) -> Option<f64> {
        (self.kind() == LLVMValueKind::LLVMConstantFPValueKind).then(|| {
            let mut lost = 0;
            // SAFETY: a constant floating-point number, checked in the condition.
            unsafe { LLVMConstRealGetDouble(self.raw, &mut lost) }
        })
    }

    /// Returns the number of operands, or 0 for a value without operands.
    pub fn operand_count(self) -> u32 {
        // SAFETY: the value is live, and LLVM supports this query for every value.
        if unsafe { LLVMIsAUser(self.raw) }.is_null() {
            return 0;
        }
        // SAFETY: the value has operands, as checked above.
        unsafe { LLVMGetNumOperands(self.raw) as u32 }
    }

    /// Returns operand `index`.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn operand(self, index: u32) -> Value<'c> {
        assert!(index < self.operand_count(), "operand {index} of {self}");
        // SAFETY: a user that has this operand, checked above.
        unsafe { Value::from_raw(LLVMGetOperand(self.raw, index)) }
    }

    /// Returns all operands, including the blocks of terminators.
    pub fn operands(self) -> Vec<Value<'c>> {
        (0..self.operand_count()).map(|index| self.operand(index)).collect()
    }

    /// Replaces an operand.
    pub fn set_operand(self, index: u32, value: Value<'c>) {
        assert!(index < self.operand_count(), "operand {index} of {self}");
        // SAFETY: a user that has this operand, checked above.
        unsafe { LLVMSetOperand(self.raw, index, value.raw) }
    }

    /// Returns the users of the value, with one entry per use.
    pub fn users(self) -> Vec<Value<'c>> {
        let mut users = Vec::new();
        // SAFETY: the value is live; the uses are a list that ends with null, and the list does not change during the
        // loop.
        unsafe {
            let mut next = LLVMGetFirstUse(self.raw);
            while !next.is_null() {
                users.push(Value::from_raw(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }

    /// Returns whether the value has any use.
    pub fn is_used(self) -> bool {
        // SAFETY: the value is live; the query does not change the list of uses.
        !unsafe { LLVMGetFirstUse(self.raw) }.is_null()
    }

    /// Replaces all uses of the value by `other`.
    pub fn replace_all_uses_with(self, other: Value<'c>) {
        assert_eq!(self.ty(), other.ty(), "{other} cannot stand for {self}");
        // SAFETY: two live values of one type, checked above.
        unsafe { LLVMReplaceAllUsesWith(self.raw, other.raw) }
    }

    /// Returns the operation of a constant expression.
    pub fn constant_opcode(self) -> Option<Opcode> {
        // SAFETY: a constant expression, checked in the condition.
        self.is_constant_expression().then(|| unsafe { LLVMGetConstOpcode(self.raw) })
    }

    /// Returns element `index` of a constant vector, array or structure.
    pub fn constant_element(self, index: u32) -> Option<Value<'c>> {
        if !self.is_constant() {
            return None;
        }
        // SAFETY: the value is a constant, as checked above; the result is null if there is no such element.
        unsafe { Value::from_nullable(LLVMGetAggregateElement(self.raw, index)) }
    }

    /// Returns the text of a constant array of bytes, up to its first zero.
    pub fn constant_text(self) -> Option<String> {
        // SAFETY: the value is a constant sequence of bytes; LLVM keeps its text as long as its context.
        let text = unsafe {
            if LLVMIsAConstantDataSequential(self.raw).is_null() || LLVMIsConstantString(self.raw) == 0 {
                return None;
            }
            let mut length = 0;
            let bytes = LLVMGetAsString(self.raw, &mut length);
            super::text::copy_text(bytes, length)
        };
        text.split('\0').next().map(str::to_owned)
    }

    /// Returns whether it is a constant array or vector of plain numbers.
    pub fn is_plain_data(self) -> bool {
        // SAFETY: the value is live, and LLVM supports this query for every value.
        !unsafe { LLVMIsAConstantDataSequential(self.raw) }.is_null()
    }

    /// Returns the constant zero of a type.
    pub fn zero(ty: Type<'c>) -> Value<'c> {
        // SAFETY: a live type.
        unsafe { Value::from_raw(LLVMConstNull(ty.raw())) }
    }

    /// Returns a constant with all bits set (for integers and vectors of integers).
    pub fn all_ones(ty: Type<'c>) -> Value<'c> {
        assert!(ty.scalar().int_bits().is_some(), "{ty} is no type of integers");
        // SAFETY: a live type of integers, checked above.
        unsafe { Value::from_raw(LLVMConstAllOnes(ty.raw())) }
    }

    /// `poison`.
    pub fn poison(ty: Type<'c>) -> Value<'c> {
        // SAFETY: a live type.
        unsafe { Value::from_raw(LLVMGetPoison(ty.raw())) }
    }

    /// Returns `undef` of a type. It may have any value at each use, but unlike `poison` it does not make results that
    /// depend on it undefined.
    pub fn undef(ty: Type<'c>) -> Value<'c> {
        // SAFETY: a live type.
        unsafe { Value::from_raw(LLVMGetUndef(ty.raw())) }
    }

    /// Returns a constant integer, truncated to the type.
    ///
    /// # Panics
    /// Panics if the type is not an integer type or a vector of integers.
    pub fn int(ty: Type<'c>, value: u64) -> Value<'c> {
        let bits = ty.int_bits().unwrap_or_else(|| panic!("{ty} is no type of integers"));
        let kept = if bits < 64 { value & ((1 << bits) - 1) } else { value };
        // SAFETY: an integer type, checked above.
        unsafe { Value::from_raw(LLVMConstInt(ty.raw(), kept, 0)) }
    }

    /// Returns a constant floating-point number.
    pub fn real(ty: Type<'c>, value: f64) -> Value<'c> {
        assert!(ty.scalar().is_float(), "{ty} is no type of floating-point numbers");
        // SAFETY: a live floating-point type, checked above.
        unsafe { Value::from_raw(LLVMConstReal(ty.raw(), value)) }
    }

    /// Returns a constant vector; all elements have the same type.
    pub fn vector(elements: &[Value<'c>]) -> Value<'c> {
        assert!(!elements.is_empty() && elements.iter().all(|value| value.is_constant()), "no constant vector");
        let mut raw = raw_values(elements);
        // SAFETY: live constants, checked above; the array outlives the call.
        unsafe { Value::from_raw(LLVMConstVector(raw.as_mut_ptr(), raw.len() as u32)) }
    }

    /// Returns a constant array.
    pub fn array(element: Type<'c>, elements: &[Value<'c>]) -> Value<'c> {
        let mut raw = raw_values(elements);
        // SAFETY: live constants; the array outlives the call.
        unsafe { Value::from_raw(LLVMConstArray2(element.raw(), raw.as_mut_ptr(), raw.len() as u64)) }
    }

    /// Returns a constant structure of an unnamed type.
    pub fn structure(types: Types<'c>, fields: &[Value<'c>], packed: bool) -> Value<'c> {
        let mut raw = raw_values(fields);
        // SAFETY: live constants of a live context; the array outlives the call.
        unsafe {
            Value::from_raw(LLVMConstStructInContext(types.raw(), raw.as_mut_ptr(), raw.len() as u32, packed as i32))
        }
    }

    /// Returns a constant structure of the given type, which may have a name.
    pub fn structure_of(ty: Type<'c>, fields: &[Value<'c>]) -> Value<'c> {
        assert_eq!(ty.kind(), Kind::Struct, "{ty} is not a structure");
        let mut raw = raw_values(fields);
        // SAFETY: a structure type, checked above, and live constants; the array outlives the call.
        unsafe { Value::from_raw(LLVMConstNamedStruct(ty.raw(), raw.as_mut_ptr(), raw.len() as u32)) }
    }

    /// Returns the constant bytes `[n x i8]`, without a terminating zero.
    pub fn bytes(types: Types<'c>, bytes: &[u8]) -> Value<'c> {
        // SAFETY: a live context; the bytes are passed as pointer and length, and copied.
        unsafe { Value::from_raw(LLVMConstStringInContext2(types.raw(), bytes.as_ptr().cast(), bytes.len(), 1)) }
    }
}

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: the value is live; `take_message` frees the text.
        let text = unsafe { take_message(LLVMPrintValueToString(self.raw)) };
        f.write_str(text.trim())
    }
}

impl<'c> Block<'c> {
    /// Wraps a block from LLVM.
    ///
    /// # Safety
    /// `raw` is null, which causes a panic, or a live block of the context `'c`.
    pub(super) unsafe fn from_raw(raw: LLVMBasicBlockRef) -> Self {
        assert!(!raw.is_null(), "LLVM returned no block");
        Block { raw, context: PhantomData }
    }

    /// Returns the raw block.
    pub fn raw(self) -> LLVMBasicBlockRef {
        self.raw
    }

    /// Returns the block as an operand.
    pub fn as_value(self) -> Value<'c> {
        // SAFETY: a live block.
        unsafe { Value::from_raw(LLVMBasicBlockAsValue(self.raw)) }
    }

    /// Returns the name of the block.
    pub fn name(self) -> String {
        self.as_value().name()
    }

    /// Returns the function that contains the block.
    pub fn function(self) -> Value<'c> {
        // SAFETY: the block is live and belongs to a function.
        unsafe { Value::from_raw(LLVMGetBasicBlockParent(self.raw)) }
    }

    /// Returns the block's instructions in order. They are collected, so that they may be changed during iteration.
    pub fn instructions(self) -> Vec<Value<'c>> {
        let mut list = Vec::new();
        // SAFETY: the block is live; the list ends with null, and does not change during the loop.
        unsafe {
            let mut next = LLVMGetFirstInstruction(self.raw);
            while !next.is_null() {
                list.push(Value::from_raw(next));
                next = LLVMGetNextInstruction(next);
            }
        }
        list
    }

    /// Returns the terminator, if the block has one.
    pub fn terminator(self) -> Option<Value<'c>> {
        // SAFETY: the block is live; the result is null if it has no terminator.
        unsafe { Value::from_nullable(LLVMGetBasicBlockTerminator(self.raw)) }
    }

    /// Returns the successors of the terminator in order, including repetitions.
    pub fn successors(self) -> Vec<Block<'c>> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }
}

pub(super) fn raw_values(values: &[Value<'_>]) -> Vec<LLVMValueRef> {
    values.iter().map(|value| value.raw).collect()
}

impl<'c> Value<'c> {
    /// Returns the address of a variable plus constant bytes, as a constant.
    pub fn constant_offset(variable: Value<'c>, bytes: Value<'c>) -> Value<'c> {
        assert!(variable.is_constant() && bytes.is_constant(), "{variable} and {bytes} make no constant");
        let byte = variable.types().int(8);
        let mut index = [bytes.raw];
        // SAFETY: live constants, checked above; the array outlives the call.
        unsafe { Value::from_raw(LLVMConstGEP2(byte.raw(), variable.raw, index.as_mut_ptr(), 1)) }
    }
}
