//! Building a warp function: where values live. How control goes from block to block is in [`control`].

pub(super) mod context;
mod control;
mod dispatch;
pub(super) mod lanes;
pub(super) mod leaf;
mod patience;
mod slots;
mod values;

use super::error::Refusal;
use super::shapes::analysis::{Analysis, Version};
use super::shapes::body::Body;
use super::shapes::shape::Shape;
use super::target::unit::Unit;
use crate::ir::class::gives_way;
use crate::ir::kernel::is_kernel;
use crate::llvm::{Block, Builder, Type, Types, Value};
use dispatch::Dispatcher;
use lanes::{Allowed, Evenness, Guess, Room};
use leaf::{Leaf, leaf_types};
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
    pub allowed: Option<Allowed<'c>>,
    /// Of each bundle that has begun, whether an access of it may be bad, by the site field of its record.
    pub suspicions: HashMap<u32, Value<'c>>,
    /// Room in the record buffer that is made sure of.
    pub room: Option<Room<'c>>,
    /// Affine forms that values of this block, and of the first one, have under a condition.
    pub guesses: HashMap<Value<'c>, Guess<'c>>,
    /// The last look at how evenly lanes lie: of which addresses and stride, and what was found.
    pub looked: Option<(Value<'c>, i64, Evenness<'c>)>,
    /// Sites of the texture fetches and surface accesses that follow.
    pub texture_sites: VecDeque<u32>,
    runs: Vec<Block<'c>>,
    /// Lanes that wait at each block.
    pub pending: BTreeMap<usize, Value<'c>>,
    /// Lanes that the function was called with.
    pub called_with: Value<'c>,
    slots: HashMap<Value<'c>, Vec<Slot<'c>>>,
    results: Vec<Slot<'c>>,
    fixed: HashMap<Value<'c>, Vec<Leaf<'c>>>,
    local: HashMap<Value<'c>, Vec<Leaf<'c>>>,
    /// Of each cautious region.
    dispatchers: Vec<Dispatcher<'c>>,
    /// Of each loop of a cautious region that may wait, by its header: lanes that were in it.
    held: BTreeMap<usize, Value<'c>>,
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

impl<'c> Slot<'c> {
    fn places(&self) -> Vec<Value<'c>> {
        match self {
            Slot::Uniform(place, _) | Slot::Lanes(place, _) => vec![*place],
            Slot::Affine(places, ..) => places.clone(),
        }
    }
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
        let is_kernel = is_kernel(job.body.function);
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
            suspicions: HashMap::new(),
            room: None,
            guesses: HashMap::new(),
            looked: None,
            texture_sites: VecDeque::new(),
            runs: Vec::new(),
            pending: BTreeMap::new(),
            called_with: parameters[0],
            slots: HashMap::new(),
            results: Vec::new(),
            fixed: HashMap::new(),
            local: HashMap::new(),
            dispatchers: Vec::new(),
            held: BTreeMap::new(),
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
        self.make_dispatchers();
        self.bind_arguments(parameters)?;
        self.lay_out_frame()?;
        let live = match self.kernel {
            Some(_) => self.live(),
            None => parameters[1],
        };
        self.called_with = live;
        self.entry.store(live, self.pending[&0], 4);
        if !self.body.function.value_type().result().is_void() {
            let result = self.body.function.value_type().result();
            self.results = leaf_types(result).into_iter().map(|ty| self.lane_slot(ty)).collect();
        }
        self.make_slots();
        self.keep_in_memory();
        for position in 0..count {
            self.lower_block(position)?;
        }
        self.emit_dispatchers();
        self.b.at_end(self.runs[count]);
        self.leave();
        self.entry.branch(self.way_to(0));
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
        let offsets = leaf::leaf_offsets(self.unit.layout(), ty);
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

    /// Makes leaves vectors where the shape asks for it.
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
        if self.is_cautious(position) {
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
            if super::shapes::body::is_thread_exit(value) {
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
            let blend = self.is_cautious(self.position).then_some(self.mask);
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
}
