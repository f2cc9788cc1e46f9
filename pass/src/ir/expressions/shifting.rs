//! Loop variables that are shifted in each iteration: the strides of trees and scans, which halve or double.

use super::Sink;
use crate::llvm::Value;
use crate::llvm::value::Opcode;
use warpline_format::expression::{Binary, ExpressionId, ExpressionKind, LoopId};

/// How a variable changes from one iteration to the next.
pub(super) struct Shifting {
    operation: Operation,
    /// The number of bits by which it is shifted in each iteration.
    by: i64,
}

enum Operation {
    Shift(Binary),
    /// A division by a power of two that rounds towards zero.
    Quotient,
}

impl Shifting {
    /// Recognises the change of a loop header's `phi` whose value in the next iteration is `next`.
    pub(super) fn recognise(next: Value<'_>, phi: Value<'_>) -> Option<Shifting> {
        if !next.is_instruction() {
            return None;
        }
        let opcode = next.opcode()?;
        let known = match opcode {
            Opcode::LLVMShl => Operation::Shift(Binary::ShiftLeft),
            Opcode::LLVMLShr => Operation::Shift(Binary::UnsignedShiftRight),
            Opcode::LLVMAShr => Operation::Shift(Binary::SignedShiftRight),
            Opcode::LLVMSDiv => Operation::Quotient,
            _ => return None,
        };
        let amount = next.operand(1).as_i64().filter(|_| next.operand(0) == phi)?;
        let by = match known {
            Operation::Shift(_) => amount,
            Operation::Quotient if amount > 1 && amount.count_ones() == 1 => amount.trailing_zeros().into(),
            Operation::Quotient => return None,
        };
        (1..64).contains(&by).then_some(Shifting { operation: known, by })
    }

    /// Returns the variable's value for the start value `start`.
    pub(super) fn value(self, bits: u32, start: ExpressionId, lap: LoopId, sink: &mut Sink) -> ExpressionId {
        let counter = sink.node(bits, true, ExpressionKind::Counter(lap));
        let by = sink.constant(bits, self.by);
        let distance = sink.binary(bits, true, Binary::Product, counter, by);
        match self.operation {
            Operation::Shift(operation) => sink.binary(bits, false, operation, start, distance),
            // Two quotients towards zero by powers of two are equivalent to one quotient by their product.
            Operation::Quotient => {
                let one = sink.constant(bits, 1);
                let divisor = sink.binary(bits, false, Binary::ShiftLeft, one, distance);
                sink.binary(bits, false, Binary::SignedQuotient, start, divisor)
            }
        }
    }
}
