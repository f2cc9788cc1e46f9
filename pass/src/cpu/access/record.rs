//! Records: items that lowered code writes into its warp's buffer.

use crate::cpu::emitter::lanes::Lay;
use crate::cpu::emitter::{Emitter, context};
use crate::cpu::shapes::shape::Shape;
use crate::cpu::target::checked::Checked;
use crate::cpu::target::types::LANES;
use crate::ir::class::{self, Call, gives_way};
use crate::llvm::Value;
use crate::llvm::types::Kind;
use warpline_format::access::{self, Kind as ItemKind, MAX_ITEM_BYTES, Space};
use warpline_format::hooks::Hook;

/// The sizes in bytes of an item for all lanes at one address, and for evenly spaced lanes: the short form, and the
/// form with a base for each half.
const UNIFORM_BYTES: u64 = ItemKind::Uniform.most_bytes() as u64;
const EVEN_BYTES: u64 = ItemKind::Even.most_bytes() as u64;
const AFFINE_BYTES: u64 = ItemKind::Affine.most_bytes() as u64;
/// The maximum number of bytes that are reserved in advance; a warp's buffer has at least 8 KiB.
const MOST_AHEAD: u64 = 1024;

/// An item that was written and does not count yet.
pub struct Written<'c> {
    /// The position of the item.
    pub place: Value<'c>,
    /// The length of the item, `i64`.
    pub bytes: Value<'c>,
    /// Whether a lane may be at an invalid address, `i1`.
    pub bad: Value<'c>,
}

fn most_bytes(lay: &Lay<'_>) -> u64 {
    match lay {
        Lay::Same(_) => UNIFORM_BYTES,
        Lay::Strided(bases, stride) => strided_bytes(bases.len(), *stride),
        Lay::Scattered(_) | Lay::Likely(..) => MAX_ITEM_BYTES as u64,
    }
}

/// Returns the size in bytes of an item for lanes with this number of bases.
fn strided_bytes(bases: usize, stride: i64) -> u64 {
    if bases == 1 && i16::try_from(stride).is_ok() { EVEN_BYTES } else { AFFINE_BYTES }
}

/// Returns the first word of the raw item of one access.
pub fn raw_head(what: &Checked) -> u32 {
    access::head(ItemKind::Raw, what.space, what.site)
}

