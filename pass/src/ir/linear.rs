//! Arithmetic that is linear in its operands. All analyses of addresses, lanes and threads share this file. Each
//! analysis decides whether a result can wrap, and what this means.

use crate::llvm::Value;
use crate::llvm::value::Opcode;

/// The result of an integer instruction as a function of its operands.
pub enum Linear<'c> {
    /// The first operand plus a multiple (1 or -1) of the second.
    Sum(Value<'c>, Value<'c>, i64),
    /// The product with a power of two that is less than 2^63.
    Shifted(Value<'c>, i64),
    /// A product, which is linear if one of the operands is constant or the same for all.
    Product(Value<'c>, Value<'c>),
}

impl<'c> Linear<'c> {
    /// Recognises an instruction; returns `None` for all others.
    pub fn recognise(value: Value<'c>) -> Option<Linear<'c>> {
        let operands = || (value.operand(0), value.operand(1));
        match value.opcode()? {
            Opcode::LLVMOr if !value.is_disjoint() => None,
            Opcode::LLVMAdd | Opcode::LLVMOr => Some(Linear::Sum(operands().0, operands().1, 1)),
            Opcode::LLVMSub => Some(Linear::Sum(operands().0, operands().1, -1)),
            Opcode::LLVMMul => Some(Linear::Product(operands().0, operands().1)),
            Opcode::LLVMShl => {
                let by = operands().1.as_u64().filter(|&by| by < 63)?;
                Some(Linear::Shifted(operands().0, 1 << by))
            }
            _ => None,
        }
    }
}
