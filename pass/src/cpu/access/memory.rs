//! Loads and stores.

use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::lanes::{Evenness, Guess, Lay};
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::shapes::analysis::Version;
use crate::cpu::shapes::shape::Shape;
use crate::cpu::target::types::{LANES, leaf_offsets, leaf_types};
use crate::llvm::types::Kind;
use crate::llvm::value::Ordering;
use crate::llvm::{Type, Value};

/// The number of bytes that are read instead of invalid memory; it is larger than any load instruction.
const SPARE_BYTES: u64 = 1024;

/// The largest alignment that x86 ignores; x86 requires only the alignment of vectors.
const IGNORED_ALIGNMENT: u64 = 8;

/// Returns the alignment on which host code may rely. A local variable may be less aligned than an access promises.
/// Such an access is reported and performed, and generic pointers may also refer to local variables.
fn alignment(access: Value<'_>, pointer: Value<'_>) -> u64 {
    let promised = u64::from(access.alignment().max(1));
    match pointer.ty().kind() {
        Kind::Pointer(0 | 5) => promised.min(IGNORED_ALIGNMENT),
        _ => promised,
    }
}

impl<'c> Emitter<'_, 'c> {
    /// Returns the lay of an access through `pointer`, with host addresses.
    pub fn lay(&mut self, pointer: Value<'c>) -> Emitted<Lay<'c>> {
        let leaf = self.leaf(pointer)?;
        if matches!(pointer.ty().kind(), Kind::Pointer(5)) {
            let stacks = self.lane_stacks();
            let offsets = leaf.lanes(&self.b);
            return Ok(Lay::Scattered(self.b.add(stacks, offsets)));
        }
        Ok(self.lay_of(pointer, leaf))
    }

    /// Returns the lay of a pointer with these addresses.
    pub fn lay_of(&self, pointer: Value<'c>, leaf: Leaf<'c>) -> Lay<'c> {
        match leaf {
            Leaf::Lanes(addresses) if self.analysis().shape(pointer).may_be_affine() => {
                Lay::Likely(addresses, self.accesses.guess(pointer).cloned())
            }
            Leaf::Uniform(address) => Lay::Same(address),
            Leaf::Affine { bases, stride, .. } => Lay::Strided(bases, stride),
            Leaf::Lanes(addresses) => Lay::Scattered(addresses),
        }
    }

    /// Returns the lay moved by a constant.
    pub fn moved(&self, lay: &Lay<'c>, bytes: u64) -> Lay<'c> {
        if bytes == 0 {
            return lay.clone();
        }
        self.map_lay(lay, |value| self.b.add(value, self.same(value, bytes)))
    }

    /// Returns the lay after a function was applied to its addresses, which must shift all of them equally.
    pub fn map_lay(&self, lay: &Lay<'c>, shift: impl Fn(Value<'c>) -> Value<'c>) -> Lay<'c> {
        let all = |bases: &[Value<'c>]| bases.iter().map(|base| shift(*base)).collect::<Vec<_>>();
        match lay {
            Lay::Same(address) => Lay::Same(shift(*address)),
            Lay::Strided(bases, stride) => Lay::Strided(all(bases), *stride),
            Lay::Scattered(lanes) => Lay::Scattered(shift(*lanes)),
            Lay::Likely(lanes, guess) => {
                let guess = guess.as_ref().map(|guess| Guess { bases: all(&guess.bases), ..guess.clone() });
                Lay::Likely(shift(*lanes), guess)
            }
        }
    }

    /// Returns all addresses, `<32 x i64>`.
    pub fn addresses(&self, lay: &Lay<'c>) -> Value<'c> {
        match lay {
            Lay::Same(address) => self.b.splat(*address, LANES),
            Lay::Strided(bases, stride) => {
                let spread = self.spread(bases);
                if *stride == 0 { spread } else { self.b.add(spread, self.steps(self.t.int(64), *stride)) }
            }
            Lay::Scattered(lanes) | Lay::Likely(lanes, _) => *lanes,
        }
    }

    /// Returns the lanes of the access: those that execute the block, without those that its check excluded.
    pub fn access_mask(&mut self) -> Value<'c> {
        self.accesses.take_allowed().map_or(self.mask(), |allowed| allowed.mask)
    }

    /// Lowers a load.
    pub fn load(&mut self, load: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let mut lay = self.lay(load.operand(0))?;
        let allowed = self.accesses.take_allowed();
        let mask = allowed.as_ref().map_or(self.mask(), |allowed| allowed.mask);
        // These bases can be read for every mask.
        let readable = match (&mut lay, allowed) {
            (Lay::Same(address), Some(allowed)) => {
                *address = allowed.bases.first().copied().unwrap_or(*address);
                true
            }
            (Lay::Strided(bases, 0), Some(allowed)) if allowed.bases.len() == bases.len() => {
                *bases = allowed.bases;
                true
            }
            _ => false,
        };
        let uniform = self.analysis().shape(load) == Shape::Uniform;
        let align = alignment(load, load.operand(0));
        let volatile = load.is_volatile() || is_atomic(load);
        let packed = self.packed_type(load.ty());
        let types = packed.map_or_else(|| leaf_types(load.ty()), |whole| vec![whole]);
        let offsets = leaf_offsets(self.unit().layout(), packed.unwrap_or(load.ty()));
        let together = self.neighbours(&types, &offsets, &lay).filter(|(ty, _)| self.gathers_by_loop(*ty));
        let values = match together {
            Some((ty, addresses)) => self.gather_all(ty, types.len() as u64, addresses, mask, align),
            None => {
                let mut values = Vec::with_capacity(types.len());
                for (ty, offset) in types.iter().zip(&offsets) {
                    let lay = self.moved(&lay, *offset);
                    let align = common_align(align, *offset);
                    values.push(match lay {
                        Lay::Same(address) => self.load_one(*ty, address, align, volatile),
                        Lay::Strided(bases, 0) if readable => {
                            let one = |base: &Value<'c>| self.load_one(*ty, *base, align, volatile);
                            let scalars: Vec<_> = bases.iter().map(one).collect();
                            self.spread(&scalars)
                        }
                        lay => self.load_lanes(*ty, &lay, mask, align),
                    });
                }
                values
            }
        };
        let one = matches!(lay, Lay::Same(_));
        let leaf = |value: Value<'c>| match (one, uniform) {
            (true, true) => Leaf::Uniform(value),
            (true, false) => Leaf::Lanes(self.b.splat(value, LANES)),
            _ => Leaf::Lanes(value),
        };
        let mut leaves: Vec<_> = values.into_iter().map(leaf).collect();
        if let Some(whole) = packed {
            let elements = leaf_types(load.ty());
            leaves = self.recast(load, &leaves, &[whole], &self.filled(&elements, whole))?;
            leaves.truncate(elements.len());
        }
        self.follow_leaves(load.operand(0), load.ty(), &leaves, &lay, mask);
        Ok(leaves)
    }

    /// Returns the type and the addresses of an access that has several adjacent leaves of one type and that is
    /// performed lane by lane.
    fn neighbours(&self, types: &[Type<'c>], offsets: &[u64], lay: &Lay<'c>) -> Option<(Type<'c>, Value<'c>)> {
        let (first, rest) = types.split_first().filter(|(_, rest)| !rest.is_empty())?;
        let bytes = self.unit().layout().store_size(*first);
        let together = rest.iter().all(|ty| ty == first) && (0..).zip(offsets).all(|(index, at)| *at == bytes * index);
        let whole = first.int_bits() != Some(1) && together;
        match lay {
            Lay::Strided(_, stride) if whole && *stride != 0 && *stride != bytes as i64 => {
                Some((*first, self.addresses(lay)))
            }
            // Neighbouring lanes would share parts of the data of which each lane has several elements.
            Lay::Scattered(addresses) | Lay::Likely(addresses, None) if whole => Some((*first, *addresses)),
            _ => None,
        }
    }

    /// Returns the integer that represents a vector in memory whose elements are not complete bytes, such as `<16 x
    /// i1>`: LLVM packs them, with the first element lowest.
    fn packed_type(&self, ty: Type<'c>) -> Option<Type<'c>> {
        let Kind::Vector(count) = ty.kind() else { return None };
        let bits = ty.element().int_bits().filter(|bits| !bits.is_multiple_of(8))?;
        Some(self.t.int((count * bits).next_multiple_of(8)))
    }

    /// Returns the types of the elements, and of the remaining bits of `whole` after them.
    fn filled(&self, elements: &[Type<'c>], whole: Type<'c>) -> Vec<Type<'c>> {
        let used: u32 = elements.iter().map(|ty| scalar_bits(*ty)).sum();
        let left = scalar_bits(whole) - used;
        elements.iter().copied().chain((left > 0).then(|| self.t.int(left))).collect()
    }

    /// Returns an address that can be read even if no lane may read the given address.
    pub fn readable(&mut self, address: Value<'c>, mask: Value<'c>) -> Value<'c> {
        let spare = self.once("spare", |this| {
            let spare = this.entry.alloca(this.t.int(8).array(SPARE_BYTES), 64);
            this.entry.ptr_to_int(spare, this.t.int(64))
        });
        self.b.select(self.b.ne(mask, self.i32(0)), address, spare)
    }

    /// Loads one scalar for all lanes.
    fn load_one(&mut self, ty: Type<'c>, address: Value<'c>, align: u64, volatile: bool) -> Value<'c> {
        let pointer = self.b.int_to_ptr(address, self.t.pointer(0));
        let (memory, bool_like) = self.memory_type(ty);
        let value = self.b.load(memory, pointer, align as u32);
        value.set_volatile(volatile);
        if bool_like { self.b.trunc(value, ty) } else { value }
    }

    /// Returns the type that a scalar has in memory: `i1` takes a byte.
    fn memory_type(&self, ty: Type<'c>) -> (Type<'c>, bool) {
        if ty.int_bits() == Some(1) { (self.t.int(8), true) } else { (ty, false) }
    }

    /// Loads one scalar per lane.
    pub fn load_lanes(&mut self, ty: Type<'c>, lay: &Lay<'c>, mask: Value<'c>, align: u64) -> Value<'c> {
        let (memory, bool_like) = self.memory_type(ty);
        let size = self.unit().layout().store_size(memory) as i64;
        let value = match lay {
            Lay::Strided(bases, stride) if *stride == size => self.load_contiguous(memory, bases, mask, align),
            Lay::Strided(bases, 0) => self.load_per_group(memory, bases, mask, align),
            Lay::Likely(addresses, guess) => {
                let (even, likely) = self.evenness(*addresses, guess.as_ref(), size);
                let (near, far, done) = (self.new_block("near"), self.new_block("far"), self.new_block("loaded"));
                self.b.branch_if(even, near, far);
                self.b.at_end(near);
                let close = self.load_lanes(memory, &likely, mask, align);
                let near = self.b.block();
                self.b.branch(done);
                self.b.at_end(far);
                let spread = self.gather(memory, *addresses, mask, align);
                let far = self.b.block();
                self.b.branch(done);
                self.b.at_end(done);
                let value = self.b.phi(memory.vector(LANES));
                value.add_incoming(&[(close, near), (spread, far)]);
                value
            }
            lay => {
                let addresses = self.addresses(lay);
                self.gather(memory, addresses, mask, align)
            }
        };
        if bool_like { self.b.trunc(value, ty.vector(LANES)) } else { value }
    }

    /// Returns whether all active lanes of each group are evenly spaced, as guessed or `stride` apart, and their
    /// positions in this case.
    pub fn evenness(&mut self, addresses: Value<'c>, guess: Option<&Guess<'c>>, stride: i64) -> Evenness<'c> {
        if let Some(guess) = guess {
            let condition = guess.holds.unwrap_or(Value::int(self.t.int(1), 1));
            return (condition, Lay::Strided(guess.bases.clone(), guess.stride));
        }
        if let Some(found) = self.accesses.looked(addresses, stride) {
            return found.clone();
        }
        // The first lane follows the same formula even if it is not active. If its value wraps, the lanes are gathered.
        let groups = self.version().groups();
        let bases: Vec<_> = (0..groups as u64)
            .map(|group| self.b.extract_element(addresses, self.i64(group * u64::from(LANES) / groups as u64)))
            .collect();
        let expected = self.b.add(self.spread(&bases), self.steps(self.t.int(64), stride));
        let different = self.bits(self.b.ne(addresses, expected));
        let found = (self.b.eq(different, self.i32(0)), Lay::Strided(bases, stride));
        self.accesses.note_look(addresses, stride, found.clone());
        found
    }

    /// Returns whether a mask contains all lanes, which is the usual case and needs no masks.
    fn is_full(&self, mask: Value<'c>) -> Value<'c> {
        self.b.eq(mask, self.i32(u32::MAX))
    }

    fn load_contiguous(&mut self, ty: Type<'c>, bases: &[Value<'c>], mask: Value<'c>, align: u64) -> Value<'c> {
        let (whole, part, done) = (self.new_block("whole"), self.new_block("part"), self.new_block("loaded"));
        let groups = bases.len() as u32;
        let vector = ty.vector(LANES / groups);
        self.b.branch_if(self.is_full(mask), whole, part);
        self.b.at_end(whole);
        let pointers: Vec<_> = bases.iter().map(|base| self.b.int_to_ptr(*base, self.t.pointer(0))).collect();
        let pieces: Vec<_> = pointers.iter().map(|pointer| self.b.load(vector, *pointer, align as u32)).collect();
        let all = self.joined(&pieces);
        self.b.branch(done);
        self.b.at_end(part);
        let some = if self.hooked() && self.unit().has_masks(ty) {
            let to = self.lane_room(ty);
            let mut arguments = vec![to, mask];
            arguments.extend(bases);
            self.b.call(self.unit().part_helper(ty, groups, align as u32, false), &arguments);
            self.b.load(ty.vector(LANES), to, 64)
        } else if self.unit().has_masks(ty) {
            let mut pieces = Vec::new();
            for (group, base) in bases.iter().enumerate() {
                let lanes = self.group_mask(mask, group as u32, groups);
                let pointer = self.b.int_to_ptr(*base, self.t.pointer(0));
                let load = self.unit().intrinsic("llvm.masked.load", &[vector, pointer.ty()]);
                let call = self.b.call(load, &[pointer, lanes, Value::zero(vector)]);
                call.set_argument_alignment(0, align as u32);
                pieces.push(call);
            }
            self.joined(&pieces)
        } else {
            let size = self.unit().layout().store_size(ty) as i64;
            let place = self.addresses_in_memory(&Lay::Strided(bases.to_vec(), size));
            self.gather_from(ty, 1, place, mask, align)[0]
        };
        self.b.branch(done);
        self.b.at_end(done);
        let value = self.b.phi(ty.vector(LANES));
        value.add_incoming(&[(all, whole), (some, part)]);
        value
    }

    fn load_per_group(&mut self, ty: Type<'c>, bases: &[Value<'c>], mask: Value<'c>, align: u64) -> Value<'c> {
        let bases = self.active_bases(bases, mask);
        let scalars: Vec<_> = bases
            .iter()
            .map(|base| self.b.load(ty, self.b.int_to_ptr(*base, self.t.pointer(0)), align as u32))
            .collect();
        self.spread(&scalars)
    }

    /// Returns the bases, in which the base of a group without active lanes is replaced by the other base, because it
    /// may have any value.
    pub fn active_bases(&self, bases: &[Value<'c>], mask: Value<'c>) -> Vec<Value<'c>> {
        let [low, high] = bases else { return bases.to_vec() };
        let low_active = self.b.ne(self.b.and(mask, self.i32(0xffff)), self.i32(0));
        let high_active = self.b.ugt(mask, self.i32(0xffff));
        vec![self.b.select(low_active, *low, *high), self.b.select(high_active, *high, *low)]
    }

    /// Returns the lanes of a mask that belong to one group, as a vector.
    fn group_mask(&self, mask: Value<'c>, group: u32, groups: u32) -> Value<'c> {
        let lanes = self.lanes_of(mask);
        self.group_part(lanes, group, groups)
    }

    fn group_part(&self, lanes: Value<'c>, group: u32, groups: u32) -> Value<'c> {
        if groups == 1 {
            return lanes;
        }
        let wanted: Vec<_> = (16 * group..16 * group + 16).map(Some).collect();
        self.b.shuffle(lanes, Value::poison(lanes.ty()), &wanted)
    }

    fn joined(&self, pieces: &[Value<'c>]) -> Value<'c> {
        match pieces {
            [low, high] => {
                let all: Vec<_> = (0..LANES).map(Some).collect();
                self.b.shuffle(*low, *high, &all)
            }
            _ => pieces[0],
        }
    }

    /// Returns whether lanes with arbitrary addresses are read by a loop. A loop is as fast where it was measured
    /// (AMD), and it needs far less code, so it is better for versions that are large or rarely executed.
    fn gathers_by_loop(&self, ty: Type<'c>) -> bool {
        !self.unit().has_gather(ty) || self.hooked() || !matches!(self.version(), Version::Linear | Version::Half)
    }

    /// Reads one scalar per active lane from arbitrary addresses.
    pub fn gather(&mut self, ty: Type<'c>, addresses: Value<'c>, mask: Value<'c>, align: u64) -> Value<'c> {
        if self.gathers_by_loop(ty) {
            return self.gather_by_loop(ty, addresses, mask, align);
        }
        let vector = ty.vector(LANES);
        let pointers = self.b.int_to_ptr(addresses, self.t.pointer(0).vector(LANES));
        let lanes = self.lanes_of(mask);
        let gather = self.unit().intrinsic("llvm.masked.gather", &[vector, pointers.ty()]);
        let call = self.b.call(gather, &[pointers, lanes, Value::zero(vector)]);
        call.set_argument_alignment(0, align as u32);
        call
    }

    /// Writes one scalar per active lane to arbitrary addresses; among lanes that write to the same address, the
    /// highest lane determines the value.
    pub fn scatter(&mut self, value: Value<'c>, addresses: Value<'c>, mask: Value<'c>, align: u64) {
        if !self.unit().has_scatter(value.ty().element()) {
            return self.scatter_by_loop(value, addresses, mask, align);
        }
        let pointers = self.b.int_to_ptr(addresses, self.t.pointer(0).vector(LANES));
        let lanes = self.lanes_of(mask);
        let scatter = self.unit().intrinsic("llvm.masked.scatter", &[value.ty(), pointers.ty()]);
        let call = self.b.call(scatter, &[value, pointers, lanes]);
        call.set_argument_alignment(1, align as u32);
    }

    fn gather_by_loop(&mut self, ty: Type<'c>, addresses: Value<'c>, mask: Value<'c>, align: u64) -> Value<'c> {
        self.gather_all(ty, 1, addresses, mask, align)[0]
    }

    /// Reads this number of adjacent scalars per active lane from arbitrary addresses.
    pub fn gather_all(
        &mut self,
        ty: Type<'c>,
        count: u64,
        addresses: Value<'c>,
        mask: Value<'c>,
        align: u64,
    ) -> Vec<Value<'c>> {
        let from = self.spill(addresses);
        self.gather_from(ty, count, from, mask, align)
    }

    /// The variant of [`Self::gather_all`] with the addresses in memory.
    fn gather_from(
        &mut self,
        ty: Type<'c>,
        count: u64,
        from: Value<'c>,
        mask: Value<'c>,
        align: u64,
    ) -> Vec<Value<'c>> {
        let bytes = self.unit().layout().store_size(ty);
        let to = self.room(bytes * count);
        let align = if count == 1 { align } else { common_align(align, bytes) };
        let helper = self.unit().gather_helper(ty, align as u32, count);
        self.b.call(helper, &[from, mask, to]);
        let row = bytes * u64::from(LANES);
        let one = |index| self.b.load(ty.vector(LANES), self.b.offset(to, row * index), row_align(row));
        (0..count).map(one).collect()
    }

    fn scatter_by_loop(&mut self, value: Value<'c>, addresses: Value<'c>, mask: Value<'c>, align: u64) {
        self.scatter_all(&[value], addresses, mask, align);
    }

    /// Writes these adjacent scalars per active lane to arbitrary addresses. The scalars have one type.
    pub fn scatter_all(&mut self, values: &[Value<'c>], addresses: Value<'c>, mask: Value<'c>, align: u64) {
        let to = self.spill(addresses);
        self.scatter_to(values, to, mask, align);
    }

    /// The variant of [`Self::scatter_all`] with the addresses in memory.
    fn scatter_to(&mut self, values: &[Value<'c>], to: Value<'c>, mask: Value<'c>, align: u64) {
        let (ty, count) = (values[0].ty().element(), values.len() as u64);
        let bytes = self.unit().layout().store_size(ty);
        let from = self.room(bytes * count);
        let row = bytes * u64::from(LANES);
        for (index, value) in (0..).zip(values) {
            self.b.store(*value, self.b.offset(from, row * index), row_align(row));
        }
        let align = if count == 1 { align } else { common_align(align, bytes) };
        let helper = self.unit().scatter_helper(ty, align as u32, count);
        self.b.call(helper, &[to, mask, from]);
    }

    /// Stores a vector of addresses and returns its position in memory.
    pub fn spill(&mut self, vector: Value<'c>) -> Value<'c> {
        debug_assert!(vector.ty() == self.t.int(64).vector(LANES));
        if let Some(place) = self.accesses.place_of(vector) {
            return place;
        }
        let place = self.address_room();
        let block = self.b.block();
        if !self.accesses.is_spilled(vector, block) {
            self.b.store(vector, place, 64);
            self.accesses.note_spill(Some(vector), block);
        }
        place
    }

    /// Returns memory for one `ty` per lane, for the values of a loop over the lanes.
    fn lane_room(&mut self, ty: Type<'c>) -> Value<'c> {
        let bytes = self.unit().layout().store_size(ty);
        self.room(bytes)
    }

    /// Returns memory for this number of bytes per lane, for the values of a loop over the lanes. All accesses of this
    /// size share it.
    pub fn room(&mut self, bytes: u64) -> Value<'c> {
        let allocate = || self.entry.alloca(self.t.int(8).array(bytes * u64::from(LANES)), 64);
        self.accesses.lane_room(bytes, allocate)
    }

    /// Returns memory for 32 addresses, which all accesses share.
    pub fn address_room(&mut self) -> Value<'c> {
        self.once("addresses", |this| this.entry.alloca(this.t.int(64).vector(LANES), 64))
    }

    /// Stores one scalar.
    fn store_one(&self, scalar: Value<'c>, address: Value<'c>, align: u64) {
        let pointer = self.b.int_to_ptr(address, self.t.pointer(0));
        let value = if scalar_bits(scalar.ty()) == 1 { self.b.zext(scalar, self.t.int(8)) } else { scalar };
        self.b.store(value, pointer, align as u32);
    }

    /// Lowers a store.
    pub fn store(&mut self, store: Value<'c>) -> Emitted<()> {
        let lay = self.lay(store.operand(1))?;
        let mask = self.access_mask();
        let mut value = self.leaves(store.operand(0))?;
        let align = alignment(store, store.operand(1));
        let ty = store.operand(0).ty();
        self.follow_leaves(store.operand(1), ty, &value, &lay, mask);
        let packed = self.packed_type(ty);
        if let Some(whole) = packed {
            let types = self.filled(&leaf_types(ty), whole);
            value.extend(types[value.len()..].iter().map(|left| Leaf::Uniform(Value::zero(*left))));
            value = self.recast(store, &value, &types, &[whole])?;
        }
        let offsets = leaf_offsets(self.unit().layout(), packed.unwrap_or(ty));
        let types = packed.map_or_else(|| leaf_types(ty), |whole| vec![whole]);
        let together = self.neighbours(&types, &offsets, &lay).filter(|(ty, _)| !self.unit().has_scatter(*ty));
        if let Some((_, addresses)) = together {
            let values: Vec<_> = value.iter().map(|leaf| leaf.lanes(&self.b)).collect();
            self.scatter_all(&values, addresses, mask, align);
            return Ok(());
        }
        for (leaf, offset) in value.iter().zip(&offsets) {
            let align = common_align(align, *offset);
            let lay = self.moved(&lay, *offset);
            self.store_leaf(leaf, &lay, mask, align);
        }
        Ok(())
    }

    /// Returns the lanes of a leaf in the form in which they are stored: `i1` takes a byte.
    fn in_memory(&self, leaf: &Leaf<'c>) -> Value<'c> {
        let value = leaf.lanes(&self.b);
        if scalar_bits(value.ty()) == 1 { self.b.zext(value, self.t.int(8).vector(LANES)) } else { value }
    }

    /// Stores one scalar per lane.
    pub fn store_leaf(&mut self, leaf: &Leaf<'c>, lay: &Lay<'c>, mask: Value<'c>, align: u64) {
        if let (Version::Serial, Lay::Same(address), Some(scalar)) = (self.version(), lay, leaf.scalar()) {
            self.store_one(scalar, *address, align);
            return;
        }
        let value = self.in_memory(leaf);
        let size = self.unit().layout().store_size(value.ty().element()) as i64;
        match lay {
            Lay::Strided(bases, stride) if *stride == size => self.store_contiguous(value, bases, mask, align),
            Lay::Likely(addresses, guess) => {
                let (even, likely) = self.evenness(*addresses, guess.as_ref(), size);
                let (near, far, done) = (self.new_block("near"), self.new_block("far"), self.new_block("stored"));
                self.b.branch_if(even, near, far);
                self.b.at_end(near);
                self.store_leaf(&Leaf::Lanes(value), &likely, mask, align);
                self.b.branch(done);
                self.b.at_end(far);
                self.scatter(value, *addresses, mask, align);
                self.b.branch(done);
                self.b.at_end(done);
            }
            lay => {
                let addresses = self.addresses(lay);
                self.scatter(value, addresses, mask, align);
            }
        }
    }

    fn store_contiguous(&mut self, value: Value<'c>, bases: &[Value<'c>], mask: Value<'c>, align: u64) {
        let (whole, part, done) = (self.new_block("whole"), self.new_block("part"), self.new_block("stored"));
        let groups = bases.len() as u32;
        let pieces: Vec<_> = (0..groups).map(|group| self.group_part(value, group, groups)).collect();
        self.b.branch_if(self.is_full(mask), whole, part);
        self.b.at_end(whole);
        for (piece, base) in pieces.iter().zip(bases) {
            self.b.store(*piece, self.b.int_to_ptr(*base, self.t.pointer(0)), align as u32);
        }
        self.b.branch(done);
        self.b.at_end(part);
        if self.hooked() && self.unit().has_masks(value.ty().element()) {
            let ty = value.ty().element();
            let from = self.lane_room(ty);
            self.b.store(value, from, 64);
            let mut arguments = vec![from, mask];
            arguments.extend(bases);
            self.b.call(self.unit().part_helper(ty, groups, align as u32, true), &arguments);
        } else if self.unit().has_masks(value.ty().element()) {
            for (group, (piece, base)) in pieces.iter().zip(bases).enumerate() {
                let lanes = self.group_mask(mask, group as u32, groups);
                let pointer = self.b.int_to_ptr(*base, self.t.pointer(0));
                let masked = self.unit().intrinsic("llvm.masked.store", &[piece.ty(), pointer.ty()]);
                let call = self.b.call(masked, &[*piece, pointer, lanes]);
                call.set_argument_alignment(1, align as u32);
            }
        } else {
            let size = self.unit().layout().store_size(value.ty().element()) as i64;
            let place = self.addresses_in_memory(&Lay::Strided(bases.to_vec(), size));
            self.scatter_to(&[value], place, mask, align);
        }
        self.b.branch(done);
        self.b.at_end(done);
    }
}

/// Returns the alignment at an offset from an aligned address, as far as the processor may rely on it. If misaligned
/// accesses are not checked, they are performed unchanged, and x86 has instructions that fail for misaligned vectors of
/// 16 bytes and more.
pub fn common_align(align: u64, offset: u64) -> u64 {
    const MOST: u64 = 8;
    if offset == 0 { align.min(MOST) } else { align.min(1 << offset.trailing_zeros()).min(MOST) }
}

fn is_atomic(value: Value<'_>) -> bool {
    value.ordering().is_some_and(|order| order != Ordering::LLVMAtomicOrderingNotAtomic)
}

/// Returns the alignment of consecutive rows of this size, of which the first has the alignment of vectors; rows of
/// bytes are shorter.
fn row_align(bytes: u64) -> u32 {
    const OF_VECTORS: u32 = 64;
    OF_VECTORS.min(1 << bytes.trailing_zeros().min(OF_VECTORS.trailing_zeros()))
}
