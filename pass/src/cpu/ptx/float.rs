//! Floating-point instructions of inline assembly: arithmetic, comparisons with a value as result, conversions. Half
//! precision occurs here, because CUDA's own headers use assembly for it.
//!
//! bfloat16 is computed in `float` and rounded with integer operations, because hosts without an instruction for it
//! would call a function for each lane. For `+`, `-`, `*` and `/`, the result is rounded correctly, because `float` has
//! more than twice the bits.

use super::machine::{Machine, TypeKind, ptx_type};
use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::compute::rounding::Rounding;
use crate::cpu::emitter::Emitter;
use crate::cpu::target::types::LANES;
use crate::llvm::value::{Opcode, RealPredicate};
use crate::llvm::{Type, Value};
use crate::ptx::parse::Operand;
use warpline_format::operation::FloatFormat;

/// A floating-point format of PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Format {
    bits: u32,
    brain: bool,
}

impl Format {
    /// `f16`.
    pub(super) const HALF: Format = Format { bits: 16, brain: false };

    /// Creates a `Format` for one element of a type, such as `f16x2`.
    fn from_suffix(part: &str) -> Option<Format> {
        Some(match part {
            "f16" | "f16x2" => Format::HALF,
            "bf16" | "bf16x2" => Format { bits: 16, brain: true },
            "f32" => Format { bits: 32, brain: false },
            "f64" => Format { bits: 64, brain: false },
            _ => return None,
        })
    }

    /// Returns the corresponding format of the values that checks track.
    fn followed(self) -> FloatFormat {
        match (self.bits, self.brain) {
            (16, false) => FloatFormat::Half,
            (16, true) => FloatFormat::Brain,
            (32, _) => FloatFormat::Single,
            _ => FloatFormat::Double,
        }
    }

    /// Returns the bits of 1.
    fn one(self) -> u64 {
        match (self.bits, self.brain) {
            (16, true) => 0x3f80,
            (16, false) => 0x3c00,
            (32, _) => 0x3f80_0000,
            _ => 0x3ff0_0000_0000_0000,
        }
    }
}

fn rounding(parts: &[&str]) -> Rounding {
    let named = parts.iter().find_map(|part| match *part {
        "rz" => Some(Rounding::Zero),
        "rm" => Some(Rounding::Down),
        "rp" => Some(Rounding::Up),
        _ => None,
    });
    named.unwrap_or(Rounding::Nearest)
}

fn rounding_intrinsic(part: &str) -> Option<&'static str> {
    Some(match part {
        "rni" => "llvm.roundeven",
        "rzi" => "llvm.trunc",
        "rmi" => "llvm.floor",
        "rpi" => "llvm.ceil",
        _ => return None,
    })
}

fn is_packed(part: &str) -> bool {
    part.ends_with("x2")
}

