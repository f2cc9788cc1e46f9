//! Finds products that a GPU's code generator fuses into sums.
//!
//! With `contract`, a product and the sum that uses it may become one operation with one rounding. LLVM's NVPTX back
//! end does this within a block, for each sum that uses the product (llvm/lib/CodeGen/SelectionDAG/DAGCombiner.cpp,
//! visitFADDForFMACombine and visitFSUBForFMACombine with aggressive fusion).

use crate::llvm::Value;
use crate::llvm::value::Opcode;
use inkwell::llvm_sys::LLVMFastMathAllowContract as CONTRACT;

/// A sum whose product is fused: `± a · b ± c`.
pub(crate) struct Fused<'c> {
    pub(crate) operands: [Value<'c>; 3],
    /// The fused product.
    pub(crate) product: Value<'c>,
    pub(crate) negate_product: bool,
    pub(crate) negate_addend: bool,
}

/// Returns how a sum or difference is fused, if one of its operands is a product that can be fused into it.
pub(crate) fn fusion<'c>(sum: Value<'c>, opcode: Opcode) -> Option<Fused<'c>> {
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
    // If both operands are products, the one with fewer uses is fused, otherwise the left one.
    let take_left = match (can_fuse(left), can_fuse(right)) {
        (false, false) => return None,
        (true, true) => left.users().len() <= right.users().len(),
        (is_left, _) => is_left,
    };
    let (product, addend) = if take_left { (left, right) } else { (right, left) };
    Some(Fused {
        operands: [product.operand(0), product.operand(1), addend],
        product,
        negate_product: difference && !take_left,
        negate_addend: difference && take_left,
    })
}

/// Returns whether every use of a product is a sum into which it is fused.
pub(crate) fn is_fused(product: Value<'_>) -> bool {
    let users = product.users();
    let fuses = |user: &Value<'_>| {
        user.opcode().and_then(|opcode| fusion(*user, opcode)).is_some_and(|fused| fused.product == product)
    };
    !users.is_empty() && users.iter().all(fuses)
}
