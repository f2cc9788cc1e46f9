//! Building a warp function: where values live. How control goes from block to block is in [`control`].

mod control;

use super::analysis::{Analysis, Version};
use super::body::Body;
use super::check::Detour;
use super::context;
use super::error::Refusal;
use super::guess::Guess;
use super::leaf::{LANES, Leaf, held, leaf_types, spread, steps};
use super::memory::Evenness;
use super::record::{Room, gives_way};
use super::shape::Shape;
use super::unit::Unit;
use crate::llvm::types::Kind;
use crate::llvm::{Block, Builder, Type, Types, Value};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Result of lowering a piece.
pub type Emitted<T> = Result<T, Refusal>;

/// Lowers one version of one function.
pub struct Emitter<'u, 'c> {
    /// The module's facts.
    pub unit: &'u Unit<'c>,
    /// Builds the block that is being lowered.
    pub b: Builder<'c>,
    /// Builds the entry block, which holds what is made once: slots, context fields, addresses of globals.
    pub entry: Builder<'c>,
    /// Types.
    pub t: Types<'c>,
    /// What is lowered.
    pub body: &'u Body<'c>,
    /// Shapes and flow.
    pub analysis: &'u Analysis<'c>,
    /// Version.
    pub version: Version,
    /// Whether hooks become records and counts.
    pub hooked: bool,
    /// The kernel that the function belongs to, for places that depend on it; null for device functions.
    pub kernel: Option<Value<'c>>,
    /// The function being made.
    pub function: Value<'c>,
    /// Its first argument.
    pub context: Value<'c>,
    /// Lanes that run the current block.
    pub mask: Value<'c>,
    /// Position of the current block.
    pub position: usize,
    /// Number of the current instruction in its block.
    pub index: usize,
    /// Lanes that may do the next access, where its check may have held some back.
    pub allowed: Option<Value<'c>>,
    /// The open path of such lanes, beside the main line.
    pub detour: Option<Detour<'c>>,
    /// Room in the record buffer that is made sure of.
    pub room: Option<Room<'c>>,
    /// Affine forms that values of this block, and of the first one, have under a condition.
    pub guesses: HashMap<Value<'c>, Guess<'c>>,
    /// The last look at how evenly lanes lie: of which addresses and stride, and what was found.
    pub looked: Option<(Value<'c>, i64, Evenness<'c>)>,
    /// Sites of the texture fetches and surface accesses that follow.
    pub texture_sites: VecDeque<u32>,
    runs: Vec<Block<'c>>,
    pending: BTreeMap<usize, Value<'c>>,
    slots: HashMap<Value<'c>, Vec<Slot<'c>>>,
    results: Vec<Slot<'c>>,
    fixed: HashMap<Value<'c>, Vec<Leaf<'c>>>,
    local: HashMap<Value<'c>, Vec<Leaf<'c>>>,
    /// The cautious version's: where it chooses the next block, and the lowest position that it may choose.
    dispatcher: Option<(Block<'c>, Value<'c>)>,
    /// Things of the entry block that are made at most once, by name.
    once: HashMap<&'static str, Value<'c>>,
    /// Offset of each local variable in the function's frame.
    pub frame: HashMap<Value<'c>, u64>,
    /// Bytes of the frame.
    pub frame_bytes: u64,
}

/// Memory of one leaf between blocks; promoted to registers by LLVM.
#[derive(Clone)]
enum Slot<'c> {
    Uniform(Value<'c>, Type<'c>),
    Affine(Vec<Value<'c>>, i64, Type<'c>),
    Lanes(Value<'c>, Type<'c>),
}

/// What a function to be lowered is given.
pub struct Job<'u, 'c> {
    /// The module's facts.
    pub unit: &'u Unit<'c>,
    /// What is lowered.
    pub body: &'u Body<'c>,
    /// Its analysis.
    pub analysis: &'u Analysis<'c>,
    /// Version.
    pub version: Version,
    /// With hooks.
    pub hooked: bool,
    /// The function to fill.
    pub function: Value<'c>,
}