impl<'c> Emitter<'_, 'c> {
    /// Reserves room for an item of this number of bytes, and returns the position at which to write it. Until
    /// [`Self::commit`], nothing may switch to another warp. One check of the buffer also covers the following items in
    /// the block.
    fn reserve(&mut self, bytes: u64) -> Value<'c> {
        debug_assert!(bytes as usize <= MAX_ITEM_BYTES);
        if let Some(place) = self.accesses.take_room(bytes) {
            return place;
        }
        let all = self.bytes_ahead().max(bytes);
        let place = self.make_room(all);
        self.accesses.set_room(place, all - bytes);
        place
    }

    /// Returns the buffer's next position, after which there are at least `bytes` bytes.
    fn make_room(&mut self, bytes: u64) -> Value<'c> {
        let pointer = self.t.pointer(0);
        let cursor = self.field_now(context::RECORD_CURSOR);
        let end = self.field_now(context::RECORD_END);
        let long = self.t.int(64);
        let after = self.b.add(self.b.ptr_to_int(cursor, long), self.i64(bytes));
        let full = self.b.ugt(after, self.b.ptr_to_int(end, long));
        let before = self.b.block();
        let (flush, room) = (self.new_block("flush"), self.new_block("room"));
        self.branch_unlikely(full, flush, room);
        self.b.at_end(flush);
        self.b.call(self.unit().quiet(self.unit().runtime().flush()), &[self.context()]);
        let fresh = self.field_now(context::RECORD_CURSOR);
        self.b.branch(room);
        self.b.at_end(room);
        let place = self.b.phi(pointer);
        place.add_incoming(&[(cursor, before), (fresh, flush)]);
        place
    }

    /// Returns the maximum number of bytes that the block's items need from here on, as long as no other warp can run
    /// in between.
    fn bytes_ahead(&self) -> u64 {
        let mut bytes = 0;
        for &instruction in self.instructions_ahead() {
            if gives_way(instruction) {
                break;
            }
            if let Some(callee) = instruction.direct_callee()
                && matches!(class::classify(&callee.name()), Call::Hook(Hook::Access(_)))
            {
                let more = self.item_bytes(instruction.operand(1));
                if bytes + more > MOST_AHEAD {
                    break;
                }
                bytes += more;
            }
        }
        bytes
    }

    /// Returns the maximum number of bytes of an item for an access through this pointer.
    fn item_bytes(&self, pointer: Value<'c>) -> u64 {
        let local = matches!(pointer.ty().kind(), Kind::Pointer(5));
        match self.analysis().shape(pointer) {
            Shape::Uniform if !local => UNIFORM_BYTES,
            Shape::Affine(_) if !local => AFFINE_BYTES,
            _ => MAX_ITEM_BYTES as u64,
        }
    }

    /// Makes the item count.
    pub fn commit(&mut self, place: Value<'c>, bytes: Value<'c>) {
        let after = self.b.gep(self.t.int(8), place, &[bytes]);
        self.set_field(context::RECORD_CURSOR, after);
        self.accesses.move_cursor(|_| after);
    }

    fn head(&self, place: Value<'c>, kind: ItemKind, space: Space, number: u32, second: Value<'c>) {
        self.b.store(self.i32(access::head(kind, space, number)), place, 8);
        self.b.store(second, self.b.offset(place, 4), 4);
    }

    /// Writes the item of an access by all lanes of the block and checks whether one of them is suspicious. The item
    /// does not count until [`Self::commit`]. `lay` has host addresses; items contain them reduced by `shift`.
    /// Addresses in `known` are valid.
    pub fn write_checked(
        &mut self,
        what: &Checked,
        lay: &Lay<'c>,
        shift: Option<Value<'c>>,
        known: [Value<'c>; 2],
    ) -> Written<'c> {
        let place = self.reserve(most_bytes(lay));
        let (bad, bytes) = self.write_at(place, what, lay, shift, Some(known));
        Written { place, bytes, bad }
    }

    /// Returns the number of bytes that the next items may need without another check of the buffer.
    pub fn promised(&self) -> u64 {
        self.accesses.room()
    }

    fn write_at(
        &mut self,
        place: Value<'c>,
        what: &Checked,
        lay: &Lay<'c>,
        shift: Option<Value<'c>>,
        known: Option<[Value<'c>; 2]>,
    ) -> (Value<'c>, Value<'c>) {
        let (site, space, mask) = (what.field(), what.space, self.mask());
        let never = Value::int(self.t.int(1), 0);
        let shifted = |this: &Self, at: Value<'c>| shift.map_or(at, |shift| this.b.sub(at, shift));
        match lay {
            Lay::Same(address) => {
                self.head(place, ItemKind::Uniform, space, site, mask);
                self.b.store(shifted(self, *address), self.b.offset(place, 8), 8);
                let bad = known.map_or(never, |known| self.suspicion(&[*address], 0, what, known));
                (bad, self.i64(UNIFORM_BYTES))
            }
            Lay::Strided(bases, stride) if strided_bytes(bases.len(), *stride) == EVEN_BYTES => {
                self.head(place, ItemKind::Even, space, site, mask);
                let low = self.b.and(shifted(self, bases[0]), self.i64((1 << access::EVEN_ADDRESS_BITS) - 1));
                let step = (*stride as u64) << access::EVEN_ADDRESS_BITS;
                self.b.store(self.b.or(low, self.i64(step)), self.b.offset(place, 8), 8);
                let bad = known.map_or(never, |known| self.suspicion(bases, *stride, what, known));
                (bad, self.i64(EVEN_BYTES))
            }
            Lay::Strided(bases, stride) => {
                let second = match bases.get(1) {
                    Some(second) => *second,
                    None => self.b.add(bases[0], self.i64((16 * stride) as u64)),
                };
                self.head(place, ItemKind::Affine, space, site, mask);
                self.b.store(shifted(self, bases[0]), self.b.offset(place, 8), 8);
                self.b.store(shifted(self, second), self.b.offset(place, 16), 8);
                // The stride, and a zero word.
                self.b.store(self.i64(*stride as u64 & 0xffff_ffff), self.b.offset(place, 24), 8);
                let bad = known.map_or(never, |known| self.suspicion(bases, *stride, what, known));
                (bad, self.i64(AFFINE_BYTES))
            }
            Lay::Scattered(lanes) => {
                self.write_raw(place, site, space, mask, self.less(*lanes, shift));
                let (bytes, bad) = self.compact(place, shift, what, known);
                (bad, bytes)
            }
            Lay::Likely(lanes, guess) => {
                let (even, likely) = self.evenness(*lanes, guess.as_ref(), i64::from(what.bytes));
                let (near, far, done) = (self.new_block("near"), self.new_block("far"), self.new_block("written"));
                self.b.branch_if(even, near, far);
                let mut outcomes = Vec::new();
                for (block, lay) in [(near, likely), (far, Lay::Scattered(*lanes))] {
                    self.b.at_end(block);
                    let outcome = self.write_at(place, what, &lay, shift, known);
                    outcomes.push((outcome, self.b.block()));
                    self.b.branch(done);
                }
                self.b.at_end(done);
                let (bad, bytes) = (self.b.phi(self.t.int(1)), self.b.phi(self.t.int(64)));
                for ((is_bad, size), from) in outcomes {
                    bad.add_incoming(&[(is_bad, from)]);
                    bytes.add_incoming(&[(size, from)]);
                }
                (bad, bytes)
            }
        }
    }

    /// Subtracts a scalar from all lanes.
    pub fn less(&self, lanes: Value<'c>, shift: Option<Value<'c>>) -> Value<'c> {
        shift.map_or(lanes, |shift| self.b.sub(lanes, self.b.splat(shift, LANES)))
    }

    fn write_raw(&self, place: Value<'c>, site: u32, space: Space, mask: Value<'c>, lanes: Value<'c>) {
        debug_assert_eq!(lanes.ty().kind(), Kind::Vector(LANES));
        self.head(place, ItemKind::Raw, space, site, mask);
        self.b.store(lanes, self.b.offset(place, 8), 8);
    }

    /// Writes an item of 8 bytes.
    pub fn mark(&mut self, kind: ItemKind, number: u32, second: Value<'c>) {
        let place = self.reserve(8);
        self.head(place, kind, Space::Generic, number, second);
        self.commit(place, self.i64(8));
    }
}
