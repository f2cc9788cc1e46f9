//! bfloat16, rounded with integer operations. On a host without AVX512-BF16, LLVM calls a function of the compiler's
//! library for each lane: 32 calls for one conversion, which also take long to compile.

use crate::cpu::emitter::Emitter;
use crate::llvm::value::{Opcode, RealPredicate};
use crate::llvm::{Type, Value};

impl<'c> Emitter<'_, 'c> {
    /// Returns a conversion to or from bfloat16 through single precision, of a number or of lanes, or `None` for
    /// another conversion. `to` is the element type of the result.
    pub(crate) fn brain_cast(&self, opcode: Opcode, value: Value<'c>, to: Type<'c>) -> Option<Value<'c>> {
        let is = |ty: Type<'c>| value.ty() == self.shaped(value, ty);
        let (single, brain) = (self.t.float(), self.t.bfloat());
        match opcode {
            Opcode::LLVMFPTrunc if to == brain && is(single) => Some(self.narrowed_to_brain(value)),
            Opcode::LLVMSIToFP | Opcode::LLVMUIToFP if to == brain => {
                Some(self.narrowed_to_brain(self.b.cast(opcode, value, self.shaped(value, single))))
            }
            Opcode::LLVMFPExt if to == single && is(brain) => Some(self.widened_brain(value)),
            Opcode::LLVMFPExt if is(brain) => {
                Some(self.b.cast(opcode, self.widened_brain(value), self.shaped(value, to)))
            }
            _ => None,
        }
    }

    /// Makes `make` perform an operation on bfloat16 in single precision, which contains all bfloat16 numbers, and
    /// rounds the result. LLVM does the same, but with a call for each lane. Operations on other types are not changed.
    pub(crate) fn in_single(
        &self,
        operands: &[Value<'c>],
        make: impl FnOnce(&Self, &[Value<'c>]) -> Value<'c>,
    ) -> Value<'c> {
        let is_brain = |value: &Value<'c>| value.ty() == self.shaped(*value, self.t.bfloat());
        if !operands.iter().any(is_brain) {
            return make(self, operands);
        }
        let widened = |value: &Value<'c>| if is_brain(value) { self.widened_brain(*value) } else { *value };
        let made = make(self, &operands.iter().map(widened).collect::<Vec<_>>());
        if made.ty() == self.shaped(made, self.t.float()) { self.narrowed_to_brain(made) } else { made }
    }

    /// Returns the type in which an operation with this result is computed.
    pub(crate) fn computed_in(&self, result: Type<'c>) -> Type<'c> {
        if result == self.t.bfloat() { self.t.float() } else { result }
    }

    /// Rounds to nearest, ties to even; every NaN becomes the NaN that GPUs produce.
    fn narrowed_to_brain(&self, value: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let bits = b.bitcast(value, self.shaped(value, self.t.int(32)));
        let same = |number: u64| self.same(bits, number);
        let added = b.add(b.and(b.lshr(bits, same(16)), same(1)), same(0x7fff));
        let rounded = b.lshr(b.add(bits, added), same(16));
        let nan = b.fcmp(RealPredicate::LLVMRealUNO, value, value);
        let half = b.trunc(b.select(nan, same(0x7fff), rounded), self.shaped(value, self.t.int(16)));
        b.bitcast(half, self.shaped(value, self.t.bfloat()))
    }

    fn widened_brain(&self, value: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let bits = b.bitcast(value, self.shaped(value, self.t.int(16)));
        let wide = b.zext(bits, self.shaped(value, self.t.int(32)));
        b.bitcast(b.shl(wide, self.same(wide, 16)), self.shaped(value, self.t.float()))
    }
}
