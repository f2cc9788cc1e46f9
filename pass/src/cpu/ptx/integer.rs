//! Integer instructions of inline assembly: arithmetic, bit fields, carry chains.

use super::machine::{Machine, TypeKind};
use crate::cpu::emitter::Emitter;
use crate::llvm::Value;
use crate::llvm::value::Opcode;
use crate::ptx::parse::Operand;

impl<'c> Emitter<'_, 'c> {
    /// Lowers an arithmetic or logic instruction on integers.
    pub fn asm_integer(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        sources: &[Operand],
        kind: TypeKind,
        bits: u32,
    ) -> Option<Value<'c>> {
        let signed = kind == TypeKind::Signed;
        let has = |part: &str| parts.contains(&part);
        let opcode = parts[0];
        let mut values = Vec::new();
        for source in sources {
            values.push(self.read(machine, source, bits)?);
        }
        let carries = matches!(opcode, "addc" | "subc" | "madc");
        if has("cc") || carries {
            return self.carry_chain(machine, parts, &values, signed, bits);
        }
        let x = *values.first()?;
        let b = &self.b;
        let double = |this: &Self, value: Value<'c>| {
            let wide = this.int_lanes(2 * bits);
            if signed { this.b.sext(value, wide) } else { this.b.zext(value, wide) }
        };
        Some(match opcode {
            "add" | "sub" if has("sat") => self.two(&format!("llvm.s{opcode}.sat"), x, *values.get(1)?),
            "add" => b.add(x, *values.get(1)?),
            "sub" => b.sub(x, *values.get(1)?),
            "div" | "rem" => {
                let opcode = match (opcode, signed) {
                    ("div", true) => Opcode::LLVMSDiv,
                    ("div", false) => Opcode::LLVMUDiv,
                    (_, true) => Opcode::LLVMSRem,
                    (_, false) => Opcode::LLVMURem,
                };
                let active = self.lanes_of(machine.lanes);
                self.divided(opcode, x, *values.get(1)?, Some(active))
            }
            "mul" | "mad" => {
                let y = *values.get(1)?;
                let product = if has("wide") {
                    b.mul(double(self, x), double(self, y))
                } else if has("hi") {
                    let wide = b.mul(double(self, x), double(self, y));
                    b.trunc(b.lshr(wide, self.same(wide, u64::from(bits))), x.ty())
                } else {
                    b.mul(x, y)
                };
                if opcode == "mad" {
                    let addend =
                        if has("wide") { self.read(machine, &sources[2], 2 * bits)? } else { *values.get(2)? };
                    if has("sat") { self.two("llvm.sadd.sat", product, addend) } else { self.b.add(product, addend) }
                } else {
                    product
                }
            }
            "and" => b.and(x, *values.get(1)?),
            "or" => b.or(x, *values.get(1)?),
            "xor" => b.xor(x, *values.get(1)?),
            "not" => b.not(x),
            "neg" => b.sub(self.same(x, 0), x),
            "min" | "max" => {
                let name = format!("llvm.{}{opcode}", if signed { "s" } else { "u" });
                let chosen = b.call(self.unit().intrinsic(&name, &[x.ty()]), &[x, *values.get(1)?]);
                if has("relu") { self.two("llvm.smax", chosen, self.same(chosen, 0)) } else { chosen }
            }
            "abs" => b.call(self.unit().intrinsic("llvm.abs", &[x.ty()]), &[x, Value::int(self.t.int(1), 0)]),
            "shl" | "shr" => {
                // Shifts by the width or more give zero, or the sign.
                let by = self.read(machine, &sources[1], 32)?;
                let by = self.b.fit_lanes(by, x.ty());
                let b = &self.b;
                let most = self.same(by, u64::from(bits - 1));
                let large = b.ugt(by, most);
                let safe = b.select(large, most, by);
                match (opcode, signed) {
                    ("shl", _) => b.select(large, self.same(x, 0), b.shl(x, safe)),
                    (_, false) => b.select(large, self.same(x, 0), b.lshr(x, safe)),
                    _ => b.ashr(x, safe),
                }
            }
            "shf" => {
                let (y, by) = (*values.get(1)?, *values.get(2)?);
                let by = if has("clamp") {
                    let most = self.same(by, 32);
                    b.select(b.ugt(by, most), most, by)
                } else {
                    b.and(by, self.same(by, 31))
                };
                let long = self.int_lanes(64);
                let whole = b.or(b.shl(b.zext(y, long), self.same(Value::zero(long), 32)), b.zext(x, long));
                let by = b.zext(by, long);
                if has("l") {
                    b.trunc(b.lshr(b.shl(whole, by), self.same(whole, 32)), x.ty())
                } else {
                    b.trunc(b.lshr(whole, by), x.ty())
                }
            }
            "popc" => b.call(self.unit().intrinsic("llvm.ctpop", &[x.ty()]), &[x]),
            "clz" => b.call(self.unit().intrinsic("llvm.ctlz", &[x.ty()]), &[x, Value::int(self.t.int(1), 0)]),
            "brev" => b.call(self.unit().intrinsic("llvm.bitreverse", &[x.ty()]), &[x]),
            "bfind" => {
                let flipped = if signed { b.xor(x, b.ashr(x, self.same(x, u64::from(bits - 1)))) } else { x };
                let zeros =
                    b.call(self.unit().intrinsic("llvm.ctlz", &[x.ty()]), &[flipped, Value::int(self.t.int(1), 0)]);
                let found = if has("shiftamt") { zeros } else { b.sub(self.same(zeros, u64::from(bits - 1)), zeros) };
                let none = b.eq(flipped, self.same(flipped, 0));
                let found = b.select(none, self.same(found, u64::MAX), found);
                b.fit_lanes(found, self.int_lanes(32))
            }
            "bfe" => {
                let (start, length) = (*values.get(1)?, *values.get(2)?);
                let (start, length) = (b.and(start, self.same(start, 255)), b.and(length, self.same(length, 255)));
                self.bit_field(x, start, length, signed, bits)
            }
            "bfi" => {
                let (into, start, length) = (*values.get(1)?, *values.get(2)?, *values.get(3)?);
                let (start, length) = (b.and(start, self.same(start, 255)), b.and(length, self.same(length, 255)));
                let field = self.low_mask(length, bits);
                let placed = |v: Value<'c>| {
                    let outside = b.ugt(start, self.same(start, u64::from(bits - 1)));
                    let by = b.select(outside, self.same(start, 0), start);
                    b.select(outside, self.same(v, 0), b.shl(v, by))
                };
                let mask = placed(field);
                b.or(b.and(placed(x), mask), b.and(into, b.not(mask)))
            }
            "bmsk" => {
                let (start, length) = (x, *values.get(1)?);
                let mask = self.low_mask(length, bits);
                let outside = b.ugt(start, self.same(start, u64::from(bits - 1)));
                let by = b.select(outside, self.same(start, 0), start);
                b.select(outside, self.same(x, 0), b.shl(mask, by))
            }
            "prmt" => {
                let selector = self.permute_selector(parts.last()?, *values.get(2)?)?;
                self.prmt(x, *values.get(1)?, selector)
            }
            "lop3" => self.lop3(machine, &values, sources.get(3)?)?,
            "dp4a" | "dp2a" => self.dot_product(parts, x, *values.get(1)?, *values.get(2)?)?,
            _ => return self.asm_bits(parts, &values, signed, bits),
        })
    }

    /// Lowers `lop3`: any function of three bits, given by its table, which is a number or an argument with a constant
    /// value.
    fn lop3(&self, machine: &Machine<'c>, values: &[Value<'c>], table: &Operand) -> Option<Value<'c>> {
        let [x, y, z, ..] = values else { return None };
        let table = match table {
            Operand::Number(table) => *table,
            Operand::Argument(number) => {
                let input = machine.inputs.get(number.checked_sub(machine.outputs.len())?)?;
                input.constant_element(0)?.as_u64()?
            }
            _ => return None,
        };
        let b = &self.b;
        let mut result = self.same(*x, 0);
        for row in (0..8u64).filter(|row| table >> row & 1 == 1) {
            let pick = |value: Value<'c>, bit: u64| if row >> bit & 1 == 1 { value } else { b.not(value) };
            result = b.or(result, b.and(b.and(pick(*x, 2), pick(*y, 1)), pick(*z, 0)));
        }
        Some(result)
    }

    /// Lowers `lop3.or.b32 d|p, a, b, c, table, q`: p is true if d is not zero or q is true; for `.and`, both are
    /// required.
    pub(super) fn asm_lop3_tested(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        (result, holds): (&Operand, &Operand),
        sources: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let [x, y, z, table, other] = sources else { return None };
        let mut values = Vec::new();
        for source in [x, y, z] {
            values.push(self.read(machine, source, 32)?);
        }
        let value = self.lop3(machine, &values, table)?;
        let other = self.signed_predicate(machine, other)?;
        let some = self.b.ne(value, self.same(value, 0));
        let both = match *parts.get(1)? {
            "or" => self.b.or(some, other),
            "and" => self.b.and(some, other),
            _ => return None,
        };
        self.write(machine, result, value, guard)?;
        self.write(machine, holds, both, guard)
    }

    /// Returns a value with ones in the lowest `length` bits.
    fn low_mask(&self, length: Value<'c>, bits: u32) -> Value<'c> {
        let b = &self.b;
        let whole = b.ugt(length, self.same(length, u64::from(bits - 1)));
        let by = b.select(whole, self.same(length, 0), length);
        let some = b.sub(b.shl(self.same(length, 1), by), self.same(length, 1));
        b.select(whole, self.same(length, u64::MAX), some)
    }

    fn bit_field(&self, x: Value<'c>, start: Value<'c>, length: Value<'c>, signed: bool, bits: u32) -> Value<'c> {
        let b = &self.b;
        let most = self.same(start, u64::from(bits - 1));
        let outside = b.ugt(start, most);
        let by = b.select(outside, most, start);
        let moved = if signed { b.ashr(x, by) } else { b.select(outside, self.same(x, 0), b.lshr(x, by)) };
        let mask = self.low_mask(length, bits);
        let field = b.and(moved, mask);
        if !signed {
            return field;
        }
        // The sign is the field's highest bit that is within the word.
        let top = b.sub(b.add(start, length), self.same(start, 1));
        let top = b.select(b.ugt(top, most), most, top);
        let empty = b.eq(length, self.same(length, 0));
        let sign = b.and(b.lshr(x, top), self.same(x, 1));
        let filled = b.or(field, b.not(mask));
        let negative = b.ne(sign, self.same(sign, 0));
        b.select(empty, self.same(x, 0), b.select(negative, filled, field))
    }

    /// Lowers `add.cc`, `addc`, `mad.cc` and similar instructions, with twice the width.
    fn carry_chain(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        values: &[Value<'c>],
        signed: bool,
        bits: u32,
    ) -> Option<Value<'c>> {
        let b = &self.b;
        let narrow = self.int_lanes(bits);
        let wide = self.int_lanes(2 * bits);
        let zext = |value: Value<'c>| b.zext(value, wide);
        let opcode = parts[0];
        let carry = match machine.carry {
            Some(carry) if opcode.ends_with('c') => b.fit_lanes(carry, wide),
            None if opcode.ends_with('c') => return None,
            _ => Value::zero(wide),
        };
        let sum = match opcode {
            "add" | "addc" => b.add(b.add(zext(values[0]), zext(*values.get(1)?)), carry),
            // The borrow is visible as a carry out of the difference.
            "sub" | "subc" => b.sub(b.sub(zext(values[0]), zext(*values.get(1)?)), carry),
            "mad" | "madc" => {
                let extend = |value: Value<'c>| if signed { b.sext(value, wide) } else { b.zext(value, wide) };
                let product = b.mul(extend(values[0]), extend(*values.get(1)?));
                let part = if parts.contains(&"hi") {
                    b.trunc(b.lshr(product, self.same(product, u64::from(bits))), narrow)
                } else {
                    b.trunc(product, narrow)
                };
                b.add(b.add(zext(part), zext(*values.get(2)?)), carry)
            }
            _ => return None,
        };
        if parts.contains(&"cc") {
            let out = b.lshr(sum, self.same(sum, u64::from(bits)));
            machine.carry = Some(b.and(out, self.same(out, 1)));
        }
        Some(self.b.trunc(sum, narrow))
    }
}
