//! Access checks: lowered code compares addresses with memory that is known to be valid, and the runtime checks the
//! addresses outside it.

use super::compact;
use crate::cpu::emitter::{Emitter, context};
use crate::cpu::target::checked::Checked;
use crate::cpu::target::types::LANES;
use crate::llvm::{Block, Value};
use warpline_format::access::Space;

impl<'c> Emitter<'_, 'c> {
    /// Returns the first and last byte that are known to be valid for a site.
    pub fn known_range(&mut self, what: &Checked) -> [Value<'c>; 2] {
        if what.space == Space::Shared {
            return [0, 1].map(|end| match self.unit().is_plain_load(what.site) {
                // If warps take turns, the range changes with every store.
                true => self.field_now(context::SHARED_RANGE.dimension(end)),
                false => self.field(context::SHARED_STORES.dimension(end)),
            });
        }
        let range = self.unit().site_range(&self.b, what.site);
        [self.b.load(self.t.int(64), range, 8), self.b.load(self.t.int(64), self.b.offset(range, 8), 8)]
    }

    /// Returns whether an access of lanes at one address, or evenly spaced, may leave `[low, high]` or be misaligned.
    /// The result is true for every such access, but it may also be true for a valid one: idle lanes count as well,
    /// which avoids a search for the outermost active lanes.
    pub fn suspicion(&mut self, bases: &[Value<'c>], stride: i64, what: &Checked, known: [Value<'c>; 2]) -> Value<'c> {
        let [first, last] = what.reach().map(|byte| self.i64(byte));
        let reach = self.i64((stride * (i64::from(LANES) / bases.len() as i64 - 1)) as u64);
        let bases = self.active_bases(bases, self.mask());
        let (mut low, mut high, mut bits) = (bases[0], bases[0], bases[0]);
        if let Some(second) = bases.get(1) {
            let pick = |this: &Self, name: &str| this.b.call(this.unit().intrinsic(name, &[low.ty()]), &[low, *second]);
            (low, high, bits) = (pick(self, "llvm.umin"), pick(self, "llvm.umax"), self.b.or(low, *second));
        }
        // A misaligned lane is visible in a base or in the stride.
        bits = self.b.or(bits, self.i64(stride as u64));
        if stride < 0 {
            low = self.b.add(low, reach);
        } else {
            high = self.b.add(high, reach);
        }
        let low = if what.bundle.is_some() { self.b.add(low, first) } else { low };
        self.outside([low, self.b.add(high, last)], bits, what.alignment(), known)
    }

    /// Shortens the raw item at `item`, whose addresses are those that the lanes use minus `shift`. Returns its length,
    /// and whether a lane may be out of bounds; without `known`, this is always false.
    pub fn compact(
        &mut self,
        item: Value<'c>,
        shift: Option<Value<'c>>,
        what: &Checked,
        known: Option<[Value<'c>; 2]>,
    ) -> (Value<'c>, Value<'c>) {
        let never = [Value::zero(self.t.int(64)), self.i64(i64::MAX as u64)];
        let ends = known.unwrap_or(never).map(|end| match shift {
            Some(shift) if known.is_some() => self.b.sub(end, shift),
            _ => end,
        });
        let [first, last] = what.reach().map(|byte| self.i64(byte));
        let misaligned = self.i64(u64::from(what.alignment().max(1)) - 1);
        let result = self.b.call(self.unit().compact_helper(), &[item, ends[0], ends[1], first, last, misaligned]);
        let bad = match known {
            Some(_) => self.b.trunc(result, self.t.int(1)),
            None => Value::int(self.t.int(1), 0),
        };
        (self.b.and(result, self.i64(!compact::BAD)), bad)
    }

    /// Returns whether the first or last byte is outside the range, or a low bit is set.
    fn outside(&self, ends: [Value<'c>; 2], bits: Value<'c>, align: u32, known: [Value<'c>; 2]) -> Value<'c> {
        // The code compares differences from the range's start, because an address that wrapped is then far outside.
        let size = self.b.sub(known[1], known[0]);
        let [low, high] = ends.map(|end| self.b.ugt(self.b.sub(end, known[0]), size));
        self.b.or(self.b.or(low, high), self.misaligned(bits, align))
    }

    fn misaligned(&self, bits: Value<'c>, align: u32) -> Value<'c> {
        if align <= 1 {
            return Value::int(self.t.int(1), 0);
        }
        self.b.ne(self.b.and(bits, self.i64(u64::from(align) - 1)), self.i64(0))
    }

    /// Emits a branch that is rarely taken.
    pub fn branch_unlikely(&self, condition: Value<'c>, rare: Block<'c>, usual: Block<'c>) {
        let expect = self.unit().intrinsic("llvm.expect", &[self.t.int(1)]);
        let expected = self.b.call(expect, &[condition, Value::int(self.t.int(1), 0)]);
        self.b.branch_if(expected, rare, usual);
    }
}