impl<'c> Emitter<'_, 'c> {
    /// Tracks the result of a floating-point instruction, or of a conversion between floating-point types; for pairs,
    /// each half.
    pub(super) fn follow_assembly(
        &mut self,
        machine: &Machine<'c>,
        parts: &[&str],
        value: Value<'c>,
        sources: &[Operand],
        guard: Option<Value<'c>>,
    ) {
        let types: Vec<&str> = parts.iter().copied().filter(|part| ptx_type(part).is_some()).collect();
        let (Some(to), Some(from)) = (types.first(), types.last()) else { return };
        let (Some(format), Some(source)) = (Format::from_suffix(to), Format::from_suffix(from)) else { return };
        if scalar_bits(value.ty()) != if is_packed(to) { 2 * format.bits } else { format.bits } {
            return;
        }
        let width = if is_packed(from) { 2 * source.bits } else { source.bits };
        let read: Option<Vec<_>> = sources.iter().take(3).map(|operand| self.read(machine, operand, width)).collect();
        let Some(operands) = read else { return };
        let half = |this: &Self, whole: Value<'c>, index: u32, bits: u32| {
            let moved = this.b.lshr(whole, this.same(whole, u64::from(bits * index)));
            this.b.trunc(moved, this.int_lanes(bits))
        };
        let count = if is_packed(to) { 2 } else { 1 };
        for index in 0..count {
            self.follow_part(index as usize, count as usize);
            let made = if is_packed(to) { half(self, value, index, format.bits) } else { value };
            let part = |this: &Self, operand: &Value<'c>| {
                if is_packed(from) { half(this, *operand, index, source.bits) } else { *operand }
            };
            let operands: Vec<_> = operands.iter().map(|operand| part(self, operand)).collect();
            self.follow_bits([format.followed(), source.followed()], made, &operands, guard);
        }
    }

    /// Returns the type in which a format is computed.
    fn computed(&self, format: Format) -> Type<'c> {
        match (format.bits, format.brain) {
            (16, false) => self.t.half(),
            (64, _) => self.t.double(),
            _ => self.t.float(),
        }
    }

    /// Converts bits to numbers.
    pub(super) fn numbers(&self, bits: Value<'c>, format: Format) -> Value<'c> {
        let ty = self.computed(format).vector(LANES);
        if !format.brain {
            return self.b.bitcast(bits, ty);
        }
        let wide = self.b.zext(bits, self.int_lanes(32));
        self.b.bitcast(self.b.shl(wide, self.same(wide, 16)), ty)
    }

    /// Converts numbers of the type in which the format is computed to bits of the format.
    fn bits_of(&self, value: Value<'c>, format: Format, rounding: Rounding) -> Value<'c> {
        if !format.brain {
            return self.b.bitcast(value, self.int_lanes(format.bits));
        }
        let b = &self.b;
        let bits = b.bitcast(value, self.int_lanes(32));
        let same = |number: u64| self.same(bits, number);
        let negative = b.lshr(bits, same(31));
        // This value is added, so that cutting off the lower half rounds the result.
        let added = match rounding {
            Rounding::Nearest => b.add(b.and(b.lshr(bits, same(16)), same(1)), same(0x7fff)),
            Rounding::Zero => same(0),
            Rounding::Down => b.mul(negative, same(0xffff)),
            Rounding::Up => b.mul(b.xor(negative, same(1)), same(0xffff)),
        };
        let rounded = b.lshr(b.add(bits, added), same(16));
        let nan = b.fcmp(RealPredicate::LLVMRealUNO, value, value);
        b.trunc(b.select(nan, same(0x7fff), rounded), self.int_lanes(16))
    }

    /// Returns the elements of a register of `bits` bits, as bits of the format.
    fn elements(&self, whole: Value<'c>, bits: u32, format: Format) -> Vec<Value<'c>> {
        let parts = (0..bits / format.bits).map(|index| u64::from(index * format.bits));
        parts
            .map(|shift| self.b.trunc(self.b.lshr(whole, self.same(whole, shift)), self.int_lanes(format.bits)))
            .collect()
    }

    /// Packs elements next to each other in a register of `bits` bits, with the first one lowest.
    pub fn packed(&self, elements: &[Value<'c>], bits: u32) -> Value<'c> {
        let mut whole = Value::zero(self.int_lanes(bits));
        let width = u64::from(bits) / elements.len().max(1) as u64;
        for (index, element) in (0u64..).zip(elements) {
            let wide = self.b.zext(*element, self.int_lanes(bits));
            whole = self.b.or(whole, self.b.shl(wide, self.same(wide, width * index)));
        }
        whole
    }

    /// Lowers arithmetic on registers of `bits` bits.
    pub fn asm_float(
        &mut self,
        machine: &Machine<'c>,
        parts: &[&str],
        sources: &[Operand],
        bits: u32,
    ) -> Option<Value<'c>> {
        let format = Format::from_suffix(parts.iter().rev().find(|part| Format::from_suffix(part).is_some())?)?;
        let mut inputs = Vec::new();
        for source in sources {
            let value = self.read(machine, source, bits)?;
            inputs.push(self.elements(value, bits, format));
        }
        let mut results = Vec::new();
        for index in 0..(bits / format.bits) as usize {
            let values: Vec<_> = inputs.iter().map(|elements| self.numbers(elements[index], format)).collect();
            let made = self.float_operation(parts, &values)?;
            results.push(self.bits_of(made, format, Rounding::Nearest));
        }
        Some(self.packed(&results, bits))
    }

    fn float_operation(&self, parts: &[&str], values: &[Value<'c>]) -> Option<Value<'c>> {
        let b = &self.b;
        let x = *values.first()?;
        let call = |name: &str, arguments: &[Value<'c>]| b.call(self.unit().intrinsic(name, &[x.ty()]), arguments);
        let rounding = rounding(parts);
        if parts.iter().any(|part| matches!(*part, "xorsign" | "abs") && parts[0] != *part) {
            return None;
        }
        let value = match parts[0] {
            "sub" if rounding != Rounding::Nearest => self.directed("add", &[x, b.fneg(*values.get(1)?)], rounding)?,
            "add" | "mul" | "div" | "fma" | "mad" | "sqrt" | "rcp" if rounding != Rounding::Nearest => {
                let wide = x.ty().element() != self.t.half();
                let name = if parts[0] == "mad" { "fma" } else { parts[0] };
                wide.then(|| self.directed(name, values, rounding))??
            }
            _ if rounding != Rounding::Nearest => return None,
            "add" => b.binary(Opcode::LLVMFAdd, x, *values.get(1)?),
            "sub" => b.binary(Opcode::LLVMFSub, x, *values.get(1)?),
            "mul" => b.binary(Opcode::LLVMFMul, x, *values.get(1)?),
            "div" => b.binary(Opcode::LLVMFDiv, x, *values.get(1)?),
            "fma" | "mad" => self.fma(x, *values.get(1)?, *values.get(2)?),
            "neg" => b.fneg(x),
            "abs" => call("llvm.fabs", &[x]),
            // The sign comes from the first operand, the rest from the second.
            "copysign" => call("llvm.copysign", &[*values.get(1)?, x]),
            "min" if parts.contains(&"NaN") => call("llvm.minimum", &[x, *values.get(1)?]),
            "max" if parts.contains(&"NaN") => call("llvm.maximum", &[x, *values.get(1)?]),
            "min" => call("llvm.minnum", &[x, *values.get(1)?]),
            "max" => call("llvm.maxnum", &[x, *values.get(1)?]),
            "sqrt" => call("llvm.sqrt", &[x]),
            "rcp" | "rsqrt" if parts.contains(&"approx") && parts.contains(&"f64") => {
                self.gross(parts[0] == "rsqrt", x)
            }
            "rsqrt" => b.binary(Opcode::LLVMFDiv, self.one_like(x), call("llvm.sqrt", &[x])),
            "rcp" => b.binary(Opcode::LLVMFDiv, self.one_like(x), x),
            "ex2" => call("llvm.exp2", &[x]),
            "lg2" => call("llvm.log2", &[x]),
            "sin" => call("llvm.sin", &[x]),
            "cos" => call("llvm.cos", &[x]),
            "tanh" => call("llvm.tanh", &[x]),
            _ => return None,
        };
        let value = if parts.contains(&"ftz") && parts.contains(&"f32") { self.flush(value) } else { value };
        Some(self.clamped(value, parts))
    }

    /// Implements `.sat` and `.relu`.
    fn clamped(&self, value: Value<'c>, parts: &[&str]) -> Value<'c> {
        let call =
            |name: &str, arguments: &[Value<'c>]| self.b.call(self.unit().intrinsic(name, &[value.ty()]), arguments);
        if parts.contains(&"sat") {
            // NaN becomes 0.
            let low = call("llvm.maxnum", &[value, Value::zero(value.ty())]);
            return call("llvm.minnum", &[low, self.one_like(value)]);
        }
        if parts.contains(&"relu") {
            // NaN stays NaN.
            return call("llvm.maximum", &[value, Value::zero(value.ty())]);
        }
        value
    }

    fn one_like(&self, like: Value<'c>) -> Value<'c> {
        Value::vector(&vec![Value::real(like.ty().element(), 1.0); LANES as usize])
    }

    /// Compares two registers of a floating-point type.
    pub fn asm_compared(&self, part: &str, comparison: &str, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let format = Format::from_suffix(part).filter(|_| !is_packed(part))?;
        self.compared(comparison, TypeKind::Float, self.numbers(left, format), self.numbers(right, format))
    }

    /// Lowers `set.<comparison>.<result>.<operands>`: the result is 1 or all ones if the comparison is true, otherwise
    /// 0.
    pub fn asm_set(&mut self, machine: &Machine<'c>, parts: &[&str], sources: &[Operand]) -> Option<Value<'c>> {
        let [left, right, rest @ ..] = sources else { return None };
        let named: Vec<_> = parts.iter().filter_map(|part| ptx_type(part).map(|ty| (*part, ty))).collect();
        let [(to_name, (to_kind, to_bits)), (from_name, (from_kind, from_bits))] = named[..] else { return None };
        let (left, right) = (self.read(machine, left, from_bits)?, self.read(machine, right, from_bits)?);
        let comparison = parts.get(1)?;
        let result = match Format::from_suffix(to_name) {
            Some(format) => format.one(),
            None => u64::MAX,
        };
        let chosen = |this: &Self, holds: Value<'c>, bits: u32| {
            let zero = Value::zero(this.int_lanes(bits));
            this.b.select(holds, this.same(zero, result), zero)
        };
        if let Some(format) = Format::from_suffix(from_name).filter(|_| is_packed(from_name)) {
            if to_kind == TypeKind::Float && !is_packed(to_name) || to_bits != 32 {
                return None;
            }
            let (left, right) = (self.elements(left, 32, format), self.elements(right, 32, format));
            let mut halves = Vec::new();
            for (left, right) in left.into_iter().zip(right) {
                let (left, right) = (self.numbers(left, format), self.numbers(right, format));
                let holds = self.compared(comparison, TypeKind::Float, left, right)?;
                let holds = self.with_third(machine, parts, rest.first(), holds)?;
                halves.push(chosen(self, holds, 16));
            }
            return Some(self.packed(&halves, 32));
        }
        let holds = match from_kind {
            TypeKind::Float => self.asm_compared(from_name, comparison, left, right)?,
            kind => self.compared(comparison, kind, left, right)?,
        };
        let holds = self.with_third(machine, parts, rest.first(), holds)?;
        Some(chosen(self, holds, to_bits))
    }

    /// Compares the two halves of registers of a packed type; returns the result for the lower halves first.
    pub(super) fn compared_halves(
        &self,
        ty: &str,
        comparison: &str,
        left: Value<'c>,
        right: Value<'c>,
    ) -> Option<[Value<'c>; 2]> {
        let format = Format::from_suffix(ty)?;
        let (left, right) = (self.elements(left, 32, format), self.elements(right, 32, format));
        let half = |index: usize| {
            let (left, right) = (self.numbers(left[index], format), self.numbers(right[index], format));
            self.compared(comparison, TypeKind::Float, left, right)
        };
        Some([half(0)?, half(1)?])
    }

    /// `cvt.<to>.<from>`.
    pub fn asm_convert(&mut self, machine: &Machine<'c>, parts: &[&str], sources: &[Operand]) -> Option<Value<'c>> {
        if super::eighth::is_eighth(parts) {
            return self.asm_convert_eighth(machine, parts, sources);
        }
        if parts.get(1) == Some(&"pack") {
            let mut values = Vec::new();
            for source in sources {
                values.push(self.read(machine, source, 32)?);
            }
            return self.packed_integers(parts.get(3)?, &values);
        }
        if parts.contains(&"tf32") {
            let [source] = sources else { return None };
            let value = self.read(machine, source, 32)?;
            return self.tensor32(value, parts);
        }
        let named: Vec<_> = parts.iter().filter_map(|part| ptx_type(part).map(|ty| (*part, ty))).collect();
        let [(to_name, (to_kind, to_bits)), (from_name, (from_kind, from_bits))] = named[..] else { return None };
        let (to, from) = (Format::from_suffix(to_name), Format::from_suffix(from_name));
        if is_packed(to_name) {
            // Two adjacent numbers: the first source is the upper one.
            let (Some(to), Some(from), [high, low]) = (to, from, sources) else { return None };
            let mut halves = Vec::new();
            for source in [low, high] {
                let value = self.read(machine, source, from_bits)?;
                halves.push(self.narrowed(self.numbers(value, from), to, parts)?);
            }
            return Some(self.packed(&halves, to_bits));
        }
        let [source] = sources else { return None };
        let value = self.read(machine, source, from_bits)?;
        // Registers are wider than a byte; signed bytes are sign-extended in them.
        let register = |this: &Self, made: Value<'c>| match (to_kind, to_bits) {
            (TypeKind::Signed, 8) => this.b.sext(made, this.int_lanes(32)),
            _ => made,
        };
        match (from, to) {
            (Some(from), Some(to)) => self.narrowed(self.numbers(value, from), to, parts),
            (Some(from), None) => {
                let value = self.numbers(value, from);
                let round = parts.iter().find_map(|part| rounding_intrinsic(part))?;
                let whole = self.b.call(self.unit().intrinsic(round, &[value.ty()]), &[value]);
                // Integers are saturated with or without `.sat`.
                Some(register(self, self.saturating(to_kind == TypeKind::Signed, whole, self.t.int(to_bits))))
            }
            (None, Some(to)) => self.integer_to(value, from_kind == TypeKind::Signed, from_bits, to, parts),
            (None, None) => {
                let value = match parts.contains(&"sat") {
                    true => self.saturated(value, (from_kind, from_bits), (to_kind, to_bits))?,
                    false => value,
                };
                let made = match to_bits > from_bits && from_kind == TypeKind::Signed {
                    true => self.b.sext(value, self.int_lanes(to_bits)),
                    false => self.b.fit_lanes(value, self.int_lanes(to_bits)),
                };
                Some(register(self, made))
            }
        }
    }

    /// Converts a number to another floating-point format, or rounds it to an integer in the same format.
    fn narrowed(&self, value: Value<'c>, to: Format, parts: &[&str]) -> Option<Value<'c>> {
        let rounding = rounding(parts);
        let value = match parts.iter().find_map(|part| rounding_intrinsic(part)) {
            Some(round) => self.b.call(self.unit().intrinsic(round, &[value.ty()]), &[value]),
            None => value,
        };
        let ty = self.computed(to).vector(LANES);
        let (from_bits, to_bits) = (value.ty().element(), ty.element());
        let size = |ty: Type<'c>| crate::cpu::compute::arithmetic::scalar_bits(ty);
        if size(to_bits) > size(from_bits) {
            let wide = self.b.cast(Opcode::LLVMFPExt, value, ty);
            return Some(self.bits_of(self.clamped(wide, parts), to, rounding));
        }
        if size(to_bits) == size(from_bits) {
            return Some(self.bits_of(self.clamped(value, parts), to, rounding));
        }
        let near = self.b.cast(Opcode::LLVMFPTrunc, value, ty);
        let back = self.b.cast(Opcode::LLVMFPExt, near, value.ty());
        let error = self.b.binary(Opcode::LLVMFSub, value, back);
        if !to.brain {
            return Some(self.bits_of(self.clamped(self.nudge(near, error, rounding), parts), to, rounding));
        }
        // A second rounding follows. It takes the loss of the first one into account if the first one leaves the last
        // bit set ("round to odd").
        let cut = self.b.bitcast(self.nudge(near, error, Rounding::Zero), self.int_lanes(32));
        let inexact = self.b.fcmp(RealPredicate::LLVMRealONE, error, Value::zero(error.ty()));
        let odd = self.b.or(cut, self.b.zext(inexact, cut.ty()));
        let odd = self.b.bitcast(odd, ty);
        Some(self.bits_of(self.clamped(odd, parts), to, rounding))
    }

    fn integer_to(&self, value: Value<'c>, signed: bool, bits: u32, to: Format, parts: &[&str]) -> Option<Value<'c>> {
        let opcode = if signed { Opcode::LLVMSIToFP } else { Opcode::LLVMUIToFP };
        if to.bits >= 32 && rounding(parts) == Rounding::Nearest {
            let made = self.b.cast(opcode, value, self.computed(to).vector(LANES));
            return Some(self.b.bitcast(made, self.int_lanes(to.bits)));
        }
        // Up to 32 bits, a double contains the integer exactly. Larger integers are inexact only if a half has long
        // overflowed.
        let exact = bits <= 32 || (to.bits == 16 && !to.brain);
        if !exact && to.bits == 64 {
            return None;
        }
        let value = if exact { value } else { self.rounded_to_odd(value, signed) };
        let wide = self.b.cast(opcode, value, self.t.double().vector(LANES));
        self.narrowed(wide, to, parts)
    }

    /// Converts 64-bit integers to near integers that a double contains exactly. The lost bits of a large integer set
    /// the last remaining bit, so that rounding to 24 bits or fewer gives the same result as for the integer itself.
    fn rounded_to_odd(&self, value: Value<'c>, signed: bool) -> Value<'c> {
        const EXACT: u64 = 1 << 53;
        const LOST: u64 = (1 << 11) - 1;
        let b = &self.b;
        let number = |constant: u64| self.same(value, constant);
        let large = match signed {
            true => b.ugt(b.add(value, number(EXACT)), number(2 * EXACT)),
            false => b.ugt(value, number(EXACT)),
        };
        let inexact = b.ne(b.and(value, number(LOST)), number(0));
        let last = b.select(inexact, number(LOST + 1), number(0));
        b.select(large, b.or(b.and(value, number(!LOST)), last), value)
    }

    /// Lowers `cvt.sat` between integers.
    fn saturated(&self, value: Value<'c>, from: (TypeKind, u32), to: (TypeKind, u32)) -> Option<Value<'c>> {
        let (signed, to_signed) = (from.0 == TypeKind::Signed, to.0 == TypeKind::Signed);
        let wide = self.int_lanes(64);
        if from.1 == 64 || to.1 == 64 {
            return None;
        }
        let value = if signed { self.b.sext(value, wide) } else { self.b.zext(value, wide) };
        let (low, high) = match to_signed {
            true => (-(1i64 << (to.1 - 1)), (1i64 << (to.1 - 1)) - 1),
            false => (0, (1i64 << to.1) - 1),
        };
        let call = |name: &str, left: Value<'c>, right: i64| {
            self.b.call(self.unit().intrinsic(name, &[wide]), &[left, self.same(left, right as u64)])
        };
        let clamped = call("llvm.smin", call("llvm.smax", value, low), high);
        Some(self.b.trunc(clamped, self.int_lanes(from.1)))
    }
}
