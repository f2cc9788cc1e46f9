//! Queries of instructions and changes to them.

use super::text::copy_text;
use super::types::Type;
use super::value::*;
use inkwell::llvm_sys::LLVMGEPFlagInBounds;
use inkwell::llvm_sys::core::*;

impl<'c> Value<'c> {
    /// Returns the operation, if the value is an instruction.
    pub fn opcode(self) -> Option<Opcode> {
        // SAFETY: an instruction, checked in the condition.
        self.is_instruction().then(|| unsafe { LLVMGetInstructionOpcode(self.raw()) })
    }

    /// Returns the block that contains the instruction.
    pub fn block(self) -> Option<Block<'c>> {
        if !self.is_instruction() {
            return None;
        }
        // SAFETY: the value is an instruction, as checked above; the result is null if it is in no block.
        unsafe {
            let raw = LLVMGetInstructionParent(self.raw());
            (!raw.is_null()).then(|| Block::from_raw(raw))
        }
    }

    /// Returns the next instruction of the block.
    pub fn next(self) -> Option<Value<'c>> {
        if !self.is_instruction() {
            return None;
        }
        // SAFETY: the value is an instruction, as checked above; the result is null at the end.
        unsafe { Value::from_nullable(LLVMGetNextInstruction(self.raw())) }
    }

    /// Returns the previous instruction of the block.
    pub fn previous(self) -> Option<Value<'c>> {
        if !self.is_instruction() {
            return None;
        }
        // SAFETY: the value is an instruction, as checked above; the result is null at the start.
        unsafe { Value::from_nullable(LLVMGetPreviousInstruction(self.raw())) }
    }

    /// Removes and deletes an instruction without users; the handle is invalid afterwards.
    pub fn erase(self) {
        if self.is_instruction() {
            // SAFETY: an instruction, checked above, that is not used again.
            unsafe { LLVMInstructionEraseFromParent(self.raw()) }
        }
    }

    /// Returns an unattached copy of an instruction, with the same operands, flags and notes.
    pub fn clone_instruction(self) -> Value<'c> {
        assert!(self.is_instruction(), "{self} is not an instruction");
        // SAFETY: an instruction, checked above.
        unsafe { Value::from_raw(LLVMInstructionClone(self.raw())) }
    }

    /// Returns the value before all `bitcast`s.
    pub fn uncast(self) -> Value<'c> {
        let mut value = self;
        while value.is(Opcode::LLVMBitCast) {
            value = value.operand(0);
        }
        value
    }

    fn is(self, opcode: Opcode) -> bool {
        self.opcode() == Some(opcode)
    }

    /// Returns whether the value is a call of any kind except invoke.
    pub fn is_call(self) -> bool {
        self.is(Opcode::LLVMCall)
    }

    /// Returns whether the value is a phi.
    pub fn is_phi(self) -> bool {
        self.is(Opcode::LLVMPHI)
    }

    /// Returns whether the value ends a block.
    pub fn is_terminator(self) -> bool {
        // SAFETY: an instruction, checked in the condition.
        self.is_instruction() && !unsafe { LLVMIsATerminatorInst(self.raw()) }.is_null()
    }

    /// Returns the directly called function; only the callee operand is considered.
    pub fn called_function(self) -> Option<Value<'c>> {
        self.called_value().filter(|callee| callee.is_function())
    }

    /// Returns the callee of a call.
    pub fn called_value(self) -> Option<Value<'c>> {
        // SAFETY: a call, checked before.
        self.is_call().then(|| unsafe { Value::from_raw(LLVMGetCalledValue(self.raw())) })
    }

    /// Returns the function type of a call.
    pub fn called_type(self) -> Option<Type<'c>> {
        // SAFETY: a call, checked in the condition.
        self.is_call().then(|| unsafe { Type::from_raw(LLVMGetCalledFunctionType(self.raw())) })
    }

    /// Returns the arguments of a call; empty for other values.
    pub fn arguments(self) -> Vec<Value<'c>> {
        if !self.is_call() {
            return Vec::new();
        }
        // SAFETY: a call, checked above.
        let count = unsafe { LLVMGetNumArgOperands(self.raw()) };
        (0..count).map(|index| self.operand(index)).collect()
    }

    /// Returns the name of the directly called function; empty otherwise.
    pub fn callee_name(self) -> String {
        self.called_function().map(Value::name).unwrap_or_default()
    }

    /// Returns the predicate of an integer comparison.
    pub fn int_predicate(self) -> Option<IntPredicate> {
        // SAFETY: an `icmp`, checked in the condition.
        self.is(Opcode::LLVMICmp).then(|| unsafe { LLVMGetICmpPredicate(self.raw()) })
    }

    /// Returns the predicate of a floating-point comparison.
    pub fn real_predicate(self) -> Option<RealPredicate> {
        // SAFETY: an `fcmp`, checked in the condition.
        self.is(Opcode::LLVMFCmp).then(|| unsafe { LLVMGetFCmpPredicate(self.raw()) })
    }

    /// Returns the incoming values and blocks of a phi; empty for other values.
    pub fn incoming(self) -> Vec<(Value<'c>, Block<'c>)> {
        if !self.is_phi() {
            return Vec::new();
        }
        // SAFETY: the value is a phi, as checked above, and has a value and a block for every index below the count.
        unsafe {
            (0..LLVMCountIncoming(self.raw()))
                .map(|index| {
                    let value = Value::from_raw(LLVMGetIncomingValue(self.raw(), index));
                    (value, Block::from_raw(LLVMGetIncomingBlock(self.raw(), index)))
                })
                .collect()
        }
    }

    /// Adds incoming pairs to a phi.
    pub fn add_incoming(self, incoming: &[(Value<'c>, Block<'c>)]) {
        assert!(self.is_phi(), "{self} is not a phi");
        let mut values: Vec<_> = incoming.iter().map(|pair| pair.0.raw()).collect();
        let mut blocks: Vec<_> = incoming.iter().map(|pair| pair.1.raw()).collect();
        // SAFETY: the value is a phi, as checked above; both arrays have the given length and outlive the call.
        unsafe { LLVMAddIncoming(self.raw(), values.as_mut_ptr(), blocks.as_mut_ptr(), values.len() as u32) }
    }

    /// Returns the successors of a terminator in order, including repetitions; empty for other values.
    pub fn successors(self) -> Vec<Block<'c>> {
        if !self.is_terminator() {
            return Vec::new();
        }
        // SAFETY: a terminator, checked above, that has a successor for every index below the count.
        unsafe {
            (0..LLVMGetNumSuccessors(self.raw()))
                .map(|index| Block::from_raw(LLVMGetSuccessor(self.raw(), index)))
                .collect()
        }
    }

    /// Changes the edges of a terminator from `from` to `to`; phis are not changed.
    pub fn retarget(self, from: Block<'c>, to: Block<'c>) {
        for (index, next) in self.successors().into_iter().enumerate() {
            if next == from {
                // SAFETY: the terminator has this successor, because `successors` returned it.
                unsafe { LLVMSetSuccessor(self.raw(), index as u32, to.raw()) }
            }
        }
    }

    /// Removes an instruction from its block without deleting it; [`crate::llvm::Builder::insert`] inserts it again.
    pub fn detach(self) {
        if self.is_instruction() {
            // SAFETY: an instruction, checked above.
            unsafe { LLVMInstructionRemoveFromParent(self.raw()) }
        }
    }

    /// Returns the condition of a conditional branch.
    pub fn condition(self) -> Option<Value<'c>> {
        // SAFETY: the value is a branch, as checked in the condition; only the condition of a conditional branch is
        // read.
        (self.is(Opcode::LLVMBr) && unsafe { LLVMIsConditional(self.raw()) != 0 })
            // SAFETY: a conditional branch, checked in the condition.
            .then(|| unsafe { Value::from_raw(LLVMGetCondition(self.raw())) })
    }

    /// Returns whether the access is volatile (loads, stores, atomics).
    pub fn is_volatile(self) -> bool {
        use Opcode::{LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore};
        let access = matches!(self.opcode(), Some(LLVMLoad | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg));
        // SAFETY: a memory access, checked in the condition.
        access && unsafe { LLVMGetVolatile(self.raw()) != 0 }
    }

    /// Makes a load or store volatile or plain.
    pub fn set_volatile(self, volatile: bool) {
        if matches!(self.opcode(), Some(Opcode::LLVMLoad | Opcode::LLVMStore)) {
            // SAFETY: a load or store, checked above.
            unsafe { LLVMSetVolatile(self.raw(), volatile as i32) }
        }
    }

    /// Returns the ordering of a load, store, read-modify-write or fence.
    pub fn ordering(self) -> Option<Ordering> {
        matches!(self.opcode(), Some(Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMFence))
            // SAFETY: an instruction that has an ordering, checked in the condition.
            .then(|| unsafe { LLVMGetOrdering(self.raw()) })
    }

    /// Returns the operation of an `atomicrmw`.
    pub fn atomic_op(self) -> Option<AtomicOp> {
        // SAFETY: an `atomicrmw`, checked in the condition.
        self.is(Opcode::LLVMAtomicRMW).then(|| unsafe { LLVMGetAtomicRMWBinOp(self.raw()) })
    }

    /// Returns the alignment in bytes of a load, store, atomic, alloca or global, or 0 if LLVM has none.
    pub fn alignment(self) -> u32 {
        // SAFETY: the value has an alignment, as checked in the condition.
        let bytes = if self.has_alignment() { unsafe { LLVMGetAlignment(self.raw()) } } else { 0 };
        // An access always has an alignment. LLVM's largest alignment, that of null, does not fit in this function's
        // result.
        if bytes == 0 && self.has_alignment() && !self.is_global_variable() { 1 << 31 } else { bytes }
    }

    fn has_alignment(self) -> bool {
        use Opcode::{LLVMAlloca, LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore};
        self.is_global_variable()
            || matches!(self.opcode(), Some(LLVMLoad | LLVMStore | LLVMAlloca | LLVMAtomicRMW | LLVMAtomicCmpXchg))
    }

    /// Sets the alignment of a value for which [`Self::alignment`] is defined.
    pub fn set_alignment(self, bytes: u32) {
        assert!(self.has_alignment(), "{self} has no alignment");
        // SAFETY: the value has an alignment, as checked above.
        unsafe { LLVMSetAlignment(self.raw(), bytes) }
    }

    /// Returns the type for which an `alloca` reserves memory.
    pub fn allocated_type(self) -> Option<Type<'c>> {
        // SAFETY: an `alloca`, checked in the condition.
        self.is(Opcode::LLVMAlloca).then(|| unsafe { Type::from_raw(LLVMGetAllocatedType(self.raw())) })
    }

    /// Returns the type over which a `getelementptr` instruction or expression steps.
    pub fn gep_source_type(self) -> Option<Type<'c>> {
        let gep = self.is(Opcode::LLVMGetElementPtr) || self.constant_opcode() == Some(Opcode::LLVMGetElementPtr);
        // SAFETY: a `getelementptr`, checked above.
        gep.then(|| unsafe { Type::from_raw(LLVMGetGEPSourceElementType(self.raw())) })
    }

    /// Returns whether a `getelementptr` is `inbounds`.
    pub fn is_inbounds(self) -> bool {
        // SAFETY: a `getelementptr`, checked in the condition.
        self.gep_source_type().is_some() && unsafe { LLVMGEPGetNoWrapFlags(self.raw()) & LLVMGEPFlagInBounds != 0 }
    }

    /// Returns the indices of `extractvalue` and `insertvalue`.
    pub fn indices(self) -> Vec<u32> {
        if !(self.is(Opcode::LLVMExtractValue) || self.is(Opcode::LLVMInsertValue)) {
            return Vec::new();
        }
        // SAFETY: the instruction has indices, as checked above; the array has the length that LLVM returns, and is
        // copied immediately.
        unsafe {
            let indices = LLVMGetIndices(self.raw());
            std::slice::from_raw_parts(indices, LLVMGetNumIndices(self.raw()) as usize).to_vec()
        }
    }

    /// Returns the mask of a `shufflevector`; `None` for undefined elements.
    pub fn shuffle_mask(self) -> Vec<Option<u32>> {
        if !self.is(Opcode::LLVMShuffleVector) {
            return Vec::new();
        }
        // SAFETY: a `shufflevector`, checked above, that has an element for every index below the count.
        unsafe {
            (0..LLVMGetNumMaskElements(self.raw()))
                .map(|index| u32::try_from(LLVMGetMaskValue(self.raw(), index)).ok())
                .collect()
        }
    }

    /// Returns whether the instruction can have fast-math flags.
    pub fn has_fast_math(self) -> bool {
        // SAFETY: an instruction, checked in the condition.
        self.is_instruction() && unsafe { LLVMCanValueUseFastMathFlags(self.raw()) != 0 }
    }

    /// Returns the fast-math flags, or 0 if there can be none.
    pub fn fast_math(self) -> u32 {
        // SAFETY: an instruction with fast-math flags, checked in the condition.
        if self.has_fast_math() { unsafe { LLVMGetFastMathFlags(self.raw()) } } else { 0 }
    }

    /// Sets the fast-math flags, if the instruction can have any.
    pub fn set_fast_math(self, flags: u32) {
        if self.has_fast_math() {
            // SAFETY: an instruction with fast-math flags, checked above.
            unsafe { LLVMSetFastMathFlags(self.raw(), flags) }
        }
    }

    /// Returns `nuw` of add, sub, mul and shl.
    pub fn is_nuw(self) -> bool {
        // SAFETY: an instruction that may wrap, checked in the condition.
        self.may_wrap() && unsafe { LLVMGetNUW(self.raw()) != 0 }
    }

    /// Returns `nsw` of add, sub, mul and shl.
    pub fn is_nsw(self) -> bool {
        // SAFETY: an instruction that may wrap, checked in the condition.
        self.may_wrap() && unsafe { LLVMGetNSW(self.raw()) != 0 }
    }

    fn may_wrap(self) -> bool {
        matches!(self.opcode(), Some(Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl))
    }

    /// Returns `disjoint` of or.
    pub fn is_disjoint(self) -> bool {
        // SAFETY: an `or`, checked in the condition.
        self.is(Opcode::LLVMOr) && unsafe { LLVMGetIsDisjoint(self.raw()) != 0 }
    }

    /// Returns `nneg` of zext.
    pub fn is_nneg(self) -> bool {
        // SAFETY: a `zext`, checked in the condition.
        self.is(Opcode::LLVMZExt) && unsafe { LLVMGetNNeg(self.raw()) != 0 }
    }

    /// Returns the text of inline assembly.
    pub fn asm_text(self) -> String {
        if !self.is_inline_asm() {
            return String::new();
        }
        // SAFETY: the value is inline assembly, as checked above; the text is copied immediately.
        unsafe {
            let mut length = 0;
            let text = LLVMGetInlineAsmAsmString(self.raw(), &mut length);
            copy_text(text, length)
        }
    }

    /// Returns the constraints of inline assembly.
    pub fn asm_constraints(self) -> String {
        if !self.is_inline_asm() {
            return String::new();
        }
        // SAFETY: the value is inline assembly, as checked above; the text is copied immediately.
        unsafe {
            let mut length = 0;
            let text = LLVMGetInlineAsmConstraintString(self.raw(), &mut length);
            copy_text(text, length)
        }
    }

    /// Returns whether the instruction has a note of this kind. `kind` is a name such as `invariant.load`.
    pub fn has_note(self, kind: &str) -> bool {
        if !self.is_instruction() {
            return false;
        }
        // SAFETY: a live context; the name is passed as pointer and length.
        unsafe {
            let id = LLVMGetMDKindIDInContext(self.types().raw(), kind.as_ptr().cast(), kind.len() as u32);
            !LLVMGetMetadata(self.raw(), id).is_null()
        }
    }

    /// Returns the line of the debug location, or 0 if there is none.
    pub fn debug_line(self) -> u32 {
        let located = self.is_instruction() || self.is_function() || self.is_global_variable();
        // SAFETY: the value has a kind with a location, as checked above.
        if located { unsafe { LLVMGetDebugLocLine(self.raw()) } } else { 0 }
    }

    /// Returns the file of the debug location as it was passed to the compiler; empty if there is none.
    pub fn debug_file(self) -> String {
        if !(self.is_instruction() || self.is_function() || self.is_global_variable()) {
            return String::new();
        }
        // SAFETY: the value has a kind with a location, as checked above; the text is copied immediately.
        unsafe {
            let mut length = 0;
            let name = LLVMGetDebugLocFilename(self.raw(), &mut length);
            copy_text(name, length as usize)
        }
    }
}

impl<'c> Value<'c> {
    /// Sets the alignment of the memory to which a call's pointer argument (or vector of pointers) points.
    pub fn set_argument_alignment(self, argument: u32, bytes: u32) {
        assert!(self.is_call(), "{self} is not a call");
        // SAFETY: a call, checked above.
        unsafe { LLVMSetInstrParamAlignment(self.raw(), argument + 1, bytes) }
    }
}
