//! Arithmetic that is linear in its operands: shared by all analyses of addresses, lanes and threads. Whether
//! a result wraps, and what that means, is up to each of them.

use crate::llvm::Value;
use crate::llvm::value::Opcode;

/// What an instruction on integers makes of its operands.
pub enum Linear<'c> {
    /// The first and this many times (1 or -1) the second.
    Sum(Value<'c>, Value<'c>, i64),
    /// A multiple by a power of two, which is less than 2^63.
    Shifted(Value<'c>, i64),
    /// The product; linear where one of them is known or the same for all.
    Product(Value<'c>, Value<'c>),
}

impl<'c> Linear<'c> {
    /// Of an instruction; `None` for all that are something else.
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
