//! Memory instructions of inline assembly.

use super::machine::{Machine, TypeKind};
use crate::cpu::emitter::{Emitter, context};
use crate::cpu::target::movers::{ADDRESSES, COPY_TARGETS};
use crate::cpu::target::types::LANES;
use crate::device::operations::assembly::moved_type;
use crate::llvm::Value;
use crate::llvm::value::AtomicOp;
use crate::ptx::parse::Operand;

/// Numbers below this value are offsets in shared memory; no GPU has so much shared memory.
const MOST_SHARED: u64 = 1 << 20;

/// Returns whether an operation names shared memory.
fn shared_part(parts: &[&str]) -> bool {
    parts.iter().any(|part| part.starts_with("shared"))
}

impl<'c> Emitter<'_, 'c> {
    /// Returns the host addresses of an assembly's memory operand. The upper half of 32-bit shared pointers is
    /// restored.
    pub fn asm_address(&mut self, machine: &Machine<'c>, parts: &[&str], operand: &Operand) -> Option<Value<'c>> {
        let Operand::Memory(base, offset) = operand else { return None };
        let narrow = match &**base {
            Operand::Argument(number) => {
                let value = number.checked_sub(machine.outputs.len()).and_then(|input| machine.inputs.get(input));
                value.is_some_and(|value| crate::cpu::compute::arithmetic::scalar_bits(value.ty()) <= 32)
            }
            Operand::Register(name) => machine
                .registers
                .get(name)
                .is_some_and(|value| crate::cpu::compute::arithmetic::scalar_bits(value.ty()) <= 32),
            _ => false,
        };
        if shared_part(parts)
            && let Some(address) = self.literal_address(machine, base, *offset)
        {
            return Some(address);
        }
        let value = if narrow {
            if !parts.iter().any(|part| part.starts_with("shared")) {
                return None;
            }
            let low = self.read(machine, base, 32)?;
            self.widen_shared(low)
        } else {
            self.read(machine, base, 64)?
        };
        Some(self.b.add(value, self.same(value, *offset as u64)))
    }

    /// Returns the host address for a number that is used as a shared address.
    fn literal_address(&mut self, machine: &Machine<'c>, base: &Operand, offset: i64) -> Option<Value<'c>> {
        let number = match base {
            Operand::Number(number) => *number,
            Operand::Argument(number) => {
                let value = machine.inputs.get(number.checked_sub(machine.outputs.len())?)?;
                let of_lane = |lane| value.constant_element(lane).and_then(|element| element.as_u64());
                of_lane(0).filter(|first| (1..LANES).all(|lane| of_lane(lane) == Some(*first)))?
            }
            _ => return None,
        };
        let address = self.literal_shared(Value::int(self.t.int(64), number.wrapping_add(offset as u64)))?;
        Some(self.b.splat(address, LANES))
    }

    /// Returns the host address for a number that is used as a shared address: GPUs count from the block's first byte.
    /// Returns `None` if the value is not such a number.
    pub fn literal_shared(&mut self, number: Value<'c>) -> Option<Value<'c>> {
        number.as_u64().filter(|number| *number < MOST_SHARED)?;
        let shared = self.field(context::SHARED);
        Some(self.b.add(shared, number))
    }

    /// Returns the host addresses of shared pointers that were truncated to 32 bits.
    pub fn widen_shared(&mut self, low: Value<'c>) -> Value<'c> {
        let shared = self.field(context::SHARED);
        let long = self.t.int(64);
        let low_base = self.b.trunc(shared, self.t.int(32));
        let (low_base, shared) = match low.ty().int_bits() {
            Some(_) => (low_base, shared),
            None => (self.b.splat(low_base, LANES), self.b.splat(shared, LANES)),
        };
        let offset = self.b.sub(low, low_base);
        self.b.add(shared, self.b.sext(offset, self.shaped(low, long)))
    }

    /// Returns the lanes for which the guard is true.
    pub fn guarded_mask(&mut self, machine: &Machine<'c>, guard: Option<Value<'c>>) -> Value<'c> {
        match guard {
            Some(guard) => {
                let bits = self.bits(guard);
                self.b.and(machine.lanes, bits)
            }
            None => machine.lanes,
        }
    }

    /// Lowers `ld`; returns `None` for a form that is not supported.
    pub fn asm_load(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
        bits: u32,
    ) -> Option<()> {
        let address = self.asm_address(machine, parts, operands.get(1)?)?;
        let mask = self.guarded_mask(machine, guard);
        let targets = match &operands[0] {
            Operand::Group(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        let (ty, bytes) = (self.t.int(bits), u64::from(bits / 8));
        let values = self.gather_all(ty, targets.len() as u64, address, mask, bytes);
        self.follow_words(parts, &values, address, mask);
        targets.iter().zip(values).try_for_each(|(target, value)| self.write(machine, target, value, guard))
    }

    /// Lowers `st`; returns `None` for a form that is not supported.
    pub fn asm_store(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
        bits: u32,
    ) -> Option<()> {
        let address = self.asm_address(machine, parts, operands.first()?)?;
        let mask = self.guarded_mask(machine, guard);
        let sources = match operands.get(1)? {
            Operand::Group(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        let values: Vec<_> = sources.iter().map(|source| self.read(machine, source, bits)).collect::<Option<_>>()?;
        self.follow_words(parts, &values, address, mask);
        self.scatter_all(&values, address, mask, u64::from(bits / 8));
        Some(())
    }

    /// Tracks adjacent values that an instruction loads or stores.
    fn follow_words(&mut self, parts: &[&str], values: &[Value<'c>], address: Value<'c>, mask: Value<'c>) {
        if self.operation.is_none() {
            return;
        }
        let Some(ty) = moved_type(parts) else { return };
        for (index, value) in (0..).zip(values) {
            let at = self.b.add(address, self.same(address, u64::from(ty.bits() / 8) * index));
            self.follow_part(index as usize, values.len());
            self.follow_element((*value, ty), at, mask);
        }
    }

    /// Lowers `cp.async`: copies the source bytes, and fills the rest of the size with zeros.
    pub fn copy_async(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        if !parts.contains(&"async") || parts.contains(&"bulk") {
            return None;
        }
        // A cache policy is the last operand, and it does not change any byte.
        let policy = usize::from(parts.contains(&"cache_hint"));
        let operands = operands.get(..operands.len().checked_sub(policy)?)?;
        let to = self.asm_address(machine, &["shared"], operands.first()?)?;
        let from = self.asm_address(machine, &["global"], operands.get(1)?)?;
        let mask = self.guarded_mask(machine, guard);
        let size = match operands.get(2)? {
            Operand::Number(size) => *size,
            argument => self.read(machine, argument, 32)?.constant_element(0)?.as_u64()?,
        };
        // The operand after the size is the number of bytes that are read, or a predicate under which nothing is read.
        let ignored = match operands.get(3) {
            Some(operand @ (Operand::Register(_) | Operand::Argument(_))) => {
                self.predicate(machine, operand).filter(|_| self.is_predicate(machine, operand))
            }
            _ => None,
        };
        let given = match operands.get(3).filter(|_| ignored.is_none()) {
            Some(given) => Some(self.read(machine, given, 32)?),
            None => None,
        };
        let mut read = match given {
            Some(given) => given,
            None => self.b.splat(self.i32(size as u32), LANES),
        };
        if let Some(ignored) = ignored {
            read = self.b.select(ignored, self.same(read, 0), read);
        }
        let targets = self.once("copies", |this| this.entry.alloca(this.t.int(8).array(COPY_TARGETS), 64));
        self.b.store(to, targets, 64);
        self.b.store(read, self.b.offset(targets, ADDRESSES), 64);
        let sources = self.spill(from);
        self.b.call(self.unit().copy_helper(size), &[sources, mask, targets]);
        Some(())
    }

    /// Lowers `atom` and `red`; returns `None` for a form that is not supported.
    pub fn asm_atomic(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
        kind: TypeKind,
        bits: u32,
    ) -> Option<()> {
        let has = |part: &str| parts.contains(&part);
        let reduces = parts[0] == "red";
        let rest = if reduces { operands } else { operands.get(1..)? };
        let address = self.asm_address(machine, parts, rest.first()?)?;
        let mask = self.guarded_mask(machine, guard);
        if let Operand::Group(values) = rest.get(1)? {
            let sums = has("add") && kind == TypeKind::Float && bits == 32;
            let Some(Operand::Group(results)) = (if reduces { Some(&rest[1]) } else { operands.first() }) else {
                return None;
            };
            if !sums || results.len() != values.len() {
                return None;
            }
            // As on a GPU, each element is a separate atomic operation.
            for (index, (value, result)) in values.iter().zip(results).enumerate() {
                let value = self.read(machine, value, bits)?;
                let value = self.as_float(value, bits)?;
                let place = self.b.add(address, self.same(address, 4 * index as u64));
                let sum = AtomicOp::LLVMAtomicRMWBinOpFAdd;
                let old = self.update_lanes(sum, place, value, mask, shared_part(parts), 4);
                if !reduces {
                    let old = self.b.bitcast(old, self.int_lanes(bits));
                    self.write(machine, result, old, guard)?;
                }
            }
            return Some(());
        }
        let mut value = self.read(machine, rest.get(1)?, bits)?;
        let old = if has("cas") {
            let new = self.read(machine, rest.get(2)?, bits)?;
            self.swap_lanes(address, value, new, mask)
        } else {
            use AtomicOp::*;
            let signed = kind == TypeKind::Signed;
            let op = match (parts, kind) {
                _ if has("exch") => LLVMAtomicRMWBinOpXchg,
                (_, TypeKind::Float) if has("add") => LLVMAtomicRMWBinOpFAdd,
                _ if has("add") => LLVMAtomicRMWBinOpAdd,
                _ if has("and") => LLVMAtomicRMWBinOpAnd,
                _ if has("or") => LLVMAtomicRMWBinOpOr,
                _ if has("xor") => LLVMAtomicRMWBinOpXor,
                _ if has("inc") => LLVMAtomicRMWBinOpUIncWrap,
                _ if has("dec") => LLVMAtomicRMWBinOpUDecWrap,
                _ if has("min") && signed => LLVMAtomicRMWBinOpMin,
                _ if has("max") && signed => LLVMAtomicRMWBinOpMax,
                _ if has("min") => LLVMAtomicRMWBinOpUMin,
                _ if has("max") => LLVMAtomicRMWBinOpUMax,
                _ => return None,
            };
            let packed = parts.iter().any(|part| part.ends_with("x2"));
            if parts.contains(&"bf16") {
                let old = self.update_viewed(op, address, value, mask, shared_part(parts), 2, self.t.bfloat());
                machine.previous = Some(old);
                return if reduces { Some(()) } else { self.write(machine, &operands[0], old, guard) };
            }
            if kind == TypeKind::Float && op == LLVMAtomicRMWBinOpFAdd && !packed {
                value = self.as_float(value, bits)?;
            }
            let shared = shared_part(parts);
            if let Some(packed) = parts.iter().find(|part| part.ends_with("x2")) {
                let half = if packed.starts_with('b') { self.t.bfloat() } else { self.t.half() };
                let old = self.update_viewed(op, address, value, mask, shared, 4, half.vector(2));
                machine.previous = Some(old);
                return if reduces { Some(()) } else { self.write(machine, &operands[0], old, guard) };
            }
            let old = self.update_lanes(op, address, value, mask, shared, bits / 8);
            self.b.bitcast(old, self.int_lanes(bits))
        };
        machine.previous = Some(old);
        if reduces { Some(()) } else { self.write(machine, &operands[0], old, guard) }
    }
}
