//! Hooks: access checks, records, counts.

use super::context;
use super::emitter::{Emitted, Emitter};
use super::error::Refusal;
use super::leaf::{LANES, Leaf};
use super::memory::Lay;
use crate::llvm::Value;
use crate::llvm::types::Kind;
use warpline_format::abi::count_cells;
use warpline_format::access::{self, Kind as ItemKind, MAX_ITEM_BYTES, Space};

impl<'c> Emitter<'_, 'c> {
    /// Lowers `__warpline_access_*`: checks the addresses and records them. What may go on is kept for the access
    /// itself, which follows.
    pub fn access_hook(&mut self, hook: Value<'c>) -> Emitted<()> {
        let arguments = hook.arguments();
        let Some(site) = arguments.first().and_then(|site| site.as_u64()) else {
            return Err(Refusal::of(hook, "a hook without a site number"));
        };
        let Some((space, bytes, align)) = self.unit.site(site as u32) else {
            return Err(Refusal::of(hook, "a hook whose site is not in the table"));
        };
        let pointer = arguments[1];
        let leaf = self.leaf(pointer)?;
        // Of a local access the record holds the offset in the lane's stack, and the pointer is that already.
        let offsets = matches!(pointer.ty().kind(), Kind::Pointer(5));
        let lay = self.lay_of(pointer, leaf);
        let mut mask = self.mask;
        if space != Space::Local {
            mask = self.check(site as u32, space, &lay, bytes, align)?;
        }
        let recorded = match space {
            Space::Local if !offsets => {
                let stacks = self.lane_stacks();
                let addresses = self.addresses(&lay);
                Lay::Scattered(self.b.sub(addresses, stacks))
            }
            Space::Shared => self.from_shared(&lay),
            _ => lay,
        };
        self.record(site as u32, space, mask, &recorded, bytes);
        self.allowed = (mask != self.mask).then_some(mask);
        Ok(())
    }

    fn from_shared(&mut self, lay: &Lay<'c>) -> Lay<'c> {
        let shared = self.field(context::SHARED);
        match lay {
            Lay::Same(address) => Lay::Same(self.b.sub(*address, shared)),
            Lay::Strided(bases, stride) => {
                Lay::Strided(bases.iter().map(|base| self.b.sub(*base, shared)).collect(), *stride)
            }
            Lay::Scattered(lanes) => Lay::Scattered(self.b.sub(*lanes, self.b.splat(shared, LANES))),
            Lay::Likely(lanes) => Lay::Likely(self.b.sub(*lanes, self.b.splat(shared, LANES))),
        }
    }

    /// First and last byte that active lanes touch, and the bits of all addresses or-ed as far as alignment goes.
    fn extent(&mut self, lay: &Lay<'c>, bytes: u64) -> (Value<'c>, Value<'c>, Value<'c>) {
        let last = self.i64(bytes - 1);
        match lay {
            Lay::Same(address) => (*address, self.b.add(*address, last), *address),
            Lay::Strided(bases, stride) if bases.len() == 1 => {
                let long = self.t.int(64);
                let first = self.b.zext(self.lowest(self.mask), long);
                let end = self.b.zext(self.highest(self.mask), long);
                let at = |this: &Self, lane| this.b.add(bases[0], this.b.mul(lane, this.i64(*stride as u64)));
                let (mut low, mut high) = (at(self, first), at(self, end));
                if *stride < 0 {
                    std::mem::swap(&mut low, &mut high);
                }
                // Misaligned lanes show in the base or in the stride.
                let bits = self.b.or(low, self.i64(*stride as u64));
                let single = self.b.eq(first, end);
                let bits = self.b.select(single, low, bits);
                (low, self.b.add(high, last), bits)
            }
            lay => {
                let addresses = self.addresses(lay);
                let active = self.active();
                let reduce = |this: &Self, name: &str, neutral: u64| {
                    let kept = this.b.select(active, addresses, this.same(addresses, neutral));
                    this.b.call(this.unit.intrinsic(name, &[kept.ty()]), &[kept])
                };
                let low = reduce(self, "llvm.vector.reduce.umin", u64::MAX);
                let high = reduce(self, "llvm.vector.reduce.umax", 0);
                let bits = reduce(self, "llvm.vector.reduce.or", 0);
                (low, self.b.add(high, last), bits)
            }
        }
    }

    /// Compares with the memory known to be good; asks the runtime where that does not settle it.
    fn check(&mut self, site: u32, space: Space, lay: &Lay<'c>, bytes: u32, align: u32) -> Emitted<Value<'c>> {
        let (low, high, bits) = self.extent(lay, u64::from(bytes.max(1)));
        let (range_low, range_high) = if space == Space::Shared {
            let (shared, size) = (self.field(context::SHARED), self.field(context::SHARED_BYTES));
            (shared, self.b.sub(self.b.add(shared, size), self.i64(1)))
        } else {
            let range = self.unit.site_range(site);
            (self.b.load(self.t.int(64), range, 8), self.b.load(self.t.int(64), self.b.offset(range, 8), 8))
        };
        let mut bad = self.b.or(self.b.ult(low, range_low), self.b.ugt(high, range_high));
        if align > 1 {
            let misaligned = self.b.ne(self.b.and(bits, self.i64(u64::from(align) - 1)), self.i64(0));
            bad = self.b.or(bad, misaligned);
        }
        let addresses = self.addresses(lay);
        let fast = self.b.block();
        let (slow, done) = (self.new_block("check"), self.new_block("checked"));
        self.branch_unlikely(bad, slow, done);
        self.b.at_end(slow);
        let place = self.spill(addresses, "addresses");
        let check = self.unit.runtime().check();
        let range = self.unit.site_range(site);
        let allowed = self.b.call(
            check,
            &[
                self.context,
                range,
                self.i32(site),
                self.i32(space as u32),
                self.mask,
                place,
                self.i32(bytes),
                self.i32(align),
            ],
        );
        self.b.branch(done);
        self.b.at_end(done);
        let mask = self.b.phi(self.t.int(32));
        mask.add_incoming(&[(self.mask, fast), (allowed, slow)]);
        Ok(mask)
    }

    /// A branch that is hardly ever taken.
    pub fn branch_unlikely(&self, condition: Value<'c>, rare: crate::llvm::Block<'c>, usual: crate::llvm::Block<'c>) {
        let expect = self.unit.intrinsic("llvm.expect", &[self.t.int(1)]);
        let expected = self.b.call(expect, &[condition, Value::int(self.t.int(1), 0)]);
        self.b.branch_if(expected, rare, usual);
    }

    /// Room for an item of this many bytes: the place to write it. Nothing that may switch to another warp may
    /// happen until [`Self::commit`].
    fn reserve(&mut self, bytes: u64) -> Value<'c> {
        debug_assert!(bytes as usize <= MAX_ITEM_BYTES);
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
        self.b.call(self.unit.runtime().flush(), &[self.context]);
        let fresh = self.field_now(context::RECORD_CURSOR);
        self.b.branch(room);
        self.b.at_end(room);
        let place = self.b.phi(pointer);
        place.add_incoming(&[(cursor, before), (fresh, flush)]);
        place
    }

    fn commit(&mut self, place: Value<'c>, bytes: u64) {
        let after = self.b.offset(place, bytes);
        self.set_field(context::RECORD_CURSOR, after);
    }

    fn head(&self, place: Value<'c>, kind: ItemKind, space: Space, number: u32, second: Value<'c>) {
        self.b.store(self.i32(access::head(kind, space, number)), place, 8);
        self.b.store(second, self.b.offset(place, 4), 4);
    }

    /// Writes the record of an access by the lanes of `mask`; none if there are none.
    fn record(&mut self, site: u32, space: Space, mask: Value<'c>, lay: &Lay<'c>, bytes: u32) {
        let done = if mask == self.mask {
            None
        } else {
            let (some, done) = (self.new_block("record"), self.new_block("recorded"));
            self.branch_unlikely(self.b.eq(mask, self.i32(0)), done, some);
            self.b.at_end(some);
            Some(done)
        };
        self.write_access(site, space, mask, lay, bytes);
        if let Some(done) = done {
            self.b.branch(done);
            self.b.at_end(done);
        }
    }

    fn write_access(&mut self, site: u32, space: Space, mask: Value<'c>, lay: &Lay<'c>, bytes: u32) {
        match lay {
            Lay::Same(address) => {
                let place = self.reserve(16);
                self.head(place, ItemKind::Uniform, space, site, mask);
                self.b.store(*address, self.b.offset(place, 8), 8);
                self.commit(place, 16);
            }
            Lay::Strided(bases, stride) => {
                let second = match bases.get(1) {
                    Some(second) => *second,
                    None => self.b.add(bases[0], self.i64((16 * stride) as u64)),
                };
                let place = self.reserve(32);
                self.head(place, ItemKind::Affine, space, site, mask);
                self.b.store(bases[0], self.b.offset(place, 8), 8);
                self.b.store(second, self.b.offset(place, 16), 8);
                // The stride and a zero word.
                self.b.store(self.i64(*stride as u64 & 0xffff_ffff), self.b.offset(place, 24), 8);
                self.commit(place, 32);
            }
            Lay::Scattered(lanes) => {
                let place = self.reserve(MAX_ITEM_BYTES as u64);
                self.head(place, ItemKind::Raw, space, site, mask);
                self.b.store(*lanes, self.b.offset(place, 8), 8);
                self.commit(place, MAX_ITEM_BYTES as u64);
            }
            Lay::Likely(lanes) => {
                let stride = i64::from(bytes);
                let (even, base) = self.evenness(*lanes, stride);
                let (near, far, done) = (self.new_block("near"), self.new_block("far"), self.new_block("written"));
                self.b.branch_if(even, near, far);
                self.b.at_end(near);
                self.write_access(site, space, mask, &Lay::Strided(vec![base], stride), bytes);
                self.b.branch(done);
                self.b.at_end(far);
                self.write_access(site, space, mask, &Lay::Scattered(*lanes), bytes);
                self.b.branch(done);
                self.b.at_end(done);
            }
        }
    }

    /// Writes an item of 8 bytes.
    pub fn mark(&mut self, kind: ItemKind, number: u32, second: Value<'c>) {
        let place = self.reserve(8);
        self.head(place, kind, Space::Generic, number, second);
        self.commit(place, 8);
    }

    fn add_to_cell(&self, cells: Value<'c>, cell: u64, amount: Value<'c>) {
        let place = self.b.offset(cells, 8 * cell);
        let before = self.b.load(self.t.int(64), place, 8);
        self.b.store(self.b.add(before, amount), place, 8);
    }

    /// Lowers `__warpline_block`: the clock, and with hooks the counts.
    pub fn block_hook(&mut self, hook: Value<'c>) -> Emitted<()> {
        let Some(number) = hook.operand(0).as_u64() else { return Err(Refusal::of(hook, "a hook without a number")) };
        let Some(instructions) = self.unit.block_instructions(number as usize) else {
            return Err(Refusal::of(hook, "a hook whose block is not in the table"));
        };
        if self.hooked || self.unit.reads_clock() {
            let clock = self.field_now(context::CLOCK);
            self.set_field(context::CLOCK, self.b.add(clock, self.i64(instructions)));
        }
        if !self.hooked {
            return Ok(());
        }
        let live = self.live();
        let long = self.t.int(64);
        let cells = self.field_now(context::COUNTS);
        let first = number * count_cells::PER_BLOCK;
        self.add_to_cell(cells, first, self.i64(1));
        let lanes = self.b.zext(self.count(self.mask), long);
        self.add_to_cell(cells, first + 1, lanes);
        let partial = self.b.zext(self.b.ne(self.mask, live), long);
        self.add_to_cell(cells, first + 2, partial);
        Ok(())
    }

    /// Lowers `__warpline_branch` and `__warpline_switch`.
    pub fn branch_hook(&mut self, hook: Value<'c>, switch: bool) -> Emitted<()> {
        let Some(number) = hook.operand(0).as_u64() else { return Err(Refusal::of(hook, "a hook without a number")) };
        let Some((cell, sides)) = self.unit.branch_cells(number as usize) else {
            return Err(Refusal::of(hook, "a hook whose branch is not in the table"));
        };
        let chooser = self.leaf(hook.operand(1))?;
        let cells = self.field_now(context::COUNTS);
        let long = self.t.int(64);
        let first_side = cell + count_cells::BRANCH_FIXED;
        self.add_to_cell(cells, cell, self.i64(1));
        if let Leaf::Uniform(chooser) = chooser {
            let lanes = self.b.zext(self.count(self.mask), long);
            let side =
                if switch { self.b.zext(chooser, long) } else { self.b.select(chooser, self.i64(0), self.i64(1)) };
            let index = self.b.add(side, self.i64(first_side));
            let place = self.b.gep(long, cells, &[index]);
            let before = self.b.load(long, place, 8);
            self.b.store(self.b.add(before, lanes), place, 8);
            return Ok(());
        }
        let chooser = chooser.lanes(&self.b);
        let mut used = self.i64(0);
        for side in 0..sides {
            let taken = match (switch, side) {
                (false, 0) => self.bits(chooser),
                (false, _) => {
                    let taken = self.bits(chooser);
                    self.b.and(self.mask, self.b.not(taken))
                }
                (true, _) => {
                    let equal = self.b.eq(chooser, self.same(chooser, u64::from(side)));
                    self.bits(equal)
                }
            };
            let lanes = self.b.zext(self.count(taken), long);
            self.add_to_cell(cells, first_side + u64::from(side), lanes);
            used = self.b.add(used, self.b.zext(self.b.ne(taken, self.i32(0)), long));
        }
        let divergent = self.b.zext(self.b.ugt(used, self.i64(1)), long);
        self.add_to_cell(cells, cell + 1, divergent);
        Ok(())
    }
}
