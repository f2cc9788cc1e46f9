//! Statements of inline assembly whose executions are recorded.

use super::Typed;
use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::Emitter;
use crate::cpu::ptx::machine::Machine;
use crate::device::operations::assembly::{moved_type, result_type};
use crate::llvm::Value;
use crate::ptx::parse::{Operand, Statement};
use warpline_format::operation::ValueType;

/// The operands of a statement before its execution, and the lanes that execute it.
pub(in crate::cpu) struct Sources<'c> {
    operands: Vec<Typed<'c>>,
    mask: Value<'c>,
}

impl<'c> Emitter<'_, 'c> {
    /// Returns the operands of the statement that is executed next, if it is recorded.
    pub(in crate::cpu) fn statement_sources(
        &mut self,
        machine: &Machine<'c>,
        statement: &Statement,
    ) -> Option<Sources<'c>> {
        self.operation.filter(|operation| operation.recorded)?;
        let parts: Vec<&str> = statement.operation.iter().map(String::as_str).collect();
        let guard = match &statement.guard {
            Some((operand, negated)) => {
                let value = self.predicate(machine, operand)?;
                Some(if *negated { self.b.not(value) } else { value })
            }
            None => None,
        };
        let mask = self.guarded_mask(machine, guard);
        let ty = moved_type(&parts);
        let sources = if parts[0] == "red" { &statement.operands[..] } else { statement.operands.get(1..)? };
        let mut operands = Vec::new();
        for source in sources {
            let Some(value) = self.operand_value(machine, &parts, source, ty) else { break };
            operands.push(value);
        }
        Some(Sources { operands, mask })
    }

    /// Records the statement that was executed, unless it has already been recorded.
    pub(in crate::cpu) fn record_statement(
        &mut self,
        machine: &mut Machine<'c>,
        statement: &Statement,
        sources: Option<Sources<'c>>,
    ) {
        let previous = machine.previous.take();
        let Some(Sources { operands, mask }) = sources else { return };
        let parts: Vec<&str> = statement.operation.iter().map(String::as_str).collect();
        let ty = result_type(&parts);
        let result = match previous {
            Some(value) => typed_as(value, ty),
            None => statement.operands.first().and_then(|result| self.operand_value(machine, &parts, result, ty)),
        };
        if let (Some(result), Some(false)) = (result, self.operation.map(|operation| operation.done)) {
            self.follow(result, &operands, None, mask);
        }
    }

    /// Returns the value of an operand; `None` if it cannot be recorded. `ty` is the type of the instruction.
    fn operand_value(
        &mut self,
        machine: &Machine<'c>,
        parts: &[&str],
        operand: &Operand,
        ty: Option<ValueType>,
    ) -> Option<Typed<'c>> {
        let value = match operand {
            Operand::Memory(..) => return Some((self.asm_address(machine, parts, operand)?, ValueType::Int64)),
            Operand::Not(_) => self.signed_predicate(machine, operand)?,
            Operand::Pair(first, _) => return self.operand_value(machine, parts, first, ty),
            Operand::Register(name) if name == "_" => return None,
            Operand::Register(_) | Operand::Argument(_) | Operand::Number(_) => {
                let bits = self.operand_bits(machine, operand).or(ty.map(ValueType::bits)).unwrap_or(32);
                self.read(machine, operand, bits)?
            }
            Operand::Group(_) | Operand::Texture(..) => return None,
        };
        typed_as(value, ty)
    }
}

/// Returns a value with the type of the instruction, or with that of an integer if it has another width.
fn typed_as(value: Value<'_>, ty: Option<ValueType>) -> Option<Typed<'_>> {
    let bits = scalar_bits(value.ty());
    let ty = ty.filter(|ty| ty.bits() == bits);
    Some((value, ty.or_else(|| ValueType::from_integer_bits(bits))?))
}
