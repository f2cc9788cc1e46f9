//! Video instructions of inline assembly: arithmetic on the two halves or four bytes of a word, as `__vabsdiffu4` and its
//! kin use it.

use super::assembly::{Machine, TypeKind};
use super::emitter::Emitter;
use super::ptx::Operand;
use crate::llvm::Value;

/// The instruction and the bits of its parts: `vadd4` is `vadd` with 8.
pub fn video(opcode: &str) -> Option<(&str, u32)> {
    let (name, bits) = match opcode.strip_suffix('4') {
        Some(name) => (name, 8),
        None => (opcode.strip_suffix('2')?, 16),
    };
    matches!(name, "vadd" | "vsub" | "vabsdiff" | "vavrg" | "vmin" | "vmax" | "vset").then_some((name, bits))
}

impl<'c> Emitter<'_, 'c> {
    /// A video instruction ("Video Instructions" of the PTX manual); `None`: a form that is not supported.
    pub fn asm_video(&mut self, machine: &Machine<'c>, parts: &[&str], sources: &[Operand]) -> Option<Value<'c>> {
        let (name, bits) = video(parts[0])?;
        let [x, y, z] = sources else { return None };
        let (x, y, z) = (self.read(machine, x, 32)?, self.read(machine, y, 32)?, self.read(machine, z, 32)?);
        // A set has no type of its result but 0 and 1; the others name result, first and second source.
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
            // The parts and what becomes of them fit 32 bits with their signs.
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
    use super::video;

    #[test]
    fn video_instructions_are_known_by_name() {
        assert_eq!(video("vabsdiff4"), Some(("vabsdiff", 8)));
        assert_eq!(video("vset2"), Some(("vset", 16)));
        assert_eq!(video("vadd"), None);
        assert_eq!(video("mad24"), None);
    }
}
