//! bfloat16, rounded by integer steps: for a host without AVX512-BF16, LLVM calls a function of the compiler's library for each lane, 32
//! calls for one conversion, which also take long to compile.

use crate::cpu::emitter::Emitter;
use crate::llvm::value::{Opcode, RealPredicate};
use crate::llvm::{Type, Value};

impl<'c> Emitter<'_, 'c> {
    /// A conversion between single precision and bfloat16, of a number or of lanes; `None` where it is another one. `to` is the element
    /// type that comes out.
    pub(crate) fn brain_cast(&self, opcode: Opcode, value: Value<'c>, to: Type<'c>) -> Option<Value<'c>> {
        let is = |ty: Type<'c>| value.ty() == self.shaped(value, ty);
        let (single, brain) = (self.t.float(), self.t.bfloat());
        match opcode {
            Opcode::LLVMFPTrunc if to == brain && is(single) => Some(self.narrowed_to_brain(value)),
            Opcode::LLVMFPExt if to == single && is(brain) => Some(self.widened_brain(value)),
            _ => None,
        }
    }

    /// To the nearest, ties to even; what is no number becomes the one that GPUs make.
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
