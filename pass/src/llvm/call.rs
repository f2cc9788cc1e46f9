//! Calls (attributes of calls, calls that can unwind), arguments, and the cases of switches.

use super::types::Type;
use super::value::*;
use inkwell::llvm_sys::core::*;

impl<'c> Value<'c> {
    /// Returns the alignment in bytes that a call guarantees for a pointer argument, or 1 if it guarantees none.
    pub fn argument_alignment(self, argument: u32) -> u32 {
        if !self.is_call() {
            return 1;
        }
        let name = "align";
        // SAFETY: a call, checked above, that has this argument; the name is passed as pointer and length.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMGetCallSiteEnumAttribute(self.raw(), argument + 1, kind);
            if attribute.is_null() { 1 } else { LLVMGetEnumAttributeValue(attribute) as u32 }
        }
    }

    /// Gives a call that is declared to depend only on its arguments a hidden state: `memory(inaccessiblemem:
    /// readwrite)`. (`read` would not be enough: EarlyCSE does not treat inline assembly with side effects as a write
    /// of such memory.)
    pub fn depends_on_hidden_memory(self) {
        // There are two bits per kind of memory. Inaccessible memory is the second kind; 1 means reading, and 2 means
        // writing.
        const USES_INACCESSIBLE: u64 = 3 << 2;
        self.set_call_attribute("memory", USES_INACCESSIBLE);
    }

    /// Prevents LLVM from merging a call with another call (`nomerge`).
    pub fn keep_apart(self) {
        self.set_call_attribute("nomerge", 0);
    }

    /// Prevents LLVM from executing a call under additional conditions (`convergent`).
    pub fn make_convergent(self) {
        self.set_call_attribute("convergent", 0);
    }

    /// Sets a function attribute of a call, and replaces an attribute of the same name.
    fn set_call_attribute(self, name: &str, value: u64) {
        if !self.is_call() {
            return;
        }
        // SAFETY: the value is a call, as checked above; the name is passed as pointer and length, and the attribute is
        // created in the call's context.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let place = super::function::OF_FUNCTION;
            LLVMRemoveCallSiteEnumAttribute(self.raw(), place, kind);
            let attribute = LLVMCreateEnumAttribute(self.types().raw(), kind, value);
            LLVMAddCallSiteAttribute(self.raw(), place, attribute);
        }
    }

    /// Returns whether the effect of a call may depend on which other threads execute it (`convergent`, on the call or
    /// the function).
    pub fn is_convergent(self) -> bool {
        let name = "convergent";
        let here = self.is_call()
            // SAFETY: a call, checked in the condition; the name is passed as pointer and length.
            && unsafe {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                !LLVMGetCallSiteEnumAttribute(self.raw(), super::function::OF_FUNCTION, kind).is_null()
            };
        here || self.direct_callee().is_some_and(|callee| callee.has_attribute(super::function::OF_FUNCTION, name))
    }

    /// Returns the function to which an argument belongs.
    pub fn argument_of(self) -> Option<Value<'c>> {
        // SAFETY: an argument, checked in the condition.
        self.is_argument().then(|| unsafe { Value::from_raw(LLVMGetParamParent(self.raw())) })
    }

    /// Returns whether the value is a call of any kind, including `invoke`.
    pub fn is_any_call(self) -> bool {
        matches!(self.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke))
    }

    /// Returns the function that a call or `invoke` names directly.
    pub fn direct_callee(self) -> Option<Value<'c>> {
        if !self.is_any_call() {
            return None;
        }
        // SAFETY: a call, checked before.
        Some(unsafe { Value::from_raw(LLVMGetCalledValue(self.raw())) }).filter(|callee| callee.is_function())
    }

    /// Returns the arguments of a call or `invoke`.
    pub fn call_arguments(self) -> Vec<Value<'c>> {
        if !self.is_any_call() {
            return Vec::new();
        }
        // SAFETY: a call, checked above.
        let count = unsafe { LLVMGetNumArgOperands(self.raw()) };
        (0..count).map(|index| self.operand(index)).collect()
    }

    /// Returns the block in which an `invoke` continues if it does not unwind.
    pub fn normal_destination(self) -> Option<Block<'c>> {
        // SAFETY: an `invoke`, checked in the condition.
        (self.opcode() == Some(Opcode::LLVMInvoke)).then(|| unsafe { Block::from_raw(LLVMGetNormalDest(self.raw())) })
    }

    /// Inserts a block on the edge on which an `invoke` continues, and returns the block.
    pub fn split_normal_edge(self) -> Option<Block<'c>> {
        let invoke = self.opcode() == Some(Opcode::LLVMInvoke);
        // SAFETY: an `invoke`, checked above.
        invoke.then(|| unsafe { Block::from_raw(super::shim::wl_split_normal_edge(self.raw())) })
    }

    /// Inserts a block that runs before this instruction if `condition` is true, and returns the end of the block.
    pub fn split_if(self, condition: Value<'c>) -> Value<'c> {
        assert!(self.is_instruction(), "{self} is not an instruction");
        // SAFETY: an instruction, checked above, and a live condition.
        unsafe { Value::from_raw(super::shim::wl_split_if(condition.raw(), self.raw())) }
    }

    /// Returns the value of the case that leads to successor `index` of a switch, or `None` for the default, which is
    /// successor 0.
    pub fn switch_case(self, index: u32) -> Option<Value<'c>> {
        if self.opcode() != Some(Opcode::LLVMSwitch) || index == 0 || index as usize >= self.successors().len() {
            return None;
        }
        // SAFETY: a switch that has this successor, checked above.
        unsafe { Value::from_nullable(LLVMGetSwitchCaseValue(self.raw(), index)) }
    }
}

impl<'c> Type<'c> {
    /// Returns a function type with this result that accepts more arguments after the given ones.
    pub fn variadic(self, parameters: &[Type<'c>]) -> Type<'c> {
        let mut raw: Vec<_> = parameters.iter().map(|ty| ty.raw()).collect();
        // SAFETY: live types; the array outlives the call.
        unsafe {
            Type::from_raw(inkwell::llvm_sys::core::LLVMFunctionType(self.raw(), raw.as_mut_ptr(), raw.len() as u32, 1))
        }
    }
}
