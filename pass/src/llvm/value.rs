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

/// Inline assembly of this function type, free of side effects.
pub fn inline_asm<'c>(ty: Type<'c>, text: &str, constraints: &str) -> Value<'c> {
    assembly(ty, text, constraints, false)
}

/// Inline assembly of this function type that does more than compute its results.
pub fn volatile_asm<'c>(ty: Type<'c>, text: &str, constraints: &str) -> Value<'c> {
    assembly(ty, text, constraints, true)
}

fn assembly<'c>(ty: Type<'c>, text: &str, constraints: &str, volatile: bool) -> Value<'c> {
    assert_eq!(ty.kind(), Kind::Function, "{ty} is no function type");
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
    /// Wraps what LLVM returned.
    ///
    /// # Safety
    /// `raw` is null, which is refused, or a live value of the context `'c`.
    pub(super) unsafe fn from_raw(raw: LLVMValueRef) -> Self {
        assert!(!raw.is_null(), "LLVM returned no value");
        Value { raw, context: PhantomData }
    }

    /// Wraps what LLVM returned, unless it is null.
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

    /// Its type.
    pub fn ty(self) -> Type<'c> {
        // SAFETY: live, and every value has a type.
        unsafe { Type::from_raw(LLVMTypeOf(self.raw)) }
    }

    /// Returns the types of its context.
    pub fn types(self) -> Types<'c> {
        Types::from_type(self.ty())
    }

    /// Its name, empty where it has none.
    pub fn name(self) -> String {
        // SAFETY: live; the name is read before anything can change it.
        unsafe {
            let mut length = 0;
            let name = LLVMGetValueName2(self.raw, &mut length);
            copy_text(name, length)
        }
    }

    /// Renames it; LLVM appends a number where the name is taken.
    pub fn set_name(self, name: &str) {
        // SAFETY: live; the name is passed as pointer and length, and copied.
        unsafe { LLVMSetValueName2(self.raw, name.as_ptr().cast(), name.len()) }
    }

    fn kind(self) -> LLVMValueKind {
        // SAFETY: live, and LLVM answers this for every value.
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

    /// Returns whether it is a constant (globals and functions are).
    pub fn is_constant(self) -> bool {
        // SAFETY: live, and LLVM answers this for every value.
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
        // SAFETY: live, and LLVM answers this for every value.
        unsafe { LLVMIsUndef(self.raw) != 0 || LLVMIsPoison(self.raw) != 0 }
    }

    /// Returns whether it is a constant of all zero bits.
    pub fn is_zero(self) -> bool {
        // SAFETY: live, and LLVM answers this for every value.
        unsafe { LLVMIsNull(self.raw) != 0 }
    }

    /// Value of a constant integer of at most 64 bits, zero-extended.
    pub fn as_u64(self) -> Option<u64> {
        (self.kind() == LLVMValueKind::LLVMConstantIntValueKind && self.ty().int_bits()? <= 64)
            // SAFETY: a constant integer of at most 64 bits, checked in the condition.
            .then(|| unsafe { LLVMConstIntGetZExtValue(self.raw) })
    }

    /// Value of a constant integer of at most 64 bits, sign-extended.
    pub fn as_i64(self) -> Option<i64> {
        // SAFETY: `as_u64` found a constant integer of at most 64 bits.
        self.as_u64().map(|_| unsafe { LLVMConstIntGetSExtValue(self.raw) })
    }

    /// Value of a constant floating-point number.
    pub fn as_f64(self) -> Option<f64> {
        (self.kind() == LLVMValueKind::LLVMConstantFPValueKind).then(|| {
            let mut lost = 0;
            // SAFETY: a constant floating-point number, checked in the condition.
            unsafe { LLVMConstRealGetDouble(self.raw, &mut lost) }
        })
    }

    /// Number of operands, 0 for what has none.
    pub fn operand_count(self) -> u32 {
        // SAFETY: live, and LLVM answers this for every value.
        if unsafe { LLVMIsAUser(self.raw) }.is_null() {
            return 0;
        }
        // SAFETY: a user, checked above.
        unsafe { LLVMGetNumOperands(self.raw) as u32 }
    }

    /// Operand `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn operand(self, index: u32) -> Value<'c> {
        assert!(index < self.operand_count(), "operand {index} of {self}");
        // SAFETY: a user that has this operand, checked above.
        unsafe { Value::from_raw(LLVMGetOperand(self.raw, index)) }
    }

    /// All operands, blocks of terminators included.
    pub fn operands(self) -> Vec<Value<'c>> {
        (0..self.operand_count()).map(|index| self.operand(index)).collect()
    }

    /// Replaces an operand.
    pub fn set_operand(self, index: u32, value: Value<'c>) {
        assert!(index < self.operand_count(), "operand {index} of {self}");
        // SAFETY: a user that has this operand, checked above.
        unsafe { LLVMSetOperand(self.raw, index, value.raw) }
    }

    /// Its users, one entry per use.
    pub fn users(self) -> Vec<Value<'c>> {
        let mut users = Vec::new();
        // SAFETY: live; the uses are a list that ends with null, and it is not changed on the way.
        unsafe {
            let mut next = LLVMGetFirstUse(self.raw);
            while !next.is_null() {
                users.push(Value::from_raw(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }

    /// Returns whether anything uses it.
    pub fn is_used(self) -> bool {
        // SAFETY: live; the uses are a list that ends with null, and it is not changed on the way.
        !unsafe { LLVMGetFirstUse(self.raw) }.is_null()
    }

    /// Makes all users use `other`.
    pub fn replace_all_uses_with(self, other: Value<'c>) {
        assert_eq!(self.ty(), other.ty(), "{other} cannot stand for {self}");
        // SAFETY: two live values of one type, checked above.
        unsafe { LLVMReplaceAllUsesWith(self.raw, other.raw) }
    }

    /// Operation of a constant expression.
    pub fn constant_opcode(self) -> Option<Opcode> {
        // SAFETY: a constant expression, checked in the condition.
        self.is_constant_expression().then(|| unsafe { LLVMGetConstOpcode(self.raw) })
    }

    /// Element `index` of a constant vector, array or structure.
    pub fn constant_element(self, index: u32) -> Option<Value<'c>> {
        if !self.is_constant() {
            return None;
        }
        // SAFETY: checked above to be a constant; null where there is no such element.
        unsafe { Value::from_nullable(LLVMGetAggregateElement(self.raw, index)) }
    }

    /// Returns the text of a constant array of bytes, without what follows its first zero.
    pub fn constant_text(self) -> Option<String> {
        // SAFETY: a constant sequence of bytes; LLVM keeps its text as long as its context.
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
        // SAFETY: live, and LLVM answers this for every value.
        !unsafe { LLVMIsAConstantDataSequential(self.raw) }.is_null()
    }

    /// `undef`-free constant zero of a type.
    pub fn zero(ty: Type<'c>) -> Value<'c> {
        // SAFETY: a live type.
        unsafe { Value::from_raw(LLVMConstNull(ty.raw())) }
    }

    /// All bits one (integers and vectors of them).
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

    /// `undef` of a type: any value at each use, which spoils nothing that it is joined with.
    pub fn undef(ty: Type<'c>) -> Value<'c> {
        // SAFETY: a live type.
        unsafe { Value::from_raw(LLVMGetUndef(ty.raw())) }
    }

    /// Constant integer, truncated to the type.
    ///
    /// # Panics
    /// If it is not a type of integers.
    pub fn int(ty: Type<'c>, value: u64) -> Value<'c> {
        let bits = ty.int_bits().unwrap_or_else(|| panic!("{ty} is no type of integers"));
        let kept = if bits < 64 { value & ((1 << bits) - 1) } else { value };
        // SAFETY: an integer type, checked above.
        unsafe { Value::from_raw(LLVMConstInt(ty.raw(), kept, 0)) }
    }

    /// Constant floating-point number.
    pub fn real(ty: Type<'c>, value: f64) -> Value<'c> {
        assert!(ty.scalar().is_float(), "{ty} is no type of floating-point numbers");
        // SAFETY: a live floating-point type, checked above.
        unsafe { Value::from_raw(LLVMConstReal(ty.raw(), value)) }
    }

    /// Constant vector; all elements of one type.
    pub fn vector(elements: &[Value<'c>]) -> Value<'c> {
        assert!(!elements.is_empty() && elements.iter().all(|value| value.is_constant()), "no constant vector");
        let mut raw = raw_values(elements);
        // SAFETY: live constants, checked above; the array outlives the call.
        unsafe { Value::from_raw(LLVMConstVector(raw.as_mut_ptr(), raw.len() as u32)) }
    }

    /// Constant array.
    pub fn array(element: Type<'c>, elements: &[Value<'c>]) -> Value<'c> {
        let mut raw = raw_values(elements);
        // SAFETY: live constants; the array outlives the call.
        unsafe { Value::from_raw(LLVMConstArray2(element.raw(), raw.as_mut_ptr(), raw.len() as u64)) }
    }

    /// Constant structure of an unnamed type.
    pub fn structure(types: Types<'c>, fields: &[Value<'c>], packed: bool) -> Value<'c> {
        let mut raw = raw_values(fields);
        // SAFETY: live constants of a live context; the array outlives the call.
        unsafe {
            Value::from_raw(LLVMConstStructInContext(types.raw(), raw.as_mut_ptr(), raw.len() as u32, packed as i32))
        }
    }

    /// Constant structure of the given, perhaps named, type.
    pub fn structure_of(ty: Type<'c>, fields: &[Value<'c>]) -> Value<'c> {
        assert_eq!(ty.kind(), Kind::Struct, "{ty} is no structure");
        let mut raw = raw_values(fields);
        // SAFETY: a structure type, checked above, and live constants; the array outlives the call.
        unsafe { Value::from_raw(LLVMConstNamedStruct(ty.raw(), raw.as_mut_ptr(), raw.len() as u32)) }
    }

    /// Constant bytes, `[n x i8]`, nothing appended.
    pub fn bytes(types: Types<'c>, bytes: &[u8]) -> Value<'c> {
        // SAFETY: a live context; the bytes are passed as pointer and length, and copied.
        unsafe { Value::from_raw(LLVMConstStringInContext2(types.raw(), bytes.as_ptr().cast(), bytes.len(), 1)) }
    }
}

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: live; the text is ours to dispose of, and `take_message` does.
        let text = unsafe { take_message(LLVMPrintValueToString(self.raw)) };
        f.write_str(text.trim())
    }
}

