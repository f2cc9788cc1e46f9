//! Queries of instructions and changes to them.

use super::text::copy_text;
use super::types::Type;
use super::value::*;
use inkwell::llvm_sys::LLVMGEPFlagInBounds;
use inkwell::llvm_sys::core::*;

impl<'c> Value<'c> {
    /// Its operation, if it is an instruction.
    pub fn opcode(self) -> Option<Opcode> {
        // SAFETY: an instruction, checked in the condition.
        self.is_instruction().then(|| unsafe { LLVMGetInstructionOpcode(self.raw()) })
    }

    /// Block that holds the instruction.
    pub fn block(self) -> Option<Block<'c>> {
        if !self.is_instruction() {
            return None;
        }
        // SAFETY: an instruction, checked above; null where no block holds it.
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
        // SAFETY: an instruction, checked above; null at the end.
        unsafe { Value::from_nullable(LLVMGetNextInstruction(self.raw())) }
    }

    /// Returns the previous instruction of the block.
    pub fn previous(self) -> Option<Value<'c>> {
        if !self.is_instruction() {
            return None;
        }
        // SAFETY: an instruction, checked above; null at the start.
        unsafe { Value::from_nullable(LLVMGetPreviousInstruction(self.raw())) }
    }

    /// Removes and deletes an instruction without users; the handle is dead afterwards.
    pub fn erase(self) {
        if self.is_instruction() {
            // SAFETY: an instruction, checked above, that is not used again.
            unsafe { LLVMInstructionEraseFromParent(self.raw()) }
        }
    }

    /// Returns an unattached copy of an instruction, with the same operands, flags and notes.
    pub fn clone_instruction(self) -> Value<'c> {
        assert!(self.is_instruction(), "{self} is no instruction");
        // SAFETY: an instruction, checked above.
        unsafe { Value::from_raw(LLVMInstructionClone(self.raw())) }
    }

    /// What the value was before `bitcast`s.
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

    /// Returns whether it is a call of any kind but invoke.
    pub fn is_call(self) -> bool {
        self.is(Opcode::LLVMCall)
    }

    /// Returns whether it is a phi.
    pub fn is_phi(self) -> bool {
        self.is(Opcode::LLVMPHI)
    }

    /// Returns whether it ends a block.
    pub fn is_terminator(self) -> bool {
        // SAFETY: an instruction, checked in the condition.
        self.is_instruction() && !unsafe { LLVMIsATerminatorInst(self.raw()) }.is_null()
    }

    /// Function called directly, from the callee operand only.
    pub fn called_function(self) -> Option<Value<'c>> {
        self.called_value().filter(|callee| callee.is_function())
    }

    /// Callee of a call.
    pub fn called_value(self) -> Option<Value<'c>> {
        // SAFETY: a call, checked before.
        self.is_call().then(|| unsafe { Value::from_raw(LLVMGetCalledValue(self.raw())) })
    }

    /// Function type of a call.
    pub fn called_type(self) -> Option<Type<'c>> {
        // SAFETY: a call, checked in the condition.
        self.is_call().then(|| unsafe { Type::from_raw(LLVMGetCalledFunctionType(self.raw())) })
    }

    /// Arguments of a call; empty for others.
    pub fn arguments(self) -> Vec<Value<'c>> {
        if !self.is_call() {
            return Vec::new();
        }
        // SAFETY: a call, checked above.
        let count = unsafe { LLVMGetNumArgOperands(self.raw()) };
        (0..count).map(|index| self.operand(index)).collect()
    }

    /// Name of the function called directly, empty otherwise.
    pub fn callee_name(self) -> String {
        self.called_function().map(Value::name).unwrap_or_default()
    }

    /// Predicate of an integer comparison.
    pub fn int_predicate(self) -> Option<IntPredicate> {
        // SAFETY: an `icmp`, checked in the condition.
        self.is(Opcode::LLVMICmp).then(|| unsafe { LLVMGetICmpPredicate(self.raw()) })
    }

    /// Predicate of a floating-point comparison.
    pub fn real_predicate(self) -> Option<RealPredicate> {
        // SAFETY: an `fcmp`, checked in the condition.
        self.is(Opcode::LLVMFCmp).then(|| unsafe { LLVMGetFCmpPredicate(self.raw()) })
    }

    /// Incoming values and blocks of a phi; empty for others.
    pub fn incoming(self) -> Vec<(Value<'c>, Block<'c>)> {
        if !self.is_phi() {
            return Vec::new();
        }
        // SAFETY: a phi, checked above, that has a value and a block for every index below the count.
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
        assert!(self.is_phi(), "{self} is no phi");
        let mut values: Vec<_> = incoming.iter().map(|pair| pair.0.raw()).collect();
        let mut blocks: Vec<_> = incoming.iter().map(|pair| pair.1.raw()).collect();
        // SAFETY: a phi, checked above; both arrays have the length given and outlive the call.
        unsafe { LLVMAddIncoming(self.raw(), values.as_mut_ptr(), blocks.as_mut_ptr(), values.len() as u32) }
    }

    /// Successors of a terminator, in order, repeats kept; empty for others.
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

    /// Makes a terminator that goes to `from` go to `to` instead; phis are not touched.
    pub fn retarget(self, from: Block<'c>, to: Block<'c>) {
        for (index, next) in self.successors().into_iter().enumerate() {
            if next == from {
                // SAFETY: a terminator that has this successor, as `successors` found it.
                unsafe { LLVMSetSuccessor(self.raw(), index as u32, to.raw()) }
            }
        }
    }

    /// Takes an instruction out of its block without deleting it; [`crate::llvm::Builder::insert`] puts it back.
    pub fn detach(self) {
        if self.is_instruction() {
            // SAFETY: an instruction, checked above.
            unsafe { LLVMInstructionRemoveFromParent(self.raw()) }
        }
    }

    /// Condition of a conditional branch.
    pub fn condition(self) -> Option<Value<'c>> {
        // SAFETY: a branch, checked in the condition, and only a conditional one's condition is read.
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

    /// Ordering of a load, store, read-modify-write or fence.
    pub fn ordering(self) -> Option<Ordering> {
        matches!(self.opcode(), Some(Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMFence))
            // SAFETY: an instruction that has an ordering, checked in the condition.
            .then(|| unsafe { LLVMGetOrdering(self.raw()) })
    }

    /// Operation of an `atomicrmw`.
    pub fn atomic_op(self) -> Option<AtomicOp> {
        // SAFETY: an `atomicrmw`, checked in the condition.
        self.is(Opcode::LLVMAtomicRMW).then(|| unsafe { LLVMGetAtomicRMWBinOp(self.raw()) })
    }

    /// Alignment in bytes of a load, store, atomic, alloca or global; 0 if LLVM has none.
    pub fn alignment(self) -> u32 {
        // SAFETY: something that has an alignment, checked in the condition.
        let bytes = if self.has_alignment() { unsafe { LLVMGetAlignment(self.raw()) } } else { 0 };
        // An access always has one. LLVM's largest, that of null, is one bit too long for this function.
        if bytes == 0 && self.has_alignment() && !self.is_global_variable() { 1 << 31 } else { bytes }
    }

    fn has_alignment(self) -> bool {
        use Opcode::{LLVMAlloca, LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore};
        self.is_global_variable()
            || matches!(self.opcode(), Some(LLVMLoad | LLVMStore | LLVMAlloca | LLVMAtomicRMW | LLVMAtomicCmpXchg))
    }

    /// Sets the alignment of what [`Self::alignment`] is defined for.
    pub fn set_alignment(self, bytes: u32) {
        assert!(self.has_alignment(), "{self} has no alignment");
        // SAFETY: something that has an alignment, checked above.
        unsafe { LLVMSetAlignment(self.raw(), bytes) }
    }

    /// Type that an `alloca` reserves.
    pub fn allocated_type(self) -> Option<Type<'c>> {
        // SAFETY: an `alloca`, checked in the condition.
        self.is(Opcode::LLVMAlloca).then(|| unsafe { Type::from_raw(LLVMGetAllocatedType(self.raw())) })
    }

    /// Type that a `getelementptr` instruction or expression steps over.
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

    /// Indices of `extractvalue` and `insertvalue`.
    pub fn indices(self) -> Vec<u32> {
        if !(self.is(Opcode::LLVMExtractValue) || self.is(Opcode::LLVMInsertValue)) {
            return Vec::new();
        }
        // SAFETY: an instruction with indices, checked above; the array has the length that LLVM returns, and is copied
        // at once.
        unsafe {
            let indices = LLVMGetIndices(self.raw());
            std::slice::from_raw_parts(indices, LLVMGetNumIndices(self.raw()) as usize).to_vec()
        }
    }

    /// Mask of a `shufflevector`; `None` for undefined elements.
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

    /// Returns whether the instruction can carry fast-math flags.
    pub fn has_fast_math(self) -> bool {
        // SAFETY: an instruction, checked in the condition.
        self.is_instruction() && unsafe { LLVMCanValueUseFastMathFlags(self.raw()) != 0 }
    }

    /// Fast-math flags, 0 where there can be none.
    pub fn fast_math(self) -> u32 {
        // SAFETY: an instruction with fast-math flags, checked in the condition.
        if self.has_fast_math() { unsafe { LLVMGetFastMathFlags(self.raw()) } } else { 0 }
    }

    /// Sets fast-math flags where there can be some.
    pub fn set_fast_math(self, flags: u32) {
        if self.has_fast_math() {
            // SAFETY: an instruction with fast-math flags, checked above.
            unsafe { LLVMSetFastMathFlags(self.raw(), flags) }
        }
    }

    /// `nuw` of add, sub, mul and shl.
    pub fn is_nuw(self) -> bool {
        // SAFETY: an instruction that may wrap, checked in the condition.
        self.may_wrap() && unsafe { LLVMGetNUW(self.raw()) != 0 }
    }

    /// `nsw` of add, sub, mul and shl.
    pub fn is_nsw(self) -> bool {
        // SAFETY: an instruction that may wrap, checked in the condition.
        self.may_wrap() && unsafe { LLVMGetNSW(self.raw()) != 0 }
    }

    fn may_wrap(self) -> bool {
        matches!(self.opcode(), Some(Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl))
    }

    /// `disjoint` of or.
    pub fn is_disjoint(self) -> bool {
        // SAFETY: an `or`, checked in the condition.
        self.is(Opcode::LLVMOr) && unsafe { LLVMGetIsDisjoint(self.raw()) != 0 }
    }

    /// `nneg` of zext.
    pub fn is_nneg(self) -> bool {
        // SAFETY: a `zext`, checked in the condition.
        self.is(Opcode::LLVMZExt) && unsafe { LLVMGetNNeg(self.raw()) != 0 }
    }

    /// Text of inline assembly.
    pub fn asm_text(self) -> String {
        if !self.is_inline_asm() {
            return String::new();
        }
        // SAFETY: inline assembly, checked above; the text is copied at once.
        unsafe {
            let mut length = 0;
            let text = LLVMGetInlineAsmAsmString(self.raw(), &mut length);
            copy_text(text, length)
        }
    }

    /// Constraints of inline assembly.
    pub fn asm_constraints(self) -> String {
        if !self.is_inline_asm() {
            return String::new();
        }
        // SAFETY: inline assembly, checked above; the text is copied at once.
        unsafe {
            let mut length = 0;
            let text = LLVMGetInlineAsmConstraintString(self.raw(), &mut length);
            copy_text(text, length)
        }
    }

    /// Returns whether the instruction carries a note of this kind. `kind` is a name such as `invariant.load`.
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

    /// Line of the debug location, 0 where there is none.
    pub fn debug_line(self) -> u32 {
        let located = self.is_instruction() || self.is_function() || self.is_global_variable();
        // SAFETY: of a kind that has a location, checked above.
        if located { unsafe { LLVMGetDebugLocLine(self.raw()) } } else { 0 }
    }

    /// File of the debug location, as the compiler was given it; empty where there is none.
    pub fn debug_file(self) -> String {
        if !(self.is_instruction() || self.is_function() || self.is_global_variable()) {
            return String::new();
        }
        // SAFETY: of a kind that has a location, checked above; the text is copied at once.
        unsafe {
            let mut length = 0;
            let name = LLVMGetDebugLocFilename(self.raw(), &mut length);
            copy_text(name, length as usize)
        }
    }
}

impl<'c> Value<'c> {
    /// Sets the alignment of what a call's pointer argument (or vector of pointers) points to.
    pub fn set_argument_alignment(self, argument: u32, bytes: u32) {
        assert!(self.is_call(), "{self} is no call");
        // SAFETY: a call, checked above.
        unsafe { LLVMSetInstrParamAlignment(self.raw(), argument + 1, bytes) }
    }
}
