//! Products that are fused into sums.
//!
//! The host's code generator has other basic blocks than that of a GPU, because checks split the blocks of hooked code,
//! and the two versions of a kernel would round differently. Therefore, the decision is made here, on the device code,
//! and the host has nothing left to fuse.

use crate::contraction::fusion;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::llvm::Value;
use crate::llvm::value::Opcode;
use inkwell::llvm_sys::LLVMFastMathAllowContract as CONTRACT;

impl<'c> Emitter<'_, 'c> {
    /// Lowers floating-point arithmetic with two operands.
    pub fn float_arithmetic(&mut self, value: Value<'c>, opcode: Opcode) -> Emitted<Vec<Leaf<'c>>> {
        let flags = value.fast_math() & !CONTRACT;
        if self.unit().has_fused(value.ty())
            && let Some(fused) = fusion(value, opcode)
        {
            return self.lanewise_of(value, &fused.operands, |this, operands| {
                this.in_single(operands, |this, operands| {
                    let sign = |negate: bool, operand| if negate { this.b.fneg(operand) } else { operand };
                    let (product, addend) =
                        (sign(fused.negate_product, operands[0]), sign(fused.negate_addend, operands[2]));
                    let fma = this.unit().intrinsic("llvm.fma", &[product.ty()]);
                    let made = this.b.call(fma, &[product, operands[1], addend]);
                    made.set_fast_math(flags);
                    made
                })
            });
        }
        self.lanewise(value, |this, operands| {
            this.in_single(operands, |this, operands| {
                let made = this.b.binary(opcode, operands[0], operands[1]);
                made.set_fast_math(flags);
                made
            })
        })
    }
}
