//! Integer instructions of inline assembly that LLVM IR does not have: bit fields, searches, sums of differences.

use crate::cpu::emitter::Emitter;
use crate::llvm::Value;

impl<'c> Emitter<'_, 'c> {
    /// Lowers `fns`, `szext`, `sad`, `cnot`, `mul24` and `mad24`; returns `None` for other instructions, or for a form
    /// that is not supported.
    pub(super) fn asm_bits(&self, parts: &[&str], values: &[Value<'c>], signed: bool, bits: u32) -> Option<Value<'c>> {
        let b = &self.b;
        let x = *values.first()?;
        let order = |name: &str, y| self.two(&format!("llvm.{}{name}", if signed { "s" } else { "u" }), x, y);
        Some(match parts[0] {
            "sad" => {
                let y = *values.get(1)?;
                b.add(b.sub(order("max", y), order("min", y)), *values.get(2)?)
            }
            "cnot" => {
                let zero = b.eq(x, self.same(x, 0));
                b.zext(zero, x.ty())
            }
            "fns" => self.find_nth(x, *values.get(1)?, *values.get(2)?),
            "szext" => {
                let y = *values.get(1)?;
                let length = match (parts.contains(&"clamp"), parts.contains(&"wrap")) {
                    (true, _) => self.two("llvm.umin", y, self.same(y, 32)),
                    (_, true) => b.and(y, self.same(y, 31)),
                    _ => return None,
                };
                let none = b.eq(length, self.same(y, 0));
                let by = b.select(none, self.same(y, 0), b.sub(self.same(y, 32), length));
                let up = b.shl(x, by);
                let back = if signed { b.ashr(up, by) } else { b.lshr(up, by) };
                b.select(none, self.same(x, 0), back)
            }
            "mul24" | "mad24" if bits == 32 => {
                let long = self.int_lanes(64);
                let cut = |value: Value<'c>| {
                    let up = b.shl(value, self.same(value, 8));
                    let down = self.same(value, 8);
                    if signed { b.sext(b.ashr(up, down), long) } else { b.zext(b.lshr(up, down), long) }
                };
                let product = b.mul(cut(x), cut(*values.get(1)?));
                let by = if parts.contains(&"hi") { 16 } else { 0 };
                let part = b.trunc(b.lshr(product, self.same(product, by)), x.ty());
                match (parts[0], parts.contains(&"sat")) {
                    ("mul24", _) => part,
                    (_, false) => b.add(part, *values.get(2)?),
                    _ => self.two("llvm.sadd.sat", part, *values.get(2)?),
                }
            }
            _ => return None,
        })
    }

    /// Lowers `fns`: returns the position of the set bit that is `offset` set bits from `base`, upwards or downwards,
    /// or all ones if there is none.
    fn find_nth(&self, mask: Value<'c>, base: Value<'c>, offset: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let number = |value: u64| self.same(mask, value);
        let mut found = number(u64::MAX);
        let back = b.sub(number(0), offset);
        for upwards in [true, false] {
            let wanted = if upwards { offset } else { back };
            let mut seen = number(0);
            for step in 0..32 {
                let position = if upwards { step } else { 31 - step };
                let set = b.and(b.lshr(mask, number(position)), number(1));
                let outside = if upwards { b.ugt(base, number(position)) } else { b.ult(base, number(position)) };
                let counts = b.select(outside, number(0), set);
                seen = b.add(seen, counts);
                let here = b.and(b.eq(seen, wanted), b.ne(counts, number(0)));
                found = b.select(here, number(position), found);
            }
        }
        // If the offset is zero, only the bit at the base counts.
        let inside = b.ult(base, number(32));
        let at = b.select(inside, base, number(0));
        let set = b.and(b.ne(b.and(b.lshr(mask, at), number(1)), number(0)), inside);
        b.select(b.eq(offset, number(0)), b.select(set, base, number(u64::MAX)), found)
    }

    /// Returns the selector of `prmt` in a named mode, which uses the lowest two bits of the operand.
    pub(super) fn permute_selector(&self, mode: &str, selector: Value<'c>) -> Option<Value<'c>> {
        let table: [u64; 4] = match mode {
            "b32" => return Some(selector),
            "f4e" => [0x3210, 0x4321, 0x5432, 0x6543],
            "b4e" => [0x5670, 0x6701, 0x7012, 0x0123],
            "rc8" => [0x0000, 0x1111, 0x2222, 0x3333],
            "ecl" => [0x3210, 0x3211, 0x3222, 0x3333],
            "ecr" => [0x0000, 0x1110, 0x2210, 0x3210],
            "rc16" => [0x1010, 0x3232, 0x1010, 0x3232],
            _ => return None,
        };
        let b = &self.b;
        let which = b.and(selector, self.same(selector, 3));
        let mut chosen = self.same(selector, table[0]);
        for (index, entry) in (0u64..).zip(table).skip(1) {
            chosen = b.select(b.eq(which, self.same(which, index)), self.same(selector, entry), chosen);
        }
        Some(chosen)
    }

    /// Lowers `cvt.pack.sat.<to>.s32{.b32}`: returns two saturated integers next to each other, followed by the bits of
    /// a third source.
    pub(super) fn packed_integers(&self, to: &str, values: &[Value<'c>]) -> Option<Value<'c>> {
        let (signed, bits): (bool, u32) = (to.starts_with('s'), to.get(1..)?.parse().ok()?);
        let wide = matches!((bits, values.len()), (16, 2) | (2 | 4 | 8, 3));
        if !wide || !to.starts_with(['s', 'u']) {
            return None;
        }
        let b = &self.b;
        let (low, high) =
            if signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
        let part = |value: Value<'c>| {
            let least = self.two("llvm.smax", value, self.same(value, low as u64));
            let fitted = self.two("llvm.smin", least, self.same(value, high as u64));
            b.and(fitted, self.same(value, (1 << bits) - 1))
        };
        let (first, second) = (part(values[0]), part(values[1]));
        let both = b.or(second, b.shl(first, self.same(first, u64::from(bits))));
        Some(match values.get(2) {
            Some(third) => b.or(both, b.shl(*third, self.same(*third, u64::from(2 * bits)))),
            None => both,
        })
    }
}
