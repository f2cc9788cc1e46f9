//! Half-precision multiply-add.
//!
//! A processor without AVX512-FP16 has no such instruction. LLVM would use double precision and then call a function of
//! the compiler's library for each lane to round: 32 calls for one instruction. In single precision, the product of two
//! halves is exact (22 bits), and the sum's error is known exactly. If the sum is rounded to odd, its 24 bits contain
//! all information on which rounding to 11 bits can depend (S. Boldo, G. Melquiond: Emulation of FMA and correctly
//! rounded sums, IEEE Trans. Computers 57, 2008: p + 2 bits suffice).

use crate::cpu::emitter::Emitter;
use crate::cpu::target::types::LANES;
use crate::cpu::target::unit::Unit;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::types::Kind;
use crate::llvm::value::{IntPredicate, Linkage, Opcode, RealPredicate};
use crate::llvm::{Builder, ModuleItems, Value};

impl<'c> Emitter<'_, 'c> {
    /// Returns whether an operation is a multiply-add of 32 halves for which the processor has no instruction.
    pub(crate) fn is_half_fma(&self, base: &str, operand: Value<'c>) -> bool {
        let halves = operand.ty().kind() == Kind::Vector(LANES) && operand.ty().element() == self.t.half();
        halves && matches!(base, "llvm.fma" | "llvm.fmuladd") && !self.unit().has_half_arithmetic()
    }

    /// Returns `a * b + c`, rounded once.
    pub(crate) fn half_fma(&self, operands: &[Value<'c>]) -> Value<'c> {
        self.b.call(self.unit().half_fma_helper(), operands)
    }
}

impl<'c> Unit<'c> {
    fn half_fma_helper(&self) -> Value<'c> {
        let name = "warpline.fma.half";
        if let Some(function) = ModuleItems::function(&self.target, name) {
            return function;
        }
        let (half, float, int) =
            (self.t.half().vector(LANES), self.t.float().vector(LANES), self.t.int(32).vector(LANES));
        let function = self.target.new_function(name, half.function(&[half, half, half]));
        function.set_linkage(Linkage::LLVMInternalLinkage);
        self.dress(function);
        // Benchmarks of half precision consist of unrolled chains of this operation, which would be long if it were
        // inlined.
        function.add_attribute(OF_FUNCTION, "noinline", 0);
        let b = Builder::new(self.t);
        b.at_end(function.append_block("entry"));
        let [x, y, addend] = [0, 1, 2].map(|index| b.cast(Opcode::LLVMFPExt, function.parameters()[index], float));
        let (add, sub) = (Opcode::LLVMFAdd, Opcode::LLVMFSub);
        let product = b.binary(Opcode::LLVMFMul, x, y);
        let sum = b.binary(add, product, addend);
        // This is Knuth's two-sum.
        let right = b.binary(sub, sum, product);
        let left = b.binary(sub, sum, right);
        let error = b.binary(add, b.binary(sub, product, left), b.binary(sub, addend, right));
        // An inexact sum with an even pattern is adjacent to the odd pattern on the other side of the exact sum. For
        // infinities and NaNs, the error is NaN, and they are not changed.
        let number = |value: u64| Value::vector(&vec![Value::int(self.t.int(32), value); LANES as usize]);
        let bits = b.bitcast(sum, int);
        let even = b.eq(b.and(bits, number(1)), number(0));
        let inexact = b.fcmp(RealPredicate::LLVMRealONE, error, Value::zero(float));
        let opposed = b.binary(Opcode::LLVMXor, bits, b.bitcast(error, int));
        let toward = b.icmp(IntPredicate::LLVMIntSLT, opposed, number(0));
        let step = b.select(toward, number(0xffff_ffff), number(1));
        let odd = b.select(b.and(even, inexact), b.add(bits, step), bits);
        b.return_value(b.cast(Opcode::LLVMFPTrunc, b.bitcast(odd, float), half));
        function
    }
}
