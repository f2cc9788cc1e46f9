//! Products fused into sums.
//!
//! With `contract` a product and the sum that takes it may be one operation with one rounding. A GPU's code generator
//! does that within a block; so would the host's, but it sees other blocks: checks part those of hooked code. The two
//! versions of a kernel would round differently. So it is decided here, on the device code, by the rule of LLVM's
//! NVPTX back end (llvm/lib/CodeGen/SelectionDAG/DAGCombiner.cpp, visitFADDForFMACombine and visitFSUBForFMACombine with
//! aggressive fusion), and nothing is left for the host to fuse.

use super::emitter::{Emitted, Emitter};
use super::leaf::Leaf;
use crate::llvm::Value;
use crate::llvm::value::Opcode;
use inkwell::llvm_sys::LLVMFastMathAllowContract as CONTRACT;

/// A sum whose product is fused: `± a · b ± c`.
struct Fused<'c> {
    operands: [Value<'c>; 3],
    negate_product: bool,
    negate_addend: bool,
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers floating-point arithmetic of two operands.
    pub fn float_arithmetic(&mut self, value: Value<'c>, opcode: Opcode) -> Emitted<Vec<Leaf<'c>>> {
        let flags = value.fast_math() & !CONTRACT;
        if self.unit.has_fused(value.ty())
            && let Some(fused) = fusion(value, opcode)
        {
            return self.lanewise_of(value, &fused.operands, |this, operands| {
                let sign = |negate: bool, operand| if negate { this.b.fneg(operand) } else { operand };
                let (product, addend) =
                    (sign(fused.negate_product, operands[0]), sign(fused.negate_addend, operands[2]));
                let fma = this.unit.intrinsic("llvm.fma", &[product.ty()]);
                let made = this.b.call(fma, &[product, operands[1], addend]);
                made.set_fast_math(flags);
                made
            });
        }
        self.lanewise(value, |this, operands| {
            let made = this.b.binary(opcode, operands[0], operands[1]);
            made.set_fast_math(flags);
            made
        })
    }
}

/// What becomes of a sum or difference, if one of its operands is a product that can be fused into it.
fn fusion<'c>(sum: Value<'c>, opcode: Opcode) -> Option<Fused<'c>> {
    let difference = match opcode {
        Opcode::LLVMFAdd => false,
        Opcode::LLVMFSub => true,
        _ => return None,
    };
    if sum.fast_math() & CONTRACT == 0 {
        return None;
    }
    let (left, right) = (sum.operand(0), sum.operand(1));
    let can_fuse = |one: Value<'c>| {
        one.opcode() == Some(Opcode::LLVMFMul) && one.fast_math() & CONTRACT != 0 && one.block() == sum.block()
    };
    // Of two products the one with fewer uses is taken, else the left one.
    let take_left = match (can_fuse(left), can_fuse(right)) {
        (false, false) => return None,
        (true, true) => left.users().len() <= right.users().len(),
        (is_left, _) => is_left,
    };
    let (product, addend) = if take_left { (left, right) } else { (right, left) };
    Some(Fused {
        operands: [product.operand(0), product.operand(1), addend],
        negate_product: difference && !take_left,
        negate_addend: difference && take_left,
    })
}
