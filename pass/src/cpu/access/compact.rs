//! Converts items of lanes with arbitrary addresses to a short form when they are written.
//!
//! In the trace, such an access mostly consists of a base and 32-bit distances. Lowered code can use vector
//! instructions for this, and the addresses are in its registers. The runtime, which reads an item later, would load
//! twice the bytes and process the lanes one by one.

use crate::cpu::target::types::LANES;
use crate::cpu::target::unit::Unit;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::value::IntPredicate;
use crate::llvm::{Block, Builder, ModuleItems, Value};
use warpline_format::access::{EVEN_ADDRESS_BITS, Kind, MAX_ITEM_BYTES};

/// The bit of the result of [`Unit::compact_helper`] that is set if a lane may be out of bounds.
pub const BAD: u64 = 1;

/// Values that all parts of the function share.
struct Compacting<'u, 'c> {
    unit: &'u Unit<'c>,
    b: Builder<'c>,
    function: Value<'c>,
    item: Value<'c>,
    /// The bits of the head without the kind.
    head: Value<'c>,
    /// The lowest address.
    low: Value<'c>,
    bad: Value<'c>,
}

impl<'c> Unit<'c> {
    /// `(item, low, high, first, last, misaligned) -> i64`: shortens a raw item in place, and returns its length. The
    /// lowest bit of the result is [`BAD`] if, for a lane at `address`, the bytes from `address + first` to `address +
    /// last` are not all in `low ..= high`, or the address has one of the bits of `misaligned`.
    pub fn compact_helper(&self) -> Value<'c> {
        let name = "warpline.compact";
        if let Some(function) = ModuleItems::function(&self.target, name) {
            return function;
        }
        let (pointer, int, long) = (self.t.pointer(0), self.t.int(32), self.t.int(64));
        let function = self.new_helper(name, long.function(&[pointer, long, long, long, long, long]));
        function.add_attribute(OF_FUNCTION, "nosync", 0);
        let b = Builder::new(self.t);
        b.at_end(function.append_block("entry"));
        let [item, from, to, first, last, misaligned] = function.parameters()[..] else { return function };
        let head = b.and(b.load(int, item, 8), Value::int(int, (1 << 28) - 1));
        let mask = b.load(int, b.offset(item, 4), 4);
        let raw = b.load(long.vector(LANES), b.offset(item, 8), 8);
        // Idle lanes get the address of the lowest active lane.
        let lowest = b.call(self.intrinsic("llvm.cttz", &[int]), &[mask, Value::int(self.t.int(1), 0)]);
        let lowest = b.and(lowest, Value::int(int, u64::from(LANES) - 1));
        let one = b.load(long, b.gep(long, b.offset(item, 8), &[b.zext(lowest, long)]), 8);
        let lanes = b.select(self.lanes_of(&b, mask), raw, b.splat(one, LANES));
        let reduce = |name: &str| b.call(self.intrinsic(name, &[lanes.ty()]), &[lanes]);
        let (low, high) = (reduce("llvm.vector.reduce.smin"), reduce("llvm.vector.reduce.smax"));
        let bits = b.and(reduce("llvm.vector.reduce.or"), misaligned);
        // Addresses are far below 2^63, and so are the ends of ranges and the distances between them.
        let outside = [
            b.icmp(IntPredicate::LLVMIntSLT, b.add(low, first), from),
            b.icmp(IntPredicate::LLVMIntSGT, b.add(high, last), to),
            b.ne(bits, Value::zero(long)),
        ];
        let bad = b.zext(b.or(b.or(outside[0], outside[1]), outside[2]), long);
        let blocks = ["uniform", "spread", "near", "whole", "part", "far"].map(|name| function.append_block(name));
        let [uniform, spread, near, whole, part, far] = blocks;
        b.branch_if(b.eq(low, high), uniform, spread);
        b.at_end(spread);
        let wide = b.lshr(b.sub(high, low), Value::int(long, 32));
        b.branch_if(b.eq(wide, Value::zero(long)), near, far);
        b.at_end(near);
        b.branch_if(b.eq(mask, Value::int(int, u64::from(u32::MAX))), whole, part);

        let mut compacting = Compacting { unit: self, b, function, item, head, low, bad };
        compacting.uniform(uniform);
        compacting.whole(whole, raw);
        compacting.part(part, mask, raw);
        compacting.b.at_end(far);
        compacting.done(MAX_ITEM_BYTES as u64);
        function
    }
}

