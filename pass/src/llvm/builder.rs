//! Creates instructions.

use super::types::{Kind, Type, Types};
use super::value::*;
use inkwell::context::Context;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::marker::PhantomData;

/// Appends instructions at a position. LLVM folds constants as usual. LLVM's own assertions are disabled in release
/// builds, so the assumptions that LLVM makes about operands are checked here. Errors that only lead to invalid IR are
/// found by the verifier after each stage.
pub struct Builder<'c> {
    raw: LLVMBuilderRef,
    types: Types<'c>,
    context: PhantomData<&'c Context>,
}

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl<'c> Builder<'c> {
    /// Creates a builder without a position.
    pub fn new(types: Types<'c>) -> Self {
        // SAFETY: a live context; `drop` disposes of the builder.
        Builder { raw: unsafe { LLVMCreateBuilderInContext(types.raw()) }, types, context: PhantomData }
    }

    /// Returns the context's types.
    pub fn types(&self) -> Types<'c> {
        self.types
    }

    /// Returns the raw builder.
    pub fn raw(&self) -> LLVMBuilderRef {
        self.raw
    }

    /// Moves the builder to the end of a block.
    pub fn at_end(&self, block: Block<'c>) {
        // SAFETY: a live builder and block.
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.raw()) }
    }

    /// Moves the builder before an instruction.
    pub fn before(&self, instruction: Value<'c>) {
        assert!(instruction.is_instruction(), "{instruction} is not an instruction");
        // SAFETY: the builder is live, and the value is an instruction, as checked above.
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction.raw()) }
    }

    /// Returns the block in which the builder is.
    pub fn block(&self) -> Block<'c> {
        // SAFETY: the builder is live; `from_raw` refuses the null pointer of a builder without a position.
        unsafe { Block::from_raw(LLVMGetInsertBlock(self.raw)) }
    }

    /// Inserts an unattached instruction.
    pub fn insert(&self, instruction: Value<'c>) -> Value<'c> {
        assert!(instruction.is_instruction(), "{instruction} is not an instruction");
        // SAFETY: a live builder, and an instruction, checked above.
        unsafe { LLVMInsertIntoBuilder(self.raw, instruction.raw()) };
        instruction
    }

    /// Uses the debug location of `instruction`, or none, for all instructions built from now on.
    pub fn locate_like(&self, instruction: Option<Value<'c>>) {
        // SAFETY: the value is an instruction, as checked above; the location is null if it has none.
        unsafe {
            let location = match instruction {
                Some(value) if value.is_instruction() => {
                    inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(value.raw())
                }
                _ => std::ptr::null_mut(),
            };
            LLVMSetCurrentDebugLocation2(self.raw, location);
        }
    }

    /// Returns a two-operand operation, or one of the operands if the other is a zero that does not change the result.
    pub fn binary(&self, opcode: Opcode, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        use Opcode::{LLVMAShr, LLVMAdd, LLVMLShr, LLVMOr, LLVMShl, LLVMSub, LLVMXor};
        assert_eq!(left.ty(), right.ty(), "{left} and {right} differ in type");
        if matches!(opcode, LLVMAdd | LLVMSub | LLVMOr | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr) && right.is_zero() {
            return left;
        }
        if matches!(opcode, LLVMAdd | LLVMOr | LLVMXor) && left.is_zero() {
            return right;
        }
        // SAFETY: the operands have the same type, as checked above; the verifier checks whether the operation supports
        // it.
        unsafe { Value::from_raw(LLVMBuildBinOp(self.raw, opcode, left.raw(), right.raw(), NO_NAME)) }
    }

    /// `add`.
    pub fn add(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMAdd, left, right)
    }

    /// `sub`.
    pub fn sub(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMSub, left, right)
    }

    /// `mul`.
    pub fn mul(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMMul, left, right)
    }

    /// `and`.
    pub fn and(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMAnd, left, right)
    }

    /// `or`.
    pub fn or(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMOr, left, right)
    }

    /// `xor`.
    pub fn xor(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMXor, left, right)
    }

    /// `shl`.
    pub fn shl(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMShl, left, right)
    }

    /// `lshr`.
    pub fn lshr(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMLShr, left, right)
    }

    /// `ashr`.
    pub fn ashr(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.binary(Opcode::LLVMAShr, left, right)
    }

    /// All bits inverted.
    pub fn not(&self, value: Value<'c>) -> Value<'c> {
        // SAFETY: the operand is live; the verifier checks its type.
        unsafe { Value::from_raw(LLVMBuildNot(self.raw, value.raw(), NO_NAME)) }
    }

    /// `fneg`.
    pub fn fneg(&self, value: Value<'c>) -> Value<'c> {
        // SAFETY: the operand is live; the verifier checks its type.
        unsafe { Value::from_raw(LLVMBuildFNeg(self.raw, value.raw(), NO_NAME)) }
    }

    /// Converts a value with the given opcode; returns the value itself if it already has the type.
    pub fn cast(&self, opcode: Opcode, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        if value.ty() == to {
            return value;
        }
        // SAFETY: operand and type are live; the verifier checks whether the cast is allowed.
        unsafe { Value::from_raw(LLVMBuildCast(self.raw, opcode, value.raw(), to.raw(), NO_NAME)) }
    }

    /// `zext`, or the value itself.
    pub fn zext(&self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        self.cast(Opcode::LLVMZExt, value, to)
    }

    /// `sext`, or the value itself.
    pub fn sext(&self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        self.cast(Opcode::LLVMSExt, value, to)
    }

    /// `trunc`, or the value itself.
    pub fn trunc(&self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        self.cast(Opcode::LLVMTrunc, value, to)
    }

    /// Returns an integer that is truncated or zero-extended to another integer type.
    pub fn fit(&self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        if value.ty().int_bits() > to.int_bits() { self.trunc(value, to) } else { self.zext(value, to) }
    }

    /// The variant of [`Self::fit`] for vectors of integers.
    pub fn fit_lanes(&self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        if value.ty().element().int_bits() > to.element().int_bits() {
            self.trunc(value, to)
        } else {
            self.zext(value, to)
        }
    }

    /// `bitcast`, or the value itself if it already has the type or was only cast before.
    pub fn bitcast(&self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        self.cast(Opcode::LLVMBitCast, value.uncast(), to)
    }

    /// `inttoptr`, or the value itself.
    pub fn int_to_ptr(&self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        self.cast(Opcode::LLVMIntToPtr, value, to)
    }

    /// `ptrtoint`, or the value itself.
    pub fn ptr_to_int(&self, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        self.cast(Opcode::LLVMPtrToInt, value, to)
    }

    /// `icmp`.
    pub fn icmp(&self, predicate: IntPredicate, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        assert_eq!(left.ty(), right.ty(), "{left} and {right} differ in type");
        // SAFETY: operands of one type, checked above.
        unsafe { Value::from_raw(LLVMBuildICmp(self.raw, predicate, left.raw(), right.raw(), NO_NAME)) }
    }

    /// `icmp eq`.
    pub fn eq(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.icmp(IntPredicate::LLVMIntEQ, left, right)
    }

    /// `icmp ne`.
    pub fn ne(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.icmp(IntPredicate::LLVMIntNE, left, right)
    }

    /// `icmp ult`.
    pub fn ult(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.icmp(IntPredicate::LLVMIntULT, left, right)
    }

    /// `icmp ugt`.
    pub fn ugt(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.icmp(IntPredicate::LLVMIntUGT, left, right)
    }

    /// `fcmp`.
    pub fn fcmp(&self, predicate: RealPredicate, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        assert_eq!(left.ty(), right.ty(), "{left} and {right} differ in type");
        // SAFETY: operands of one type, checked above.
        unsafe { Value::from_raw(LLVMBuildFCmp(self.raw, predicate, left.raw(), right.raw(), NO_NAME)) }
    }

    /// `select`.
    pub fn select(&self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        assert_eq!(yes.ty(), no.ty(), "{yes} and {no} differ in type");
        // SAFETY: choices of one type, checked above.
        unsafe { Value::from_raw(LLVMBuildSelect(self.raw, condition.raw(), yes.raw(), no.raw(), NO_NAME)) }
    }

    /// A `phi` without incoming values.
    pub fn phi(&self, ty: Type<'c>) -> Value<'c> {
        // SAFETY: a live type.
        unsafe { Value::from_raw(LLVMBuildPhi(self.raw, ty.raw(), NO_NAME)) }
    }

    /// `freeze`.
    pub fn freeze(&self, value: Value<'c>) -> Value<'c> {
        // SAFETY: a live operand.
        unsafe { Value::from_raw(LLVMBuildFreeze(self.raw, value.raw(), NO_NAME)) }
    }

    /// A direct call with the function's calling convention.
    pub fn call(&self, function: Value<'c>, arguments: &[Value<'c>]) -> Value<'c> {
        let call = self.call_pointer(function.value_type(), function, arguments);
        // SAFETY: `call_pointer` returned a call.
        unsafe { LLVMSetInstructionCallConv(call.raw(), function.calling_convention()) };
        call
    }

    /// A call through a pointer.
    pub fn call_pointer(&self, ty: Type<'c>, target: Value<'c>, arguments: &[Value<'c>]) -> Value<'c> {
        assert_eq!(ty.kind(), Kind::Function, "{ty} is not a function type");
        let takes = ty.parameters().len();
        let fits = if ty.is_variadic() { arguments.len() >= takes } else { arguments.len() == takes };
        assert!(fits, "{} arguments for {ty}", arguments.len());
        let mut raw = raw_values(arguments);
        // SAFETY: the type is a function type, and the number of arguments is correct, as checked above; the array
        // outlives the call.
        unsafe {
            Value::from_raw(LLVMBuildCall2(
                self.raw,
                ty.raw(),
                target.raw(),
                raw.as_mut_ptr(),
                raw.len() as u32,
                NO_NAME,
            ))
        }
    }

    /// `alloca` at the current position.
    pub fn alloca(&self, ty: Type<'c>, align: u32) -> Value<'c> {
        // SAFETY: the builder is live and in a function, whose layout defines the type's size.
        let value = unsafe { Value::from_raw(LLVMBuildAlloca(self.raw, ty.raw(), NO_NAME)) };
        value.set_alignment(align);
        value
    }

    /// `load` with an alignment in bytes.
    pub fn load(&self, ty: Type<'c>, pointer: Value<'c>, align: u32) -> Value<'c> {
        assert!(pointer.ty().is_pointer(), "{pointer} is not a pointer");
        // SAFETY: a pointer, checked above, and a live type.
        let value = unsafe { Value::from_raw(LLVMBuildLoad2(self.raw, ty.raw(), pointer.raw(), NO_NAME)) };
        // The builder does not fold loads, so this value is the instruction.
        value.set_alignment(align);
        value
    }

    /// `store` with an alignment in bytes.
    pub fn store(&self, value: Value<'c>, pointer: Value<'c>, align: u32) -> Value<'c> {
        assert!(pointer.ty().is_pointer(), "{pointer} is not a pointer");
        // SAFETY: a pointer, checked above, and a live value.
        let store = unsafe { Value::from_raw(LLVMBuildStore(self.raw, value.raw(), pointer.raw())) };
        store.set_alignment(align);
        store
    }

    /// `getelementptr` without flags.
    pub fn gep(&self, ty: Type<'c>, pointer: Value<'c>, indices: &[Value<'c>]) -> Value<'c> {
        assert!(pointer.ty().scalar().is_pointer(), "{pointer} is not a pointer");
        let mut raw = raw_values(indices);
        // SAFETY: a pointer or vector of pointers, checked above; the array outlives the call.
        unsafe {
            Value::from_raw(LLVMBuildGEP2(
                self.raw,
                ty.raw(),
                pointer.raw(),
                raw.as_mut_ptr(),
                raw.len() as u32,
                NO_NAME,
            ))
        }
    }

    /// A pointer plus a constant number of bytes, `inbounds`, for objects whose layout the lowering itself has defined.
    pub fn offset(&self, pointer: Value<'c>, bytes: u64) -> Value<'c> {
        if bytes == 0 {
            return pointer;
        }
        assert!(pointer.ty().scalar().is_pointer(), "{pointer} is not a pointer");
        let mut index = [Value::int(self.types.int(64), bytes).raw()];
        // SAFETY: a pointer, checked above, and one index; the array outlives the call.
        unsafe {
            Value::from_raw(LLVMBuildInBoundsGEP2(
                self.raw,
                self.types.int(8).raw(),
                pointer.raw(),
                index.as_mut_ptr(),
                1,
                NO_NAME,
            ))
        }
    }

    /// `extractelement`.
    pub fn extract_element(&self, vector: Value<'c>, index: Value<'c>) -> Value<'c> {
        assert!(matches!(vector.ty().kind(), Kind::Vector(_)), "{vector} is not a vector");
        // SAFETY: a vector, checked above.
        unsafe { Value::from_raw(LLVMBuildExtractElement(self.raw, vector.raw(), index.raw(), NO_NAME)) }
    }

    /// `insertelement`.
    pub fn insert_element(&self, vector: Value<'c>, element: Value<'c>, index: Value<'c>) -> Value<'c> {
        assert!(matches!(vector.ty().kind(), Kind::Vector(_)), "{vector} is not a vector");
        // SAFETY: a vector, checked above.
        unsafe { Value::from_raw(LLVMBuildInsertElement(self.raw, vector.raw(), element.raw(), index.raw(), NO_NAME)) }
    }

    /// `shufflevector` with a constant mask; `None` is an undefined element.
    pub fn shuffle(&self, left: Value<'c>, right: Value<'c>, mask: &[Option<u32>]) -> Value<'c> {
        assert!(matches!(left.ty().kind(), Kind::Vector(_)), "{left} is not a vector");
        assert_eq!(left.ty(), right.ty(), "{left} and {right} differ in type");
        let i32_type = self.types.int(32);
        let mask: Vec<_> = mask
            .iter()
            .map(|index| match index {
                Some(index) => Value::int(i32_type, u64::from(*index)),
                None => Value::poison(i32_type),
            })
            .collect();
        let mask = Value::vector(&mask);
        // SAFETY: two vectors of one type, checked above, and a constant mask.
        unsafe { Value::from_raw(LLVMBuildShuffleVector(self.raw, left.raw(), right.raw(), mask.raw(), NO_NAME)) }
    }

    /// A vector with the same scalar in all lanes.
    pub fn splat(&self, scalar: Value<'c>, lanes: u32) -> Value<'c> {
        if scalar.is_constant() && !scalar.is_undef() && !scalar.ty().is_pointer() {
            return Value::vector(&vec![scalar; lanes as usize]);
        }
        let empty = Value::poison(scalar.ty().vector(lanes));
        let first = self.insert_element(empty, scalar, Value::int(self.types.int(64), 0));
        self.shuffle(first, empty, &vec![Some(0); lanes as usize])
    }

    /// `extractvalue`.
    pub fn extract_value(&self, aggregate: Value<'c>, index: u32) -> Value<'c> {
        assert!(aggregate.ty().is_aggregate(), "{aggregate} has no parts");
        // SAFETY: an aggregate, checked above.
        unsafe { Value::from_raw(LLVMBuildExtractValue(self.raw, aggregate.raw(), index, NO_NAME)) }
    }

    /// `insertvalue`.
    pub fn insert_value(&self, aggregate: Value<'c>, element: Value<'c>, index: u32) -> Value<'c> {
        assert!(aggregate.ty().is_aggregate(), "{aggregate} has no parts");
        // SAFETY: an aggregate, checked above.
        unsafe { Value::from_raw(LLVMBuildInsertValue(self.raw, aggregate.raw(), element.raw(), index, NO_NAME)) }
    }

    /// `atomicrmw` with system scope.
    pub fn atomic_rmw(&self, op: AtomicOp, pointer: Value<'c>, value: Value<'c>, order: Ordering) -> Value<'c> {
        assert!(pointer.ty().is_pointer(), "{pointer} is not a pointer");
        // SAFETY: a pointer, checked above, and a live value.
        unsafe { Value::from_raw(LLVMBuildAtomicRMW(self.raw, op, pointer.raw(), value.raw(), order, 0)) }
    }

    /// `cmpxchg` with system scope; the result is `{ value, i1 }`.
    pub fn compare_exchange(
        &self,
        pointer: Value<'c>,
        expected: Value<'c>,
        new: Value<'c>,
        order: Ordering,
    ) -> Value<'c> {
        assert!(pointer.ty().is_pointer() && expected.ty() == new.ty(), "{pointer}, {expected} or {new} does not fit");
        // SAFETY: a pointer, and two values of one type, checked above.
        unsafe {
            Value::from_raw(LLVMBuildAtomicCmpXchg(self.raw, pointer.raw(), expected.raw(), new.raw(), order, order, 0))
        }
    }

    /// `fence` with system scope.
    pub fn fence(&self, order: Ordering) -> Value<'c> {
        // SAFETY: a live builder.
        unsafe { Value::from_raw(LLVMBuildFence(self.raw, order, 0, NO_NAME)) }
    }

    /// `br`.
    pub fn branch(&self, to: Block<'c>) -> Value<'c> {
        // SAFETY: a live builder and block.
        unsafe { Value::from_raw(LLVMBuildBr(self.raw, to.raw())) }
    }

    /// Conditional `br`.
    pub fn branch_if(&self, condition: Value<'c>, yes: Block<'c>, no: Block<'c>) -> Value<'c> {
        // SAFETY: a live builder, condition and blocks.
        unsafe { Value::from_raw(LLVMBuildCondBr(self.raw, condition.raw(), yes.raw(), no.raw())) }
    }

    /// `switch`; the cases are constants.
    pub fn switch(&self, value: Value<'c>, default: Block<'c>, cases: &[(Value<'c>, Block<'c>)]) -> Value<'c> {
        assert!(
            cases.iter().all(|case| case.0.is_constant() && case.0.ty() == value.ty()),
            "a case of {value} does not fit"
        );
        // SAFETY: live blocks; the cases are constant integers, checked above.
        unsafe {
            let switch = LLVMBuildSwitch(self.raw, value.raw(), default.raw(), cases.len() as u32);
            for (case, block) in cases {
                LLVMAddCase(switch, case.raw(), block.raw());
            }
            Value::from_raw(switch)
        }
    }

    /// `ret void`.
    pub fn return_void(&self) -> Value<'c> {
        // SAFETY: a live builder.
        unsafe { Value::from_raw(LLVMBuildRetVoid(self.raw)) }
    }

    /// `ret`.
    pub fn return_value(&self, value: Value<'c>) -> Value<'c> {
        // SAFETY: a live builder and value.
        unsafe { Value::from_raw(LLVMBuildRet(self.raw, value.raw())) }
    }

    /// `unreachable`.
    pub fn unreachable(&self) -> Value<'c> {
        // SAFETY: a live builder.
        unsafe { Value::from_raw(LLVMBuildUnreachable(self.raw)) }
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` created the builder, and it is disposed of once.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}
