//! The comparisons and selections of inline assembly, and its tests of floating-point numbers.

use super::machine::{Machine, TypeKind};
use crate::cpu::emitter::Emitter;
use crate::llvm::value::RealPredicate;
use crate::llvm::{Value, value::IntPredicate};
use crate::ptx::parse::Operand;

/// Returns whether this file lowers an instruction.
pub(super) fn compares(opcode: &str) -> bool {
    matches!(opcode, "setp" | "selp" | "slct" | "testp")
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers `setp`, `selp`, `slct` and `testp`; returns `None` for a form that is not supported.
    pub fn asm_comparison(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
        (kind, bits): (TypeKind, u32),
    ) -> Option<()> {
        let (result, sources) = operands.split_first()?;
        let value = match parts[0] {
            "setp" => return self.asm_setp(machine, parts, (result, sources), guard, (kind, bits)),
            "selp" => {
                let [yes, no, condition] = sources else { return None };
                let condition = self.signed_predicate(machine, condition)?;
                let (yes, no) = (self.read(machine, yes, bits)?, self.read(machine, no, bits)?);
                self.b.select(condition, yes, no)
            }
            "slct" => self.asm_slct(machine, parts, sources)?,
            _ => {
                let [source] = sources else { return None };
                let value = self.read(machine, source, bits)?;
                self.asm_testp(parts.get(1)?, value, bits)?
            }
        };
        self.write(machine, result, value, guard)
    }

    /// Returns a predicate that may be negated in the operand, `!p`.
    pub fn signed_predicate(&mut self, machine: &Machine<'c>, operand: &Operand) -> Option<Value<'c>> {
        match operand {
            Operand::Not(inner) => {
                let value = self.predicate(machine, inner)?;
                Some(self.b.not(value))
            }
            // `selp` with a constant.
            Operand::Number(number) => {
                let bit = self.int_lanes(1);
                Some(if *number == 0 { Value::zero(bit) } else { Value::all_ones(bit) })
            }
            plain => self.predicate(machine, plain),
        }
    }

    /// Combines the result of a comparison with a third source by `.and`, `.or` or `.xor`. Returns `None` if only the
    /// operation or only the source is present.
    pub(super) fn with_third(
        &mut self,
        machine: &Machine<'c>,
        parts: &[&str],
        third: Option<&Operand>,
        value: Value<'c>,
    ) -> Option<Value<'c>> {
        let operation = parts.get(2).filter(|part| matches!(**part, "and" | "or" | "xor"));
        match (operation, third) {
            (None, None) => Some(value),
            (Some(operation), Some(third)) => {
                let third = self.signed_predicate(machine, third)?;
                Some(match *operation {
                    "and" => self.b.and(value, third),
                    "or" => self.b.or(value, third),
                    _ => self.b.xor(value, third),
                })
            }
            _ => None,
        }
    }

    fn asm_setp(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        (result, sources): (&Operand, &[Operand]),
        guard: Option<Value<'c>>,
        (kind, bits): (TypeKind, u32),
    ) -> Option<()> {
        let ([left, right, rest @ ..], comparison, ty) = (sources, *parts.get(1)?, *parts.last()?) else { return None };
        let (left, right) = (self.read(machine, left, bits)?, self.read(machine, right, bits)?);
        let third = rest.first();
        if ty.ends_with("x2") {
            // There is one result per half.
            let [low, high] = self.compared_halves(ty, comparison, left, right)?;
            let (low, high) =
                (self.with_third(machine, parts, third, low)?, self.with_third(machine, parts, third, high)?);
            let Operand::Pair(first, second) = result else { return None };
            self.write(machine, first, low, guard)?;
            return self.write(machine, second, high, guard);
        }
        let value = match kind {
            TypeKind::Float => self.asm_compared(ty, comparison, left, right)?,
            _ => self.compared(comparison, kind, left, right)?,
        };
        let Operand::Pair(first, second) = result else {
            let value = self.with_third(machine, parts, third, value)?;
            return self.write(machine, result, value, guard);
        };
        let contrary = self.b.not(value);
        let value = self.with_third(machine, parts, third, value)?;
        let contrary = self.with_third(machine, parts, third, contrary)?;
        self.write(machine, first, value, guard)?;
        self.write(machine, second, contrary, guard)
    }

    /// Lowers `slct.<type>.<s32 or f32> d, a, b, c`: the result is a if c is not negative, otherwise b.
    fn asm_slct(&mut self, machine: &Machine<'c>, parts: &[&str], sources: &[Operand]) -> Option<Value<'c>> {
        let ([yes, no, condition], [_, .., ty, by]) = (sources, parts) else { return None };
        let (_, bits) = super::machine::ptx_type(ty)?;
        let (yes, no) = (self.read(machine, yes, bits)?, self.read(machine, no, bits)?);
        let condition = self.read(machine, condition, 32)?;
        let holds = match *by {
            "s32" => self.b.icmp(IntPredicate::LLVMIntSGE, condition, self.same(condition, 0)),
            "f32" => {
                let number = self.as_float(condition, 32)?;
                self.b.fcmp(RealPredicate::LLVMRealOGE, number, Value::zero(number.ty()))
            }
            _ => return None,
        };
        Some(self.b.select(holds, yes, no))
    }

    /// Lowers `testp.<property>.f32` and `.f64`, on a number's bits.
    fn asm_testp(&self, property: &str, value: Value<'c>, bits: u32) -> Option<Value<'c>> {
        let (infinity, normal) = match bits {
            32 => (0x7f80_0000, 0x0080_0000),
            64 => (0x7ff0_0000_0000_0000, 0x0010_0000_0000_0000),
            _ => return None,
        };
        let b = &self.b;
        let number = |constant: u64| self.same(value, constant);
        let magnitude = b.and(value, number((1u64 << (bits - 1)) - 1));
        let finite = b.ult(magnitude, number(infinity));
        Some(match property {
            "finite" => finite,
            "infinite" => b.eq(magnitude, number(infinity)),
            "number" => b.ult(magnitude, number(infinity + 1)),
            "notanumber" => b.ugt(magnitude, number(infinity)),
            "normal" => b.and(finite, b.ugt(magnitude, number(normal - 1))),
            "subnormal" => b.and(b.ult(magnitude, number(normal)), b.ne(magnitude, number(0))),
            _ => return None,
        })
    }
}