impl<'c> Block<'c> {
    /// Wraps what LLVM returned.
    ///
    /// # Safety
    /// `raw` is null, which is refused, or a live block of the context `'c`.
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

    /// Its name.
    pub fn name(self) -> String {
        self.as_value().name()
    }

    /// Returns the function that holds it.
    pub fn function(self) -> Value<'c> {
        // SAFETY: a live block, which a function holds.
        unsafe { Value::from_raw(LLVMGetBasicBlockParent(self.raw)) }
    }

    /// Its instructions in order, collected so that they may be changed on the way.
    pub fn instructions(self) -> Vec<Value<'c>> {
        let mut list = Vec::new();
        // SAFETY: a live block; the list ends with null, and is not changed on the way.
        unsafe {
            let mut next = LLVMGetFirstInstruction(self.raw);
            while !next.is_null() {
                list.push(Value::from_raw(next));
                next = LLVMGetNextInstruction(next);
            }
        }
        list
    }

    /// Its terminator, if it has one yet.
    pub fn terminator(self) -> Option<Value<'c>> {
        // SAFETY: a live block; null where it has none yet.
        unsafe { Value::from_nullable(LLVMGetBasicBlockTerminator(self.raw)) }
    }

    /// Where its terminator goes, in order, repeats kept.
    pub fn successors(self) -> Vec<Block<'c>> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }
}

pub(super) fn raw_values(values: &[Value<'_>]) -> Vec<LLVMValueRef> {
    values.iter().map(|value| value.raw).collect()
}

impl<'c> Value<'c> {
    /// Address of a variable plus constant bytes, as a constant.
    pub fn constant_offset(variable: Value<'c>, bytes: Value<'c>) -> Value<'c> {
        assert!(variable.is_constant() && bytes.is_constant(), "{variable} and {bytes} make no constant");
        let byte = variable.types().int(8);
        let mut index = [bytes.raw];
        // SAFETY: live constants, checked above; the array outlives the call.
        unsafe { Value::from_raw(LLVMConstGEP2(byte.raw(), variable.raw, index.as_mut_ptr(), 1)) }
    }
}
