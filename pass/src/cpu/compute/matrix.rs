//! Tensor cores: products are calls of the runtime, tile by tile; loads and stores move registers of 32 bits.
//!
//! A register is `<32 x i32>`, or `<32 x i64>` for doubles, whatever types the code uses for it.

use crate::cpu::emitter::lanes::Lay;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::{LANES, leaf_types};
use crate::ir::space::space_of_pointer;
use crate::llvm::Value;
use crate::llvm::types::Kind;
use crate::matrix::{Fragment, FragmentAccess, Linear, Multiply, Rows, Steps, Transfer};
use warpline_format::access::Space;

/// The effect of `movmatrix`, as the positions of a matrix's halves in the transposed matrix.
const TRANSPOSED: Rows = Rows { count: 1, transposed: true, store: false };

impl<'c> Emitter<'_, 'c> {
    /// Lowers `wmma`, `mma`, `ldmatrix` and `stmatrix`.
    pub fn matrix_call(&mut self, call: Value<'c>, rest: &str) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let refuse = || Refusal::new(call, format!("the intrinsic llvm.nvvm.{rest}"));
        let arguments = call.arguments();
        let wmma = rest.strip_prefix("wmma.");
        if let Some(transfer) = wmma.and_then(Transfer::read) {
            let (stride, others) = match arguments.split_last() {
                Some((stride, others)) if transfer.strided => (Some(*stride), others),
                _ => (None, &arguments[..]),
            };
            let stride = stride.map(|stride| self.vector(stride)).transpose()?;
            let pointer = self.leaf(others[0])?.lanes(&self.b);
            let mask = self.access_mask();
            let typed = (&transfer.fragment, transfer.ty);
            if transfer.store {
                let registers = self.registers(&others[1..])?;
                self.follow_fragment(typed, pointer, stride, &registers, mask);
                self.store_fragment(&transfer.fragment, pointer, stride, &registers, mask);
                return Ok(None);
            }
            let groups = transfer.fragment.groups().filter(|_| space_of_pointer(others[0]) == Space::Shared);
            let loaded = match groups {
                Some(groups) => self.load_groups(&transfer.fragment, &groups, pointer, stride, mask),
                None => self.load_fragment(&transfer.fragment, pointer, stride, mask),
            };
            self.follow_fragment(typed, pointer, stride, &loaded, mask);
            return self.leaves_of_registers(call, &loaded).ok_or_else(refuse).map(Some);
        }
        if let Some(product) = Multiply::read_intrinsic(rest) {
            let registers = self.registers(&arguments)?;
            let result = self.multiply(product, &registers, self.mask()).ok_or_else(refuse)?;
            return self.leaves_of_registers(call, &result).ok_or_else(refuse).map(Some);
        }
        let parts: Vec<&str> = rest.split('.').collect();
        let rows = Rows::read(&parts).ok_or_else(refuse)?;
        let pointer = self.leaf(arguments[0])?.lanes(&self.b);
        let mask = self.access_mask();
        if rows.store {
            let registers = self.registers(&arguments[1..])?;
            self.follow_rows(rows, pointer, mask, &registers);
            self.store_rows(rows, pointer, mask, &registers);
            return Ok(None);
        }
        let loaded = self.load_rows(rows, pointer, mask);
        self.follow_rows(rows, pointer, mask, &loaded);
        self.leaves_of_registers(call, &loaded).ok_or_else(refuse).map(Some)
    }

    /// Returns the arguments as registers: each argument is one register, which contains a number or two halves.
    fn registers(&mut self, arguments: &[Value<'c>]) -> Emitted<Vec<Value<'c>>> {
        let mut registers = Vec::new();
        for argument in arguments {
            let leaves = self.leaves(*argument)?;
            if let [low, high] = &leaves[..] {
                let [low, high] = [low, high].map(|leaf| leaf.lanes(&self.b));
                if super::arithmetic::scalar_bits(low.ty()) == 16 {
                    registers.push(self.paired(low, high));
                    continue;
                }
            }
            let mut whole: Option<Value<'c>> = None;
            for (index, leaf) in leaves.iter().enumerate() {
                let lanes = leaf.lanes(&self.b);
                let bits = super::arithmetic::scalar_bits(lanes.ty());
                let word = self.b.bitcast(lanes, self.int_lanes(bits));
                let word = self.b.fit_lanes(word, self.int_lanes(bits.max(32)));
                let placed = self.b.shl(word, self.same(word, u64::from(bits) * index as u64));
                whole = Some(whole.map_or(placed, |lower| self.b.or(lower, placed)));
            }
            registers.extend(whole);
        }
        Ok(registers)
    }

    /// Returns the registers as the leaves of the call's result. If the result has more leaves than there are
    /// registers, the registers are repeated from the first on.
    fn leaves_of_registers(&mut self, call: Value<'c>, registers: &[Value<'c>]) -> Option<Vec<Leaf<'c>>> {
        let mut leaves = Vec::new();
        let (mut register, mut taken) = (0, 0);
        for ty in leaf_types(call.ty()) {
            let bits = match ty.kind() {
                Kind::Half | Kind::BFloat => 16,
                Kind::Double => 64,
                Kind::Float => 32,
                _ => ty.int_bits()?,
            };
            let word = *registers.get(register % registers.len().max(1))?;
            let width = super::arithmetic::scalar_bits(word.ty());
            let part = self.b.lshr(word, self.same(word, u64::from(taken)));
            let part = self.b.fit_lanes(part, self.int_lanes(bits));
            leaves.push(Leaf::Lanes(self.b.bitcast(part, ty.vector(LANES))));
            taken += bits;
            if taken >= width {
                (register, taken) = (register + 1, 0);
            }
        }
        Some(leaves)
    }

    /// Returns D from the registers of A, B and C, tile by tile. The lanes of `mask` keep the result.
    pub fn multiply(&mut self, product: Multiply, registers: &[Value<'c>], mask: Value<'c>) -> Option<Vec<Value<'c>>> {
        let tile = product.tile;
        let [in_a, in_b, in_c, in_d] = tile.registers().map(|count| count as usize);
        let (rows, columns) = (product.tiles.0 as usize, product.tiles.1 as usize);
        let (held_a, held_b) = match product.held {
            Some((a, b)) => (a as usize, b as usize),
            None => (in_a * rows, in_b * columns),
        };
        if registers.len() != held_a + held_b + in_c * rows * columns {
            return None;
        }
        let (a, rest) = registers.split_at(held_a);
        let (b, c) = rest.split_at(held_b);
        let bits = tile.a.bits().max(32);
        let mut result = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let sum = row * columns + column;
                self.tiles.begin_product();
                let left = self.tile(&a[row * in_a..(row + 1) * in_a], false);
                let right = self.tile(&b[column * in_b..(column + 1) * in_b], false);
                let start = self.tile(&c[sum * in_c..(sum + 1) * in_c], true);
                // Sums stay in their memory if their size is that of their start values.
                let end = if in_c == in_d { start } else { self.tile_room(in_d, bits) };
                let operation = self.i32(tile.to_bits());
                self.tile_product([operation, left, right, start, end], (sum, rows * columns), mask);
                let bytes = u64::from(bits / 8 * LANES);
                let place = |index: u64| self.b.offset(end, bytes * index);
                let sums: Vec<_> =
                    (0..in_d as u64).map(|index| self.b.load(self.int_lanes(bits), place(index), 64)).collect();
                self.tiles.put(end, &sums);
                result.extend(sums);
            }
        }
        Some(result)
    }

    /// Returns the position of registers in memory, after storing them if they are not stored yet. `written` has the
    /// meaning of that in [`Tiles::find`].
    ///
    /// [`Tiles::find`]: crate::cpu::emitter::tiles::Tiles::find
    fn tile(&mut self, registers: &[Value<'c>], written: bool) -> Value<'c> {
        let known: Vec<_> = registers.iter().map(|register| register.uncast()).collect();
        if let Some((place, bytes)) = self.tiles.find(&known, written) {
            return self.b.offset(place, bytes);
        }
        let bits = super::arithmetic::scalar_bits(registers[0].ty());
        let place = self.tile_room(registers.len(), bits);
        for (index, register) in (0..).zip(registers) {
            self.b.store(*register, self.b.offset(place, u64::from(bits / 8 * LANES) * index), 64);
        }
        self.tiles.put(place, &known);
        place
    }

    /// Returns memory for this number of registers.
    fn tile_room(&mut self, registers: usize, bits: u32) -> Value<'c> {
        let bytes = u64::from(bits / 8 * LANES) * registers as u64;
        self.tiles.take(bytes, || self.entry.alloca(self.t.int(8).array(bytes), 64))
    }

    pub(super) fn linear(&self, linear: Linear) -> Value<'c> {
        let long = self.t.int(64);
        let lanes: Vec<_> = (0..LANES).map(|lane| Value::int(long, u64::from(linear.of_lane(lane)))).collect();
        Value::vector(&lanes)
    }

    /// Returns the addresses of one access of a fragment.
    fn access_lay(
        &self,
        fragment: &Fragment,
        access: FragmentAccess,
        base: Value<'c>,
        stride: Option<Value<'c>>,
    ) -> Lay<'c> {
        let (row, column) = (self.linear(access.row), self.linear(access.column));
        Lay::Scattered(self.elements_at(fragment, row, column, base, stride))
    }

    /// Returns the addresses of elements of a fragment.
    pub(super) fn elements_at(
        &self,
        fragment: &Fragment,
        row: Value<'c>,
        column: Value<'c>,
        base: Value<'c>,
        stride: Option<Value<'c>>,
    ) -> Value<'c> {
        let b = &self.b;
        let stride = match stride {
            Some(stride) => b.zext(stride, self.int_lanes(64)),
            None => self.same(base, u64::from(fragment.dense_stride())),
        };
        let elements = b.add(b.mul(row, stride), column);
        let bits = b.mul(elements, self.same(elements, u64::from(fragment.bits)));
        b.add(base, b.lshr(bits, self.same(bits, 3)))
    }

    /// Returns a fragment in shared memory, loaded as `ldmatrix` does.
    fn load_groups(
        &mut self,
        fragment: &Fragment,
        groups: &[Vec<(u32, u32)>],
        base: Value<'c>,
        stride: Option<Value<'c>>,
        mask: Value<'c>,
    ) -> Vec<Value<'c>> {
        let long = self.t.int(64);
        let mut registers = Vec::new();
        for group in groups {
            // Lane l provides the address of row l % 8 of block l / 8.
            let block = |lane: u32| group[lane as usize / 8 % group.len()];
            let vector = |value: &dyn Fn(u32) -> u32| {
                let lanes: Vec<_> = (0..LANES).map(|lane| Value::int(long, u64::from(value(lane)))).collect();
                Value::vector(&lanes)
            };
            let (row, column) = (vector(&|lane| block(lane).0 + lane % 8), vector(&|lane| block(lane).1));
            let addresses = self.elements_at(fragment, row, column, base, stride);
            let rows = Rows { count: group.len() as u32, transposed: !fragment.along_inner, store: false };
            registers.extend(self.load_rows(rows, addresses, mask));
        }
        registers
    }

    fn load_fragment(
        &mut self,
        fragment: &Fragment,
        base: Value<'c>,
        stride: Option<Value<'c>>,
        mask: Value<'c>,
    ) -> Vec<Value<'c>> {
        let width = fragment.register_bits();
        let mut registers = Vec::new();
        for block in fragment.blocks() {
            let accesses = fragment.accesses(block);
            match fragment.steps() {
                Steps::Whole => {
                    let lay = self.access_lay(fragment, accesses[0], base, stride);
                    for register in 0..fragment.registers() {
                        registers.push(self.load_word(&lay, width, register, mask));
                    }
                }
                Steps::Transposed => {
                    let lay = self.access_lay(fragment, accesses[0], base, stride);
                    let word = self.load_word(&lay, 32, 0, mask);
                    registers.push(self.transposed(word));
                }
                Steps::Elements => {
                    let mut elements = Vec::new();
                    for access in accesses {
                        let lay = self.access_lay(fragment, access, base, stride);
                        let element = self.load_word(&lay, fragment.bits, 0, mask);
                        elements.push(self.b.fit_lanes(element, self.int_lanes(width)));
                    }
                    let per_register = (width / fragment.bits) as usize;
                    for elements in elements.chunks(per_register) {
                        let placed = elements.iter().zip(0u64..).map(|(element, at)| {
                            self.b.shl(*element, self.same(*element, at * u64::from(fragment.bits)))
                        });
                        registers.extend(placed.reduce(|lower, upper| self.b.or(lower, upper)));
                    }
                }
            }
        }
        registers
    }

    fn store_fragment(
        &mut self,
        fragment: &Fragment,
        base: Value<'c>,
        stride: Option<Value<'c>>,
        registers: &[Value<'c>],
        mask: Value<'c>,
    ) {
        let count = fragment.registers() as usize;
        for (block, registers) in fragment.blocks().into_iter().zip(registers.chunks(count)) {
            let accesses = fragment.accesses(block);
            if fragment.steps() == Steps::Transposed {
                let lay = self.access_lay(fragment, accesses[0], base, stride);
                let word = self.transposed(registers[0]);
                self.store_word(&lay, word, 0, mask);
                continue;
            }
            for (index, register) in registers.iter().enumerate() {
                // Results have 16 bits or fill their registers: along rows, a block is one access, otherwise each
                // element is one access.
                let (access, place) = if accesses.len() == 1 { (accesses[0], index) } else { (accesses[index], 0) };
                let lay = self.access_lay(fragment, access, base, stride);
                self.store_word(&lay, *register, place as u32, mask);
            }
        }
    }

    /// Returns the `index`-th word of this number of bits after each lane's address.
    fn load_word(&mut self, lay: &Lay<'c>, bits: u32, index: u32, mask: Value<'c>) -> Value<'c> {
        let lay = self.moved(lay, u64::from(bits / 8 * index));
        self.load_lanes(self.t.int(bits), &lay, mask, u64::from(bits / 8))
    }

    fn store_word(&mut self, lay: &Lay<'c>, word: Value<'c>, index: u32, mask: Value<'c>) {
        let bytes = super::arithmetic::scalar_bits(word.ty()) / 8;
        let lay = self.moved(lay, u64::from(bytes * index));
        self.store_leaf(&Leaf::Lanes(word), &lay, mask, u64::from(bytes));
    }

    /// Returns the addresses of the data that each lane moves, given the row addresses: all lanes participate,
    /// whichever lane provided the address.
    pub(super) fn row_addresses(&self, rows: Rows, addresses: Value<'c>) -> Value<'c> {
        let bytes = rows.bytes();
        if bytes == 16 {
            return addresses;
        }
        let from: Vec<_> = (0..LANES).map(|lane| Some(lane * bytes / 16)).collect();
        let long = self.t.int(64);
        let place: Vec<_> = (0..LANES).map(|lane| Value::int(long, u64::from(lane * bytes % 16))).collect();
        let addresses = self.b.shuffle(addresses, Value::poison(addresses.ty()), &from);
        self.b.add(addresses, Value::vector(&place))
    }

    pub fn load_rows(&mut self, rows: Rows, addresses: Value<'c>, mask: Value<'c>) -> Vec<Value<'c>> {
        let lanes = self.row_addresses(rows, addresses);
        let from = self.spill(lanes);
        // Products read the operands from this memory.
        self.tiles.begin_product();
        let to = self.tile_room(rows.count as usize, 32);
        self.b.call(self.unit().rows_helper(rows), &[from, mask, to]);
        let bytes = u64::from(4 * LANES);
        let word = |register| self.b.load(self.int_lanes(32), self.b.offset(to, bytes * register), 64);
        let words: Vec<_> = (0..u64::from(rows.count)).map(word).collect();
        self.tiles.put(to, &words);
        words
    }

    pub fn store_rows(&mut self, rows: Rows, addresses: Value<'c>, mask: Value<'c>, registers: &[Value<'c>]) {
        let lay = Lay::Scattered(self.row_addresses(rows, addresses));
        for word in 0..rows.count {
            let value = self.halves_from(registers, |lane, half| rows.origin(lane, 2 * word + half));
            self.store_word(&lay, value, word, mask);
        }
    }

    /// Returns a transposed block of 8 by 8 elements of 16 bits; the operation is its own inverse.
    pub fn transposed(&self, word: Value<'c>) -> Value<'c> {
        self.halves_from(&[word], |lane, half| {
            let (lane, half) = TRANSPOSED.place(0, lane, half);
            (0, lane, half)
        })
    }

    /// Returns a register whose halves come from other registers. `source` maps a lane and half to the number of the
    /// word, and the lane and half in it.
    fn halves_from(&self, words: &[Value<'c>], source: impl Fn(u32, u32) -> (u32, u32, u32)) -> Value<'c> {
        let halves = self.t.int(16).vector(2 * LANES);
        let mut whole = Value::poison(halves);
        for (number, word) in (0u32..).zip(words) {
            let word = self.b.bitcast(*word, halves);
            let picks: Vec<_> = (0..2 * LANES)
                .map(|to| match source(to / 2, to % 2) {
                    (from, lane, half) if from == number => Some(2 * LANES + 2 * lane + half),
                    (from, ..) if from < number => Some(to),
                    _ => None,
                })
                .collect();
            whole = self.b.shuffle(whole, word, &picks);
        }
        self.b.bitcast(whole, self.int_lanes(32))
    }
}
