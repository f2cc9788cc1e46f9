//! Video instructions of inline assembly: arithmetic on the two halves or four bytes of a word, as in `__vabsdiffu4`
//! and similar functions, and on whole words; dot products.

use super::machine::{Machine, TypeKind};
use crate::cpu::emitter::Emitter;
use crate::llvm::Value;
use crate::ptx::parse::Operand;

/// Returns the instruction and the number of bits of each of its elements: `vadd4` is `vadd` with 8.
pub fn video(opcode: &str) -> Option<(&str, u32)> {
    let (name, bits) = match opcode.strip_suffix('4') {
        Some(name) => (name, 8),
        None => (opcode.strip_suffix('2')?, 16),
    };
    matches!(name, "vadd" | "vsub" | "vabsdiff" | "vavrg" | "vmin" | "vmax" | "vset").then_some((name, bits))
}

/// Returns whether an instruction operates on whole words.
pub fn scalar_video(opcode: &str) -> bool {
    matches!(opcode, "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr")
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers `dp4a` and `dp2a`: the sum of products of the four bytes of `x`, or of its two halves, with bytes of `y`;
    /// for halves, `lo` and `hi` select the bytes. Each source has its own type.
    pub fn dot_product(&self, parts: &[&str], x: Value<'c>, y: Value<'c>, sum: Value<'c>) -> Option<Value<'c>> {
        let [name, mode @ .., first, second] = parts else { return None };
        let b = &self.b;
        let part = |word: Value<'c>, ty: &str, bits: u64, index: u64| {
            let up = b.shl(word, self.same(word, 32 - bits - bits * index));
            let down = self.same(word, 32 - bits);
            if ty == "s32" { b.ashr(up, down) } else { b.lshr(up, down) }
        };
        let (count, bits, skipped) = match (*name, mode) {
            ("dp4a", []) => (4, 8, 0),
            ("dp2a", ["lo"]) => (2, 16, 0),
            ("dp2a", ["hi"]) => (2, 16, 2),
            _ => return None,
        };
        let products = (0..count).map(|index| b.mul(part(x, first, bits, index), part(y, second, 8, skipped + index)));
        Some(products.fold(sum, |sum, product| b.add(sum, product)))
    }

    /// Lowers a video instruction on whole words ("Scalar Video Instructions" of the PTX manual). The result and both
    /// sources have their own types, and the result may be added to or compared with a third source. Returns `None` for
    /// a form that is not supported, such as one with parts of words.
    pub fn asm_scalar_video(
        &mut self,
        machine: &Machine<'c>,
        parts: &[&str],
        sources: &[Operand],
    ) -> Option<Value<'c>> {
        let [name, to, first, second, rest @ ..] = parts else { return None };
        if ![to, first, second].iter().all(|ty| matches!(**ty, "u32" | "s32")) {
            return None;
        }
        let (x, y) = (self.read(machine, sources.first()?, 32)?, self.read(machine, sources.get(1)?, 32)?);
        let third = match sources.get(2) {
            Some(operand) => Some(self.read(machine, operand, 32)?),
            None => None,
        };
        let (word, long) = (x.ty(), self.shaped(x, self.t.int(64)));
        let b = &self.b;
        let extend = |value: Value<'c>, ty: &str| if ty == "s32" { b.sext(value, long) } else { b.zext(value, long) };
        let (x, y) = (extend(x, first), extend(y, second));
        let number = |value: i64| self.same(x, value as u64);
        // 64 bits contain all of these values exactly.
        let amount = || match (rest.contains(&"clamp"), rest.contains(&"wrap")) {
            (true, _) => Some(self.two("llvm.umin", y, number(32))),
            (_, true) => Some(b.and(y, number(31))),
            _ => None,
        };
        let exact = match *name {
            "vadd" => b.add(x, y),
            "vsub" => b.sub(x, y),
            "vabsdiff" => b.sub(self.two("llvm.smax", x, y), self.two("llvm.smin", x, y)),
            "vmin" => self.two("llvm.smin", x, y),
            "vmax" => self.two("llvm.smax", x, y),
            "vshl" => b.shl(x, amount()?),
            _ => b.ashr(x, amount()?),
        };
        let signed = *to == "s32";
        let (least, most) = if signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
        let fitted = match rest.contains(&"sat") {
            true => self.two("llvm.smin", self.two("llvm.smax", exact, number(least)), number(most)),
            false => exact,
        };
        let result = b.trunc(fitted, word);
        let operation = rest.iter().find(|part| matches!(**part, "add" | "min" | "max"));
        match (operation, third) {
            (None, None) => Some(result),
            (Some(&"add"), Some(third)) => Some(b.add(result, third)),
            (Some(operation), Some(third)) => {
                Some(self.two(&format!("llvm.{}{operation}", if signed { "s" } else { "u" }), result, third))
            }
            _ => None,
        }
    }

    /// Lowers a video instruction ("Video Instructions" of the PTX manual); returns `None` for a form that is not
    /// supported.
    pub fn asm_video(&mut self, machine: &Machine<'c>, parts: &[&str], sources: &[Operand]) -> Option<Value<'c>> {
        let (name, bits) = video(parts[0])?;
        let [x, y, z] = sources else { return None };
        let (x, y, z) = (self.read(machine, x, 32)?, self.read(machine, y, 32)?, self.read(machine, z, 32)?);
        // For `vset`, the result is 0 or 1 and has no type; the other instructions name the types of the result and of
        // both sources.
        let signed = parts.get(2)?.starts_with('s');
        let kind = if signed { TypeKind::Signed } else { TypeKind::Bits };
        let b = &self.b;
        let number = |value: i64| self.same(x, value as u64);
        let mut sum = z;
        let mut word = number(0);
        for index in 0..32 / bits {
            let part = |value: Value<'c>| {
                let up = b.shl(value, number(i64::from(32 - bits * (index + 1))));
                let down = number(i64::from(32 - bits));
                if signed { b.ashr(up, down) } else { b.lshr(up, down) }
            };
            let (left, right) = (part(x), part(y));
            // The parts and their results fit in 32 bits with their signs.
            let compare = |how: &str, one, other| self.compared(how, TypeKind::Signed, one, other);
            let mut result = match name {
                "vadd" => b.add(left, right),
                "vsub" => b.sub(left, right),
                "vabsdiff" => {
                    let (less, more) = (b.sub(right, left), b.sub(left, right));
                    b.select(compare("lt", left, right)?, less, more)
                }
                "vavrg" => {
                    let both = b.add(left, right);
                    let up = b.select(compare("ge", both, number(0))?, number(1), number(0));
                    b.ashr(b.add(both, up), number(1))
                }
                "vmin" => b.select(compare("lt", left, right)?, left, right),
                "vmax" => b.select(compare("gt", left, right)?, left, right),
                _ => b.select(self.compared(parts.last()?, kind, left, right)?, number(1), number(0)),
            };
            if parts.contains(&"sat") {
                let (low, high) = if parts[1].starts_with('s') {
                    (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
                } else {
                    (0, (1i64 << bits) - 1)
                };
                result = b.select(compare("lt", result, number(low))?, number(low), result);
                result = b.select(compare("gt", result, number(high))?, number(high), result);
            }
            sum = b.add(sum, result);
            let placed = b.shl(b.and(result, number((1i64 << bits) - 1)), number(i64::from(bits * index)));
            word = b.or(word, placed);
        }
        Some(if parts.contains(&"add") { sum } else { word })
    }
}

#[cfg(test)]
mod tests {
    use super::{scalar_video, video};

    #[test]
    fn video_instructions_are_known_by_name() {
        assert_eq!(video("vabsdiff4"), Some(("vabsdiff", 8)));
        assert_eq!(video("vset2"), Some(("vset", 16)));
        assert_eq!(video("vadd"), None);
        assert_eq!(video("mad24"), None);
        assert!(scalar_video("vshr") && !scalar_video("vshr2") && !scalar_video("shr"));
    }
}