impl<'u, 'c> Emitter<'u, 'c> {
    /// Lowers a function into `job.function`, which has no blocks yet.
    pub fn lower(job: Job<'u, 'c>) -> Emitted<()> {
        let t = job.function.types();
        let is_kernel = job.unit.is_kernel(job.body.function);
        let entry_block = job.function.append_block("entry");
        let entry = Builder::new(t);
        entry.at_end(entry_block);
        let parameters = job.function.parameters();
        let mut emitter = Emitter {
            unit: job.unit,
            b: Builder::new(t),
            entry,
            t,
            body: job.body,
            analysis: job.analysis,
            version: job.version,
            hooked: job.hooked,
            kernel: is_kernel.then_some(job.body.function),
            function: job.function,
            context: parameters[0],
            mask: parameters[0],
            position: 0,
            index: 0,
            allowed: None,
            detour: None,
            room: None,
            guesses: HashMap::new(),
            looked: None,
            texture_sites: VecDeque::new(),
            runs: Vec::new(),
            pending: BTreeMap::new(),
            slots: HashMap::new(),
            results: Vec::new(),
            fixed: HashMap::new(),
            local: HashMap::new(),
            dispatcher: None,
            once: HashMap::new(),
            frame: HashMap::new(),
            frame_bytes: 0,
        };
        emitter.run(&parameters)
    }

