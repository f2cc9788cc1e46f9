//! Tensor-core instructions of inline assembly, and numbers rounded for them.

use super::machine::Machine;
use crate::cpu::emitter::Emitter;
use crate::llvm::Value;
use crate::matrix::{Multiply, Rows};
use crate::ptx::parse::Operand;

impl<'c> Emitter<'_, 'c> {
    /// Returns the bits of a float rounded to `tf32`, whose low 13 bits are zero: to nearest, ties to even (`rn`) or
    /// ties away from zero (`rna`).
    pub fn tensor32(&self, bits: Value<'c>, parts: &[&str]) -> Option<Value<'c>> {
        let b = &self.b;
        let number = |value: u64| self.same(bits, value);
        let half = match parts {
            _ if parts.iter().any(|part| matches!(*part, "relu" | "satfinite" | "rz")) => return None,
            _ if parts.contains(&"rna") => number(0x1000),
            _ if parts.contains(&"rn") => b.add(number(0xfff), b.and(b.lshr(bits, number(13)), number(1))),
            _ => return None,
        };
        let rounded = b.and(b.add(bits, half), number(!0x1fff & 0xffff_ffff));
        let nan = b.ugt(b.and(bits, number(0x7fff_ffff)), number(0x7f80_0000));
        Some(b.select(nan, number(0x7fff_ffff), rounded))
    }

    /// Lowers `mma`, `ldmatrix`, `stmatrix` and `movmatrix` of inline assembly; returns `None` for a form that is not
    /// supported.
    pub fn asm_matrix(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        if parts[0] == "mma" {
            let product = Multiply::read_ptx(parts)?;
            let [result, a, b, c] = operands else { return None };
            let bits = product.tile.a.bits().max(32);
            let mut registers = Vec::new();
            for operand in [a, b, c] {
                for register in members(operand) {
                    registers.push(self.read(machine, register, bits)?);
                }
            }
            let mask = self.guarded_mask(machine, guard);
            let values = self.multiply(product, &registers, mask)?;
            return self.write_all(machine, members(result), &values, guard);
        }
        if parts[0] == "movmatrix" {
            let [result, source] = operands else { return None };
            let known = ["aligned", "m8n8", "trans", "b16"].iter().all(|part| parts.contains(part));
            let word = self.read(machine, source, 32)?;
            let value = self.transposed(word);
            return known.then(|| self.write(machine, result, value, guard)).flatten();
        }
        let rows = Rows::read(parts)?;
        let (address, group) =
            if rows.store { (operands.first()?, operands.get(1)?) } else { (operands.get(1)?, &operands[0]) };
        let group = members(group);
        if group.len() != rows.count as usize {
            return None;
        }
        let addresses = self.asm_address(machine, parts, address)?;
        let mask = self.guarded_mask(machine, guard);
        if rows.store {
            let mut registers = Vec::new();
            for register in group {
                registers.push(self.read(machine, register, 32)?);
            }
            self.follow_rows(rows, addresses, mask, &registers);
            self.store_rows(rows, addresses, mask, &registers);
            return Some(());
        }
        let values = self.load_rows(rows, addresses, mask);
        self.follow_rows(rows, addresses, mask, &values);
        self.write_all(machine, group, &values, guard)
    }

    fn write_all(
        &mut self,
        machine: &mut Machine<'c>,
        operands: &[Operand],
        values: &[Value<'c>],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        if operands.len() != values.len() {
            return None;
        }
        operands.iter().zip(values).try_for_each(|(operand, value)| self.write(machine, operand, *value, guard))
    }
}

/// Returns the registers of an operand.
fn members(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Group(members) => members,
        one => std::slice::from_ref(one),
    }
}