impl<'c> Compacting<'_, 'c> {
    fn long(&self, value: u64) -> Value<'c> {
        Value::int(self.unit.t.int(64), value)
    }

    fn place(&self, bytes: u64) -> Value<'c> {
        self.b.offset(self.item, bytes)
    }

    fn kind(&self, kind: Kind) {
        let kind = Value::int(self.unit.t.int(32), (kind as u64) << 28);
        self.b.store(self.b.or(self.head, kind), self.item, 8);
    }

    fn done(&self, bytes: u64) {
        self.b.return_value(self.b.or(self.bad, self.long(bytes)));
    }

    fn uniform(&mut self, block: Block<'c>) {
        self.b.at_end(block);
        self.kind(Kind::Uniform);
        self.b.store(self.low, self.place(8), 8);
        self.done(16);
    }

    /// Tests whether all lanes, which are active, are evenly spaced.
    fn whole(&mut self, block: Block<'c>, raw: Value<'c>) {
        let (unit, long) = (self.unit, self.unit.t.int(64));
        let [look, even, short, halves, delta] =
            ["look", "even", "short", "halves", "delta"].map(|name| self.function.append_block(name));
        self.b.at_end(block);
        let lane = |this: &Self, lane: u64| this.b.load(long, this.place(8 + 8 * lane), 8);
        let [first, second, third] = [0, 1, 2].map(|number| lane(self, number));
        let stride = self.b.sub(second, first);
        self.b.branch_if(self.b.eq(self.b.sub(third, second), stride), look, delta);

        // The differences of neighbours, except between the two lanes in the middle.
        self.b.at_end(look);
        let half = long.vector(LANES / 2);
        let differs = |this: &Self, from: u64, kept: u64| {
            let [before, after] = [from, from + 1].map(|lane| this.b.load(half, this.place(8 + 8 * lane), 8));
            let different = this.b.ne(this.b.sub(after, before), this.b.splat(stride, LANES / 2));
            let bits = this.b.bitcast(different, unit.t.int(16));
            this.b.and(bits, Value::int(unit.t.int(16), kept))
        };
        let different = self.b.or(differs(self, 0, 0x7fff), differs(self, 15, 0xfffe));
        let middle = lane(self, 16);
        let narrow = |this: &Self, bits: u32| {
            let back = this.b.sext(this.b.trunc(stride, unit.t.int(bits)), long);
            this.b.eq(back, stride)
        };
        let is_even = self.b.and(self.b.eq(different, Value::zero(unit.t.int(16))), narrow(self, 32));
        self.b.branch_if(is_even, even, delta);

        self.b.at_end(even);
        let straight = self.b.eq(self.b.sub(middle, first), self.b.shl(stride, self.long(4)));
        let low = self.b.and(first, self.long((1 << EVEN_ADDRESS_BITS) - 1));
        let unused = self.long(u64::from(64 - EVEN_ADDRESS_BITS));
        let back = self.b.ashr(self.b.shl(first, unused), unused);
        let fits = self.b.and(narrow(self, 16), self.b.eq(back, first));
        self.b.branch_if(self.b.and(straight, fits), short, halves);

        self.b.at_end(short);
        self.kind(Kind::Even);
        let step = self.b.shl(stride, self.long(u64::from(EVEN_ADDRESS_BITS)));
        self.b.store(self.b.or(low, step), self.place(8), 8);
        self.done(16);

        self.b.at_end(halves);
        self.kind(Kind::Affine);
        self.b.store(first, self.place(8), 8);
        self.b.store(middle, self.place(16), 8);
        self.b.store(self.b.and(stride, self.long(0xffff_ffff)), self.place(24), 8);
        self.done(32);

        self.b.at_end(delta);
        self.kind(Kind::Delta);
        let distances = self.b.sub(raw, self.b.splat(self.low, LANES));
        self.b.store(self.b.trunc(distances, unit.t.int(32).vector(LANES)), self.place(16), 8);
        self.b.store(self.low, self.place(8), 8);
        self.done(16 + 4 * u64::from(LANES));
    }

    /// Handles items of which only some lanes are active: writes their distances one after another.
    fn part(&mut self, block: Block<'c>, mask: Value<'c>, raw: Value<'c>) {
        let (unit, int, long) = (self.unit, self.unit.t.int(32), self.unit.t.int(64));
        let [each, rest] = ["each", "rest"].map(|name| self.function.append_block(name));
        self.b.at_end(block);
        // The distances would overwrite addresses that have not been read yet.
        let copy = self.b.alloca(raw.ty(), 64);
        self.b.store(raw, copy, 64);
        self.kind(Kind::Delta);
        self.b.store(self.low, self.place(8), 8);
        let start = self.place(16);
        self.b.branch(each);
        self.b.at_end(each);
        let (left, index) = (self.b.phi(int), self.b.phi(long));
        let lane = self.b.call(unit.intrinsic("llvm.cttz", &[int]), &[left, Value::int(unit.t.int(1), 1)]);
        let address = self.b.load(long, self.b.gep(long, copy, &[self.b.zext(lane, long)]), 8);
        let distance = self.b.trunc(self.b.sub(address, self.low), int);
        self.b.store(distance, self.b.gep(int, start, &[index]), 4);
        let fewer = self.b.and(left, self.b.sub(left, Value::int(int, 1)));
        let next = self.b.add(index, self.long(1));
        left.add_incoming(&[(mask, block), (fewer, each)]);
        index.add_incoming(&[(self.long(0), block), (next, each)]);
        self.b.branch_if(self.b.eq(fewer, Value::zero(int)), rest, each);
        self.b.at_end(rest);
        // The bytes that fill the last eight bytes must not differ between runs.
        self.b.store(Value::zero(int), self.b.gep(int, start, &[next]), 4);
        let words = self.b.and(self.b.add(next, self.long(1)), self.long(!1));
        let bytes = self.b.add(self.b.shl(words, self.long(2)), self.long(16));
        self.b.return_value(self.b.or(self.bad, bytes));
    }
}