    fn run(&mut self, parameters: &[Value<'c>]) -> Emitted<()> {
        let count = self.body.blocks.len();
        for position in 0..count {
            let name = self.body.blocks[position].block.name();
            self.runs.push(self.function.append_block(&format!("{position}.{name}")));
        }
        self.runs.push(self.function.append_block("end"));
        for position in 0..count {
            let slot = self.entry.alloca(self.t.int(32), 4);
            self.pending.insert(position, slot);
        }
        if self.version == Version::Cautious {
            for slot in self.pending.values() {
                self.entry.store(Value::zero(self.t.int(32)), *slot, 4);
            }
            let floor = self.entry.alloca(self.t.int(32), 4);
            self.entry.store(Value::zero(self.t.int(32)), floor, 4);
            self.dispatcher = Some((self.function.append_block("dispatch"), floor));
        }
        self.bind_arguments(parameters)?;
        self.lay_out_frame()?;
        let live = match self.kernel {
            Some(_) => self.live(),
            None => parameters[1],
        };
        self.entry.store(live, self.pending[&0], 4);
        if !self.body.function.value_type().result().is_void() {
            let result = self.body.function.value_type().result();
            self.results = leaf_types(result).into_iter().map(|ty| self.lane_slot(ty)).collect();
        }
        self.make_slots();
        for position in 0..count {
            self.lower_block(position)?;
        }
        self.emit_dispatcher();
        self.b.at_end(self.runs[count]);
        self.leave();
        self.entry.branch(self.runs[0]);
        Ok(())
    }

    fn bind_arguments(&mut self, parameters: &[Value<'c>]) -> Emitted<()> {
        let source = self.body.function;
        let mut next = 2;
        for (index, argument) in source.parameters().into_iter().enumerate() {
            let leaves = if self.kernel.is_some() {
                let place = self.unit.parameter(source, index);
                let base = self.arguments();
                let address = self.entry.offset(base, u64::from(place.offset));
                if source.type_attribute(index as u32 + 1, "byval").is_some() {
                    vec![Leaf::Uniform(self.entry.ptr_to_int(address, self.t.int(64)))]
                } else {
                    self.load_argument(argument.ty(), address)
                }
            } else {
                leaf_types(argument.ty())
                    .into_iter()
                    .map(|_| {
                        next += 1;
                        Leaf::Lanes(parameters[next - 1])
                    })
                    .collect()
            };
            let leaves = self.as_shape(self.analysis.shape(argument), leaves);
            self.fixed.insert(argument, leaves);
        }
        Ok(())
    }

    fn load_argument(&self, ty: Type<'c>, address: Value<'c>) -> Vec<Leaf<'c>> {
        let offsets = super::leaf::leaf_offsets(self.unit.layout(), ty);
        (leaf_types(ty).into_iter().zip(offsets))
            .map(|(ty, offset)| {
                let place = self.entry.offset(address, offset);
                let value = if ty.int_bits() == Some(1) {
                    let byte = self.entry.load(self.t.int(8), place, 1);
                    self.entry.trunc(byte, ty)
                } else {
                    self.entry.load(ty, place, 1)
                };
                Leaf::Uniform(value)
            })
            .collect()
    }

    /// Makes leaves vectors where the cautious version asks for it.
    fn as_shape(&self, shape: Shape, leaves: Vec<Leaf<'c>>) -> Vec<Leaf<'c>> {
        match shape {
            Shape::Varying { .. } => leaves.into_iter().map(|leaf| Leaf::Lanes(leaf.lanes(&self.entry))).collect(),
            _ => leaves,
        }
    }

    fn lay_out_frame(&mut self) -> Emitted<()> {
        for block in &self.body.blocks {
            for &value in &block.instructions {
                let Some(ty) = value.allocated_type() else { continue };
                let Some(count) = value.operand(0).as_u64() else {
                    return Err(Refusal::of(value, "a local array whose size is not constant"));
                };
                let align = u64::from(value.alignment().max(1));
                self.frame_bytes = self.frame_bytes.next_multiple_of(align);
                self.frame.insert(value, self.frame_bytes);
                self.frame_bytes += self.unit.layout().size(ty) * count;
            }
        }
        self.frame_bytes = self.frame_bytes.next_multiple_of(16);
        if self.frame_bytes > 0 {
            self.enter_frame();
        }
        Ok(())
    }

    /// Values that are used in other blocks than their own get memory; so do phis.
    fn make_slots(&mut self) {
        let mut wanted = Vec::new();
        for (position, block) in self.body.blocks.iter().enumerate() {
            for &value in &block.instructions {
                if value.ty().is_void() || (position == 0 && !value.is_phi() && self.version != Version::Cautious) {
                    continue;
                }
                let elsewhere = value.users().into_iter().any(|user| match user.block() {
                    Some(other) if user.is_phi() => {
                        self.body.positions.contains_key(&other)
                            && user.incoming().iter().any(|(used, from)| *used == value && *from != block.block)
                    }
                    Some(other) => other != block.block && self.body.positions.contains_key(&other),
                    None => false,
                });
                if value.is_phi() || elsewhere {
                    wanted.push(value);
                }
            }
        }
        for value in wanted {
            let shape = self.analysis.shape(value);
            let slots = leaf_types(value.ty()).into_iter().map(|ty| self.slot(ty, shape)).collect();
            self.slots.insert(value, slots);
        }
    }

    fn slot(&self, ty: Type<'c>, shape: Shape) -> Slot<'c> {
        match shape {
            Shape::Uniform => Slot::Uniform(self.entry.alloca(ty, 8), ty),
            Shape::Affine(affine) => {
                let bases = (0..self.version.groups()).map(|_| self.entry.alloca(self.t.int(64), 8)).collect();
                Slot::Affine(bases, affine.stride, ty)
            }
            Shape::Varying { .. } => self.lane_slot(ty),
        }
    }

    fn lane_slot(&self, ty: Type<'c>) -> Slot<'c> {
        Slot::Lanes(self.entry.alloca(ty.vector(LANES), 64), ty.vector(LANES))
    }

    fn load_slot(&self, slot: &Slot<'c>) -> Leaf<'c> {
        match slot {
            Slot::Uniform(place, ty) => Leaf::Uniform(self.b.load(*ty, *place, 8)),
            Slot::Affine(places, stride, ty) => Leaf::Affine {
                bases: places.iter().map(|place| self.b.load(self.t.int(64), *place, 8)).collect(),
                stride: *stride,
                ty: *ty,
            },
            Slot::Lanes(place, ty) => Leaf::Lanes(self.b.load(*ty, *place, 64)),
        }
    }

    /// Writes a leaf; with a mask, only these lanes of it.
    fn store_slot(&self, slot: &Slot<'c>, leaf: &Leaf<'c>, blend: Option<Value<'c>>) {
        match (slot, leaf) {
            (Slot::Uniform(place, _), Leaf::Uniform(scalar)) => {
                self.b.store(*scalar, *place, 8);
            }
            (Slot::Affine(places, ..), Leaf::Affine { bases, .. }) => {
                for (place, base) in places.iter().zip(bases) {
                    self.b.store(*base, *place, 8);
                }
            }
            // Only undefined values reach an affine slot in another form; any base will do.
            (Slot::Affine(places, ..), _) => {
                for place in places {
                    self.b.store(self.i64(0), *place, 8);
                }
            }
            (Slot::Lanes(place, ty), leaf) => {
                let mut vector = leaf.lanes(&self.b);
                if let Some(mask) = blend {
                    let old = self.b.load(*ty, *place, 64);
                    vector = self.b.select(self.lanes_of(mask), vector, old);
                }
                self.b.store(vector, *place, 64);
            }
            (Slot::Uniform(place, _), leaf) => {
                // A uniform phi can take a value that is affine by shape with stride 0 only; all lanes agree.
                let vector = leaf.lanes(&self.b);
                let first = self.first_active(vector);
                self.b.store(first, *place, 8);
            }
        }
    }

    fn lower_block(&mut self, position: usize) -> Emitted<()> {
        self.position = position;
        self.local.clear();
        self.allowed = None;
        self.room = None;
        self.texture_sites.clear();
        self.looked = None;
        let first = self.body.blocks[0].block;
        self.guesses.retain(|value, _| value.block() == Some(first));
        self.b.at_end(self.runs[position]);
        self.mask = self.b.load(self.t.int(32), self.pending[&position], 4);
        if self.version == Version::Cautious {
            self.b.store(self.i32(0), self.pending[&position], 4);
        }
        let body = self.body;
        let block = &body.blocks[position];
        for phi in block.phis() {
            if let Some(slots) = self.slots.get(&phi) {
                let leaves = slots.iter().map(|slot| self.load_slot(slot)).collect();
                self.local.insert(phi, leaves);
            }
        }
        self.b.locate_like(None);
        for (index, &value) in block.instructions.iter().enumerate().filter(|(_, value)| !value.is_phi()) {
            if value.is_terminator() {
                break;
            }
            self.index = index;
            if super::body::is_thread_exit(value) {
                self.end_threads();
                break;
            }
            if let Some(leaves) = self.instruction(value)? {
                self.define(value, leaves);
                self.note_guess(value)?;
            }
            if gives_way(value) {
                self.room = None;
            }
        }
        self.terminate(position)
    }

    /// Gives an instruction its value.
    fn define(&mut self, value: Value<'c>, leaves: Vec<Leaf<'c>>) {
        if let Some(slots) = self.slots.get(&value) {
            let blend = (self.version == Version::Cautious).then_some(self.mask);
            for (slot, leaf) in slots.clone().iter().zip(&leaves) {
                self.store_slot(slot, leaf, blend);
            }
        }
        if self.position == 0 && !self.slots.contains_key(&value) {
            self.fixed.insert(value, leaves);
        } else {
            self.local.insert(value, leaves);
        }
    }

    /// The leaves of a value. Must be called on the main line of a block, not inside a side path of it.
    pub fn leaves(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        if let Some(leaves) = self.local.get(&value).or_else(|| self.fixed.get(&value)) {
            return Ok(leaves.clone());
        }
        if let Some(slots) = self.slots.get(&value) {
            let leaves: Vec<_> = slots.iter().map(|slot| self.load_slot(slot)).collect();
            self.local.insert(value, leaves.clone());
            return Ok(leaves);
        }
        if value.is_instruction() || value.is_argument() {
            return Err(Refusal::of(value, "a value that is used where it is not defined"));
        }
        let leaves = self.constant(value)?;
        Ok(leaves)
    }

    /// Keeps the leaves of a value for the rest of the block, also of a constant whose address is computed.
    pub fn keep(&mut self, value: Value<'c>, leaves: Vec<Leaf<'c>>) {
        self.local.insert(value, leaves);
    }

    /// The only leaf of a scalar value.
    pub fn leaf(&mut self, value: Value<'c>) -> Emitted<Leaf<'c>> {
        let mut leaves = self.leaves(value)?;
        match leaves.len() {
            1 => Ok(leaves.remove(0)),
            _ => Err(Refusal::of(value, "a vector or structure where a scalar is expected")),
        }
    }

    /// A scalar value as a vector of lanes.
    pub fn vector(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        Ok(self.leaf(value)?.lanes(&self.b))
    }

    /// A mask as `<32 x i1>`, see [`Unit::lanes_of`].
    pub fn lanes_of(&self, mask: Value<'c>) -> Value<'c> {
        self.unit.lanes_of(&self.b, mask)
    }

    /// The lanes that run the block, as `<32 x i1>`.
    pub fn active(&self) -> Value<'c> {
        self.lanes_of(self.mask)
    }

    /// Bits of the active lanes in which a `<32 x i1>` holds. Inactive lanes may hold poison, which one lane would
    /// spread over the whole integer: freeze keeps it to its bit.
    pub fn bits(&self, condition: Value<'c>) -> Value<'c> {
        let all = self.b.bitcast(self.b.freeze(condition), self.t.int(32));
        self.b.and(all, self.mask)
    }

    /// A vector's element in the lowest active lane.
    pub fn first_active(&self, vector: Value<'c>) -> Value<'c> {
        let lane = self.lowest(self.mask);
        self.b.extract_element(vector, lane)
    }

    /// Number of the lowest bit of a mask that is not 0.
    pub fn lowest(&self, mask: Value<'c>) -> Value<'c> {
        let count = self.unit.intrinsic("llvm.cttz", &[mask.ty()]);
        self.b.call(count, &[mask, Value::int(self.t.int(1), 1)])
    }

    /// Number of lanes in a mask.
    pub fn count(&self, mask: Value<'c>) -> Value<'c> {
        self.b.call(self.unit.intrinsic("llvm.ctpop", &[mask.ty()]), &[mask])
    }

    /// `i32` constant.
    pub fn i32(&self, value: u32) -> Value<'c> {
        Value::int(self.t.int(32), u64::from(value))
    }

    /// `i64` constant.
    pub fn i64(&self, value: u64) -> Value<'c> {
        Value::int(self.t.int(64), value)
    }

    /// A new block right for the current place.
    pub fn new_block(&self, name: &str) -> Block<'c> {
        self.function.append_block(name)
    }

    /// Something of the entry block, made at its first use.
    pub fn once(&mut self, name: &'static str, make: impl FnOnce(&Self) -> Value<'c>) -> Value<'c> {
        if let Some(value) = self.once.get(name) {
            return *value;
        }
        let value = make(self);
        self.once.insert(name, value);
        value
    }

    /// A field of the context, read once.
    pub fn field(&mut self, field: context::Field) -> Value<'c> {
        self.once(field.name, |this| {
            let place = this.entry.offset(this.context, field.offset);
            this.entry.load(field.ty(this.t), place, field.align())
        })
    }

    /// A field of the context, read now.
    pub fn field_now(&self, field: context::Field) -> Value<'c> {
        let place = self.b.offset(self.context, field.offset);
        self.b.load(field.ty(self.t), place, field.align())
    }

    /// Writes a field of the context.
    pub fn set_field(&self, field: context::Field, value: Value<'c>) {
        let place = self.b.offset(self.context, field.offset);
        self.b.store(value, place, field.align());
    }

    fn arguments(&mut self) -> Value<'c> {
        self.field(context::ARGUMENTS)
    }

    /// Lanes that exist, as of the function's start.
    pub fn live(&mut self) -> Value<'c> {
        self.field(context::LIVE)
    }

    /// Address of a variable of the module, as `i64`.
    pub fn slot_address(&mut self, slot: Value<'c>) -> Value<'c> {
        if let Some(leaves) = self.fixed.get(&slot)
            && let Some(scalar) = leaves[0].scalar()
        {
            return scalar;
        }
        let value = self.entry.load(self.t.int(64), slot, 8);
        self.fixed.insert(slot, vec![Leaf::Uniform(value)]);
        value
    }

    /// A leaf of lane numbers plus `offset`, as `i64`.
    pub fn lane_numbers(&mut self, ty: Type<'c>) -> Leaf<'c> {
        let size = u64::from(LANES) / self.version.groups() as u64;
        let bases = (0..self.version.groups() as u64).map(|group| self.i64(group * size)).collect();
        Leaf::Affine { bases, stride: 1, ty }
    }

    /// One 64-bit scalar per group of a leaf that is uniform or affine; `signed` chooses how a narrower uniform
    /// value is extended.
    pub fn wide(&self, leaf: &Leaf<'c>, signed: bool) -> Option<(Vec<Value<'c>>, i64)> {
        match leaf {
            Leaf::Affine { bases, stride, .. } => Some((bases.clone(), *stride)),
            Leaf::Uniform(scalar) => {
                let wide = match scalar.ty().kind() {
                    Kind::Int(bits) if bits > 64 => return None,
                    Kind::Int(_) if signed => self.b.sext(*scalar, self.t.int(64)),
                    Kind::Int(_) => self.b.zext(*scalar, self.t.int(64)),
                    _ => return None,
                };
                Some((vec![wide; self.version.groups()], 0))
            }
            Leaf::Lanes(_) => None,
        }
    }

    /// `select` of leaves, for a result of the given shape.
    pub fn select_leaf(&self, condition: &Leaf<'c>, yes: &Leaf<'c>, no: &Leaf<'c>, shape: Shape) -> Leaf<'c> {
        match (shape, condition) {
            (Shape::Uniform, Leaf::Uniform(condition)) => {
                if let (Some(yes), Some(no)) = (yes.scalar(), no.scalar()) {
                    return Leaf::Uniform(self.b.select(*condition, yes, no));
                }
            }
            (Shape::Affine(affine), Leaf::Uniform(condition)) => {
                if let (Leaf::Affine { bases: yes, ty, .. }, Leaf::Affine { bases: no, .. }) = (yes, no) {
                    let bases = yes.iter().zip(no).map(|(yes, no)| self.b.select(*condition, *yes, *no)).collect();
                    return Leaf::Affine { bases, stride: affine.stride, ty: *ty };
                }
            }
            _ => {}
        }
        let chooser = condition.scalar().unwrap_or_else(|| condition.lanes(&self.b));
        Leaf::Lanes(self.b.select(chooser, yes.lanes(&self.b), no.lanes(&self.b)))
    }

    /// A constant of `like`'s type, scalar or vector of lanes.
    pub fn same(&self, like: Value<'c>, value: u64) -> Value<'c> {
        match like.ty().kind() {
            Kind::Vector(count) => Value::vector(&vec![Value::int(like.ty().element(), value); count as usize]),
            _ => Value::int(like.ty(), value),
        }
    }

    /// `ty` or the vector of it, as `like` is.
    pub fn shaped(&self, like: Value<'c>, ty: Type<'c>) -> Type<'c> {
        match like.ty().kind() {
            Kind::Vector(count) => ty.vector(count),
            _ => ty,
        }
    }

    /// The per-lane steps of an affine vector.
    pub fn steps(&self, ty: Type<'c>, stride: i64) -> Value<'c> {
        steps(held(ty), self.version.groups(), stride)
    }

    /// One scalar per group, spread over the lanes.
    pub fn spread(&self, groups: &[Value<'c>]) -> Value<'c> {
        spread(&self.b, groups)
    }
}
