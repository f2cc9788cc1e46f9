//! Lowers `cvt` to and from 8-bit numbers, which come in pairs.

use super::float::Format;
use super::machine::Machine;
use crate::cpu::emitter::Emitter;
use crate::cpu::target::types::LANES;
use crate::llvm::Value;
use crate::llvm::value::Opcode;
use crate::ptx::parse::Operand;

/// An 8-bit format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Eighth {
    /// Four bits of exponent and three of mantissa, without infinity.
    E4M3,
    /// Five bits of exponent and two of mantissa, which is the upper half of half precision.
    E5M2,
}

impl Eighth {
    fn from_suffix(part: &str) -> Option<Eighth> {
        match part {
            "e4m3x2" => Some(Eighth::E4M3),
            "e5m2x2" => Some(Eighth::E5M2),
            _ => None,
        }
    }

    fn mantissa(self) -> u64 {
        if self == Eighth::E4M3 { 3 } else { 2 }
    }

    /// Returns the exponent bias.
    fn bias(self) -> u64 {
        if self == Eighth::E4M3 { 7 } else { 15 }
    }

    /// Returns the bits of the largest number, in single precision.
    fn largest(self) -> u64 {
        u64::from(if self == Eighth::E4M3 { 448f32.to_bits() } else { 57344f32.to_bits() })
    }

    /// Returns the bits in single precision of the power of two at which the distance between numbers is the smallest
    /// number: 2^-9 or 2^-16.
    fn aligner(self) -> u64 {
        u64::from(if self == Eighth::E4M3 { 16384f32.to_bits() } else { 128f32.to_bits() })
    }
}

/// Returns whether a conversion is from or to 8-bit numbers.
pub(super) fn is_eighth(parts: &[&str]) -> bool {
    parts.iter().any(|part| Eighth::from_suffix(part).is_some())
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers `cvt.rn.f16x2.e4m3x2`, `cvt.rn.satfinite.e4m3x2.f32`, `cvt.rn.satfinite.e4m3x2.f16x2`, and the same for
    /// `e5m2x2`.
    pub(super) fn asm_convert_eighth(
        &mut self,
        machine: &Machine<'c>,
        parts: &[&str],
        sources: &[Operand],
    ) -> Option<Value<'c>> {
        if !parts.contains(&"rn") {
            return None;
        }
        let relu = parts.contains(&"relu");
        match (parts, sources) {
            ([.., "f16x2", from], [source]) => {
                let from = Eighth::from_suffix(from)?;
                let pair = self.read(machine, source, 16)?;
                let halves = [0, 8].map(|shift| {
                    let byte = self.b.and(self.b.lshr(pair, self.same(pair, shift)), self.same(pair, 0xff));
                    let half = self.half_of_eighth(byte, from);
                    if relu { self.positive(half, 16) } else { half }
                });
                Some(self.packed(&halves, 32))
            }
            ([.., to, "f16x2"], [source]) if parts.contains(&"satfinite") => {
                let to = Eighth::from_suffix(to)?;
                let pair = self.read(machine, source, 32)?;
                let bytes = [0, 16].map(|shift| {
                    let half = self.b.trunc(self.b.lshr(pair, self.same(pair, shift)), self.int_lanes(16));
                    let half = self.numbers(half, Format::HALF);
                    let single = self.b.cast(Opcode::LLVMFPExt, half, self.t.float().vector(LANES));
                    self.eighth_of(self.b.bitcast(single, self.int_lanes(32)), to, relu)
                });
                Some(self.packed(&bytes, 16))
            }
            // The first source is the upper one.
            ([.., to, "f32"], [high, low]) if parts.contains(&"satfinite") => {
                let to = Eighth::from_suffix(to)?;
                let mut bytes = Vec::new();
                for source in [low, high] {
                    let bits = self.read(machine, source, 32)?;
                    bytes.push(self.eighth_of(bits, to, relu));
                }
                Some(self.packed(&bytes, 16))
            }
            _ => None,
        }
    }

    /// Returns the low byte of 16 bits as half precision, which contains each such number.
    fn half_of_eighth(&self, byte: Value<'c>, from: Eighth) -> Value<'c> {
        let b = &self.b;
        let same = |number: u64| self.same(byte, number);
        let magnitude = b.and(byte, same(0x7f));
        let canonical = |nan, number| b.select(nan, same(0x7fff), number);
        if from == Eighth::E5M2 {
            return canonical(b.ugt(magnitude, same(0x7c)), b.shl(byte, same(8)));
        }
        // If its exponent and mantissa are in the positions of a half's, a number is too small by a factor of 2^8,
        // including denormal numbers.
        let small = self.numbers(b.shl(magnitude, same(7)), Format::HALF);
        let wide = b.cast(Opcode::LLVMFPExt, small, self.t.float().vector(LANES));
        let scale =
            b.bitcast(self.same(self.b.bitcast(wide, self.int_lanes(32)), u64::from(256f32.to_bits())), wide.ty());
        let right = b.cast(Opcode::LLVMFPTrunc, b.binary(Opcode::LLVMFMul, wide, scale), small.ty());
        let sign = b.shl(b.and(byte, same(0x80)), same(8));
        canonical(b.eq(magnitude, same(0x7f)), b.or(b.bitcast(right, byte.ty()), sign))
    }

    /// Rounds single precision, as bits, to the nearest 8-bit number; values that are too large, including infinity,
    /// become the largest number.
    fn eighth_of(&self, bits: Value<'c>, to: Eighth, relu: bool) -> Value<'c> {
        let b = &self.b;
        let same = |number: u64| self.same(bits, number);
        let bits = if relu { self.positive(bits, 32) } else { bits };
        let all = b.and(bits, same(0x7fff_ffff));
        let nan = b.ugt(all, same(0x7f80_0000));
        let magnitude = b.select(b.ugt(all, same(to.largest())), same(to.largest()), all);
        let cut = 23 - to.mantissa();
        let tie = b.and(b.lshr(magnitude, same(cut)), same(1));
        let rounded = b.lshr(b.add(magnitude, b.add(tie, same((1 << (cut - 1)) - 1))), same(cut));
        let normal = b.sub(rounded, same((127 - to.bias()) << to.mantissa()));
        // The processor's own addition rounds to a multiple of the smallest number.
        let float = self.t.float().vector(LANES);
        let aligner = b.bitcast(same(to.aligner()), float);
        let aligned = b.binary(Opcode::LLVMFAdd, b.bitcast(magnitude, float), aligner);
        let denormal = b.sub(b.bitcast(aligned, bits.ty()), same(to.aligner()));
        let is_small = b.ult(magnitude, same((128 - to.bias()) << 23));
        let made = b.select(is_small, denormal, normal);
        let sign = b.and(b.lshr(bits, same(24)), same(0x80));
        let made = b.select(nan, same(0x7f), b.or(made, sign));
        b.trunc(made, self.int_lanes(8))
    }

    /// Implements `.relu`: negative numbers become zero; NaN stays.
    fn positive(&self, value: Value<'c>, bits: u32) -> Value<'c> {
        let b = &self.b;
        let sign = b.lshr(value, self.same(value, u64::from(bits - 1)));
        let magnitude = b.and(value, self.same(value, (1 << (bits - 1)) - 1));
        let infinity = if bits == 16 { 0x7c00 } else { 0x7f80_0000 };
        let number = b.ult(magnitude, self.same(value, infinity + 1));
        let negative = b.and(b.ne(sign, self.same(value, 0)), number);
        b.select(negative, self.same(value, 0), value)
    }
}
