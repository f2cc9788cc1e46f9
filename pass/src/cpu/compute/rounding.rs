//! Arithmetic and conversions with explicit rounding modes.

use super::arithmetic::scalar_bits;
use crate::cpu::emitter::Emitter;
use crate::llvm::types::Kind;
use crate::llvm::value::{IntPredicate, Opcode, RealPredicate};
use crate::llvm::{Type, Value};

/// The rounding mode of an nvvm operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward infinity.
    Up,
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers `f2i.rz` and similar conversions.
    pub(crate) fn conversion(
        &self,
        first: &str,
        x: Value<'c>,
        result: Type<'c>,
        rounding: Rounding,
    ) -> Option<Value<'c>> {
        let (from, to) = first.split_once('2')?;
        let b = &self.b;
        let from_float = matches!(from, "f" | "d");
        match (from_float, to) {
            (true, "i" | "ll" | "ui" | "ull") => {
                let whole = match rounding {
                    Rounding::Nearest => self.unary("llvm.roundeven", x),
                    Rounding::Zero => x,
                    Rounding::Down => self.unary("llvm.floor", x),
                    Rounding::Up => self.unary("llvm.ceil", x),
                };
                Some(self.saturating(!to.starts_with('u'), whole, result))
            }
            (true, "f") if from == "d" => {
                let near = b.cast(Opcode::LLVMFPTrunc, x, self.shaped(x, result));
                if rounding == Rounding::Nearest {
                    return Some(near);
                }
                let back = b.cast(Opcode::LLVMFPExt, near, x.ty());
                let error = b.binary(Opcode::LLVMFSub, x, back);
                Some(self.nudge(near, error, rounding))
            }
            (true, "h") => {
                let half = b.cast(Opcode::LLVMFPTrunc, x, self.shaped(x, self.t.half()));
                Some(b.bitcast(half, self.shaped(x, result)))
            }
            (false, "f" | "d") if matches!(from, "i" | "ll" | "ui" | "ull") => {
                let opcode = if from.starts_with('u') { Opcode::LLVMUIToFP } else { Opcode::LLVMSIToFP };
                let near = b.cast(opcode, x, self.shaped(x, result));
                if rounding == Rounding::Nearest || (result.kind() == Kind::Double && scalar_bits(x.ty()) == 32) {
                    return Some(near);
                }
                if result.kind() == Kind::Float && scalar_bits(x.ty()) == 32 {
                    let exact = b.cast(opcode, x, self.shaped(x, self.t.double()));
                    let back = b.cast(Opcode::LLVMFPExt, near, exact.ty());
                    return Some(self.nudge(near, b.binary(Opcode::LLVMFSub, exact, back), rounding));
                }
                (scalar_bits(x.ty()) == 64).then(|| self.long_rounded(x, !from.starts_with('u'), result, rounding))
            }
            _ => None,
        }
    }

    /// Converts a 64-bit integer to a float or double with an explicit rounding mode. The leading bits of its magnitude
    /// convert exactly; a step away from zero follows if bits were cut off and the rounding mode requires it.
    fn long_rounded(&self, x: Value<'c>, signed: bool, result: Type<'c>, rounding: Rounding) -> Value<'c> {
        let b = &self.b;
        let zero = self.same(x, 0);
        let negative = match signed {
            true => b.icmp(IntPredicate::LLVMIntSLT, x, zero),
            false => b.ne(zero, zero),
        };
        let magnitude = b.select(negative, b.sub(zero, x), x);
        let significand = if result.kind() == Kind::Double { 53 } else { 24 };
        let not_poison = Value::int(self.t.int(1), 0);
        let leading = b.call(self.unit().intrinsic("llvm.ctlz", &[x.ty()]), &[magnitude, not_poison]);
        // The number of bits below the significand; 0 for a small number.
        let cut = self.two("llvm.usub.sat", self.same(x, 64 - significand), leading);
        let kept = b.shl(b.lshr(magnitude, cut), cut);
        let float = |value: Value<'c>| b.cast(Opcode::LLVMUIToFP, value, self.shaped(x, result));
        let with_sign = |value: Value<'c>| b.select(negative, b.fneg(value), value);
        let rest = with_sign(float(b.sub(magnitude, kept)));
        self.nudge(with_sign(float(kept)), rest, rounding)
    }

    /// Changes a result that was rounded to nearest to the result of another rounding mode. `error` is the exact result
    /// minus the rounded one; only its sign is used.
    pub fn nudge(&self, near: Value<'c>, error: Value<'c>, rounding: Rounding) -> Value<'c> {
        let b = &self.b;
        let bits = scalar_bits(near.ty());
        let int = self.shaped(near, self.t.int(bits));
        let pattern = b.bitcast(near, int);
        let zero = self.float_like(error, 0.0);
        let above = b.fcmp(RealPredicate::LLVMRealOLT, error, zero);
        let below = b.fcmp(RealPredicate::LLVMRealOGT, error, zero);
        let negative = b.icmp(IntPredicate::LLVMIntSLT, pattern, self.same(pattern, 0));
        let one = self.same(pattern, 1);
        let away = b.add(pattern, one);
        let toward = b.sub(pattern, one);
        let is_zero = b.fcmp(RealPredicate::LLVMRealOEQ, near, self.float_like(near, 0.0));
        let least = |sign: u64| self.same(pattern, (sign << (bits - 1)) | 1);
        let down = b.select(is_zero, least(1), b.select(negative, away, toward));
        let up = b.select(is_zero, least(0), b.select(negative, toward, away));
        let chosen = match rounding {
            Rounding::Nearest => return near,
            Rounding::Down => b.select(above, down, pattern),
            Rounding::Up => b.select(below, up, pattern),
            Rounding::Zero => {
                // Rounding toward zero is rounding down for positive results, and up for negative ones.
                let positive = b.select(above, down, pattern);
                let minus = b.select(below, up, pattern);
                b.select(negative, minus, positive)
            }
        };
        b.bitcast(chosen, near.ty())
    }

    /// Returns the result of an addition, multiplication, division, square root or fma with a rounding mode other than
    /// to nearest, computed from the rounded result and the sign of its exact error.
    pub fn directed(&self, first: &str, operands: &[Value<'c>], rounding: Rounding) -> Option<Value<'c>> {
        let b = &self.b;
        let x = operands[0];
        let (near, error) = match first {
            "add" => {
                let sum = b.binary(Opcode::LLVMFAdd, x, operands[1]);
                (sum, self.sum_error(x, operands[1], sum))
            }
            "mul" => {
                let product = b.binary(Opcode::LLVMFMul, x, operands[1]);
                (product, self.fma(x, operands[1], b.fneg(product)))
            }
            "div" | "rcp" => {
                let (top, bottom) = if first == "rcp" { (self.float_like(x, 1.0), x) } else { (x, operands[1]) };
                let quotient = b.binary(Opcode::LLVMFDiv, top, bottom);
                // (top - q * bottom) / bottom has the sign of the error.
                let rest = self.fma(b.fneg(quotient), bottom, top);
                let sign = self.two("llvm.copysign", self.float_like(x, 1.0), bottom);
                (quotient, b.binary(Opcode::LLVMFMul, rest, sign))
            }
            "sqrt" => {
                let root = self.unary("llvm.sqrt", x);
                (root, self.fma(b.fneg(root), root, x))
            }
            "fma" if scalar_bits(x.ty()) == 32 => {
                // In double precision, the product is exact, and the sum's error is known exactly.
                let double = self.shaped(x, self.t.double());
                let wide = |value: Value<'c>| b.cast(Opcode::LLVMFPExt, value, double);
                let product = b.binary(Opcode::LLVMFMul, wide(x), wide(operands[1]));
                let addend = wide(operands[2]);
                let sum = b.binary(Opcode::LLVMFAdd, product, addend);
                let rest = self.sum_error(product, addend, sum);
                let near = b.cast(Opcode::LLVMFPTrunc, sum, x.ty());
                let coarse = b.binary(Opcode::LLVMFSub, sum, wide(near));
                let exact = b.fcmp(RealPredicate::LLVMRealOEQ, coarse, self.float_like(coarse, 0.0));
                (near, b.select(exact, rest, coarse))
            }
            "fma" => {
                let near = self.fma(x, operands[1], operands[2]);
                let product = b.binary(Opcode::LLVMFMul, x, operands[1]);
                let low = self.fma(x, operands[1], b.fneg(product));
                // Compares the exact sum of three terms with the rounded result, largest term first.
                let sum = b.binary(Opcode::LLVMFAdd, product, operands[2]);
                let rest = self.sum_error(product, operands[2], sum);
                let coarse = b.binary(Opcode::LLVMFSub, sum, near);
                let fine = b.binary(Opcode::LLVMFAdd, rest, low);
                (near, b.binary(Opcode::LLVMFAdd, coarse, fine))
            }
            _ => return None,
        };
        Some(self.nudge(near, error, rounding))
    }

    /// Returns the exact rounding error of a sum (Knuth's two-sum).
    pub(crate) fn sum_error(&self, left: Value<'c>, right: Value<'c>, sum: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let (add, sub) = (Opcode::LLVMFAdd, Opcode::LLVMFSub);
        let right_part = b.binary(sub, sum, left);
        let left_part = b.binary(sub, sum, right_part);
        let right_error = b.binary(sub, right, right_part);
        let left_error = b.binary(sub, left, left_part);
        b.binary(add, left_error, right_error)
    }
}
