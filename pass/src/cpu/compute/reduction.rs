//! Reductions of a lane's own vector to one element, which LLVM's vectoriser generates for sums over adjacent elements.

use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::llvm::Value;
use crate::llvm::value::Opcode;

/// The operation that combines two elements.
enum Join {
    Instruction(Opcode),
    Function(&'static str),
}

/// Returns the operation for the intrinsic's name after `llvm.vector.reduce.`.
fn join(name: &str) -> Option<Join> {
    Some(match name {
        "add" => Join::Instruction(Opcode::LLVMAdd),
        "mul" => Join::Instruction(Opcode::LLVMMul),
        "and" => Join::Instruction(Opcode::LLVMAnd),
        "or" => Join::Instruction(Opcode::LLVMOr),
        "xor" => Join::Instruction(Opcode::LLVMXor),
        "fadd" => Join::Instruction(Opcode::LLVMFAdd),
        "fmul" => Join::Instruction(Opcode::LLVMFMul),
        "smin" => Join::Function("llvm.smin"),
        "smax" => Join::Function("llvm.smax"),
        "umin" => Join::Function("llvm.umin"),
        "umax" => Join::Function("llvm.umax"),
        "fmin" => Join::Function("llvm.minnum"),
        "fmax" => Join::Function("llvm.maxnum"),
        "fminimum" => Join::Function("llvm.minimum"),
        "fmaximum" => Join::Function("llvm.maximum"),
        _ => return None,
    })
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers `llvm.vector.reduce.<name>`. The elements are combined in order, as is required for floating-point sums
    /// without permission to reorder; such sums have their first term as a separate operand.
    pub(crate) fn vector_reduction(&mut self, call: Value<'c>, name: &str) -> Emitted<Vec<Leaf<'c>>> {
        let Some(join) = join(name) else {
            return Err(Refusal::new(call, format!("the intrinsic llvm.vector.reduce.{name}")));
        };
        let mut elements = Vec::new();
        for argument in call.arguments() {
            elements.extend(self.leaves(argument)?);
        }
        let scalars: Option<Vec<_>> = elements.iter().map(Leaf::scalar).collect();
        let uniform = scalars.is_some();
        let values = scalars.unwrap_or_else(|| elements.iter().map(|leaf| leaf.lanes(&self.b)).collect());
        let joined = values.into_iter().reduce(|left, right| match join {
            Join::Instruction(opcode) => self.b.binary(opcode, left, right),
            Join::Function(function) => self.two(function, left, right),
        });
        let Some(joined) = joined else { return Err(Refusal::new(call, "a reduction of no elements")) };
        let leaf = if uniform { Leaf::Uniform(joined) } else { Leaf::Lanes(joined) };
        Ok(self.like_shape(call, vec![leaf]))
    }
}
