//! Guesses: values that are evenly spaced unless a narrow index wraps between two lanes.
//!
//! `a[row * n + col]` with 32-bit indices is affine up to the extension to 64 bits, and it is not known at compile time
//! whether the narrow value wraps. However, a test is known, with one comparison per group: the extension of the last
//! lane's index. Such a value is computed as a vector, which is always valid, and in addition as bases and a stride
//! that are valid if the test passes. Accesses use the second form if they can; then the vector is unused.

use crate::cpu::emitter::lanes::Guess;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::shapes::shape::Shape;
use crate::cpu::target::types::LANES;
use crate::ir::address;
use crate::llvm::Value;
use crate::llvm::value::{IntPredicate, Opcode};

impl<'c> Emitter<'_, 'c> {
    /// Stores the guess for a value that was just lowered, if there is one.
    pub fn note_guess(&mut self, value: Value<'c>) -> Emitted<()> {
        if !matches!(self.analysis().shape(value), Shape::Varying { probably_affine: true }) {
            return Ok(());
        }
        if let Some(guess) = self.make_guess(value)? {
            self.accesses.note_guess(value, guess);
        }
        Ok(())
    }

    fn make_guess(&mut self, value: Value<'c>) -> Emitted<Option<Guess<'c>>> {
        let wide = value.ty().is_pointer() || value.ty().int_bits() == Some(64);
        Ok(match value.opcode() {
            Some(opcode @ (Opcode::LLVMSExt | Opcode::LLVMZExt)) if wide => {
                self.guess_extension(value.operand(0), opcode == Opcode::LLVMSExt)?
            }
            Some(opcode @ (Opcode::LLVMAdd | Opcode::LLVMSub)) if wide => {
                let (Some(left), Some(right)) = (self.terms(value.operand(0))?, self.terms(value.operand(1))?) else {
                    return Ok(None);
                };
                let sign = if opcode == Opcode::LLVMAdd { 1 } else { -1 };
                self.sum(&left, &right, sign)
            }
            Some(Opcode::LLVMMul) if wide => match (value.operand(1).as_i64(), self.terms(value.operand(0))?) {
                (Some(by), Some(of)) => self.times(&of, by),
                _ => None,
            },
            Some(Opcode::LLVMShl) if wide => match (value.operand(1).as_u64(), self.terms(value.operand(0))?) {
                (Some(by), Some(of)) if by < 32 => self.times(&of, 1 << by),
                _ => None,
            },
            Some(Opcode::LLVMGetElementPtr) => self.guess_address(value)?,
            Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr) if wide => {
                self.accesses.guess(value.operand(0)).cloned()
            }
            _ => None,
        })
    }

    /// Guesses an extension under the condition that the narrow value does not wrap within a group. This is true if the
    /// distance of the group's last lane from the first one is the distance that the stride implies.
    fn guess_extension(&mut self, narrow: Value<'c>, signed: bool) -> Emitted<Option<Guess<'c>>> {
        let bits = narrow.ty().int_bits().unwrap_or(64);
        let Leaf::Affine { bases, stride, ty } = self.leaf(narrow)? else { return Ok(None) };
        if !(8..64).contains(&bits) {
            return Ok(None);
        }
        let lanes = i64::from(LANES) / bases.len() as i64;
        let long = self.t.int(64);
        let (mut wide, mut holds) = (Vec::with_capacity(bases.len()), None);
        for base in bases {
            let low = self.b.trunc(base, ty);
            let first = if signed { self.b.sext(low, long) } else { self.b.zext(low, long) };
            let last = self.b.add(first, self.i64((stride * (lanes - 1)) as u64));
            let fits = if signed {
                let half = 1u64 << (bits - 1);
                self.b.ult(self.b.add(last, self.i64(half)), self.i64(half * 2))
            } else {
                self.b.icmp(IntPredicate::LLVMIntULT, last, self.i64(1 << bits))
            };
            wide.push(first);
            holds = self.both(holds, Some(fits));
        }
        Ok(Some(Guess { bases: wide, stride, holds }))
    }

    fn guess_address(&mut self, gep: Value<'c>) -> Emitted<Option<Guess<'c>>> {
        let Some(steps) = address::steps(gep, self.unit().layout()) else { return Ok(None) };
        let Some(mut sum) = self.terms(gep.operand(0))? else { return Ok(None) };
        for step in &steps.variable {
            let term = if step.index.ty().int_bits() == Some(64) {
                self.terms(step.index)?
            } else {
                match self.leaf(step.index)? {
                    Leaf::Affine { .. } => self.guess_extension(step.index, true)?,
                    _ => self.terms(step.index)?,
                }
            };
            let Some(scaled) = term.and_then(|term| self.times(&term, step.scale as i64)) else { return Ok(None) };
            let Some(more) = self.sum(&sum, &scaled, 1) else { return Ok(None) };
            sum = more;
        }
        if steps.constant != 0 {
            sum.bases = sum.bases.iter().map(|base| self.b.add(*base, self.i64(steps.constant as u64))).collect();
        }
        Ok(Some(sum))
    }

    /// Returns a value as bases and a stride, with or without a condition.
    fn terms(&mut self, value: Value<'c>) -> Emitted<Option<Guess<'c>>> {
        if let Some(guess) = self.accesses.guess(value) {
            return Ok(Some(guess.clone()));
        }
        let leaf = self.leaf(value)?;
        Ok(self.wide(&leaf, true).map(|(bases, stride)| Guess { bases, stride, holds: None }))
    }

    fn sum(&self, left: &Guess<'c>, right: &Guess<'c>, sign: i64) -> Option<Guess<'c>> {
        let stride = left.stride.checked_add(right.stride.checked_mul(sign)?)?;
        let bases = (left.bases.iter().zip(&right.bases))
            .map(|(l, r)| if sign < 0 { self.b.sub(*l, *r) } else { self.b.add(*l, *r) })
            .collect();
        Some(Guess { bases, stride, holds: self.both(left.holds, right.holds) })
    }

    fn times(&self, of: &Guess<'c>, by: i64) -> Option<Guess<'c>> {
        let stride = of.stride.checked_mul(by).filter(|stride| stride.unsigned_abs() < 1 << 24)?;
        let bases = of.bases.iter().map(|base| self.b.mul(*base, self.i64(by as u64))).collect();
        Some(Guess { bases, stride, holds: of.holds })
    }

    fn both(&self, left: Option<Value<'c>>, right: Option<Value<'c>>) -> Option<Value<'c>> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.b.and(left, right)),
            (one, other) => one.or(other),
        }
    }
}
