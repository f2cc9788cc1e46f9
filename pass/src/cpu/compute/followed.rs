//! Floating-point operations whose values are followed: a test of each result, and a call where it is exceptional.

use super::arithmetic::scalar_bits;
use crate::cpu::emitter::Emitter;
use crate::cpu::emitter::lanes::Lay;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::target::types::{LANES, leaf_offsets};
use crate::llvm::metadata::{OPERATION, text};
use crate::llvm::types::Kind;
use crate::llvm::{Type, Value};
use warpline_format::operation::FloatFormat;

/// Bytes of a value in all lanes, as the runtime reads it.
const ROW_BYTES: u64 = 8 * LANES as u64;

/// Which values call the runtime.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueClass {
    /// NaN, infinite and subnormal ones.
    Exceptional,
    /// NaN and infinite ones.
    NotFinite,
}

/// Returns the format of a type.
fn format_of(ty: Type<'_>) -> Option<FloatFormat> {
    Some(match ty.kind() {
        Kind::Vector(_) => return format_of(ty.element()),
        Kind::Half => FloatFormat::Half,
        Kind::BFloat => FloatFormat::Brain,
        Kind::Float => FloatFormat::Single,
        Kind::Double => FloatFormat::Double,
        _ => return None,
    })
}

impl<'c> Emitter<'_, 'c> {
    /// Returns the number of a followed operation.
    pub(in crate::cpu) fn numbered(&self, value: Value<'c>) -> Option<u32> {
        if self.values() { text(value, OPERATION)?.parse().ok() } else { None }
    }

    /// Follows the result of the current operation, which has these operands.
    pub(in crate::cpu) fn follow_result(&mut self, made: Value<'c>, operands: &[Value<'c>]) {
        let Some(format) = format_of(made.ty()).filter(|_| self.operation.is_some()) else { return };
        let from = operands.first().and_then(|operand| format_of(operand.ty())).unwrap_or(format);
        let floats: Vec<_> = operands.iter().copied().filter(|operand| format_of(operand.ty()).is_some()).collect();
        self.follow(format, from, made, &floats, ValueClass::Exceptional, self.mask());
    }

    /// The same of bits that inline assembly computes with, in lanes that a guard lets through.
    pub(in crate::cpu) fn follow_bits(
        &mut self,
        [format, from]: [FloatFormat; 2],
        made: Value<'c>,
        operands: &[Value<'c>],
        guard: Option<Value<'c>>,
    ) {
        let mask = match guard {
            Some(guard) => self.bits(guard),
            None => self.mask(),
        };
        self.follow(format, from, made, operands, ValueClass::Exceptional, mask);
    }

    /// Follows the value of a type that the current load or store moves. Local memory is not followed.
    pub(in crate::cpu) fn follow_leaves(
        &mut self,
        pointer: Value<'c>,
        ty: Type<'c>,
        leaves: &[Leaf<'c>],
        lay: &Lay<'c>,
        mask: Value<'c>,
    ) {
        if self.operation.is_none() || matches!(pointer.ty().kind(), Kind::Pointer(5)) {
            return;
        }
        let offsets = leaf_offsets(self.unit().layout(), ty);
        for (leaf, offset) in leaves.iter().zip(offsets) {
            self.follow_moved(leaf, lay, offset, mask);
        }
    }

    fn follow_moved(&mut self, leaf: &Leaf<'c>, lay: &Lay<'c>, offset: u64, mask: Value<'c>) {
        let (Leaf::Uniform(value) | Leaf::Lanes(value)) = leaf else { return };
        let Some(format) = format_of(value.ty()) else { return };
        let addresses = self.addresses(lay);
        let addresses = self.b.add(addresses, self.same(addresses, offset));
        self.follow(format, format, *value, &[addresses], ValueClass::NotFinite, mask);
    }

    fn follow(
        &mut self,
        format: FloatFormat,
        from: FloatFormat,
        made: Value<'c>,
        operands: &[Value<'c>],
        wanted: ValueClass,
        mask: Value<'c>,
    ) {
        let Some(number) = self.operation else { return };
        let bits = self.raw_bits(made);
        let found = self.exceptional(format, bits, wanted);
        let found = match found.ty().kind() {
            Kind::Vector(_) => {
                let all = self.b.bitcast(self.b.freeze(found), self.t.int(32));
                self.b.and(all, mask)
            }
            _ => {
                let found = self.b.freeze(found);
                self.b.select(found, mask, self.i32(0))
            }
        };
        let (call, after) = (self.new_block("exceptional"), self.new_block("ordinary"));
        self.branch_unlikely(self.b.ne(found, self.i32(0)), call, after);
        self.b.at_end(call);
        let room = self.once("values", |this| this.entry.alloca(this.t.int(64).vector(4 * LANES), 64));
        for (row, value) in (0..).zip(std::iter::once(bits).chain(operands.iter().copied()).take(4)) {
            let wide = self.wide_bits(value);
            self.b.store(wide, self.b.offset(room, row * ROW_BYTES), 64);
        }
        let index = |format: FloatFormat| FloatFormat::ALL.iter().position(|one| *one == format).unwrap_or(0) as u32;
        let operands = operands.len().min(3) as u32;
        let from = self.i32(index(from) | operands << 8);
        let arguments = [self.context(), self.i32(number), self.i32(index(format)), from, found, room];
        self.b.call(self.unit().runtime().operation(), &arguments);
        self.b.branch(after);
        self.b.at_end(after);
        self.accesses.note_spill(None, after);
    }

    /// Returns a value's bits as an integer of the same width.
    fn raw_bits(&self, value: Value<'c>) -> Value<'c> {
        let bits = self.t.int(scalar_bits(value.ty()));
        self.b.bitcast(value, self.shaped(value, bits))
    }

    /// Returns the bits of a value in all lanes, in 64 each.
    fn wide_bits(&self, value: Value<'c>) -> Value<'c> {
        let bits = self.raw_bits(value);
        let lanes = if matches!(bits.ty().kind(), Kind::Vector(_)) { bits } else { self.b.splat(bits, LANES) };
        self.b.fit_lanes(lanes, self.t.int(64).vector(LANES))
    }

    fn exceptional(&self, format: FloatFormat, bits: Value<'c>, wanted: ValueClass) -> Value<'c> {
        let magnitude = self.b.and(bits, self.same(bits, format.magnitude(u64::MAX)));
        let finite = self.same(bits, format.infinity() - 1);
        if wanted == ValueClass::NotFinite {
            return self.b.ugt(magnitude, finite);
        }
        // The difference wraps for magnitudes below the smallest normal number. Zero, which also wraps, is excluded.
        let least = self.same(bits, format.smallest_normal());
        let range = self.same(bits, format.infinity() - format.smallest_normal() - 1);
        let outside = self.b.ugt(self.b.sub(magnitude, least), range);
        self.b.and(outside, self.b.ne(magnitude, self.same(bits, 0)))
    }
}
