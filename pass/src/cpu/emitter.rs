//! Builds a warp function: the memory of its values. The control flow between blocks is in [`control`].

mod accesses;
pub(super) mod context;
mod control;
mod dispatch;
mod dispatcher;
mod frame;
pub(super) mod lanes;
pub(super) mod leaf;
mod patience;
mod slots;
pub(super) mod tiles;
mod values;

use super::compute::followed::FollowedOperation;
pub use super::error::Emitted;
use super::error::Refusal;
use super::shapes::analysis::{Analysis, Version};
use super::shapes::body::Body;
use super::shapes::shape::Shape;
use super::target::unit::Unit;
use crate::cpu::target::types::{leaf_offsets, leaf_types};
use crate::ir::class::gives_way;
use crate::ir::kernel::is_kernel;
use crate::ir::threads::is_thread_exit;
use crate::llvm::{Block, Builder, Type, Types, Value, metadata};
use accesses::Accesses;
use dispatcher::Dispatcher;
use frame::Frame;
use leaf::Leaf;
use std::collections::{BTreeMap, HashMap, VecDeque};
use tiles::Tiles;

/// Lowers one version of one function.
pub struct Emitter<'u, 'c> {
    job: Job<'u, 'c>,
    /// Builds the block that is being lowered.
    pub(in crate::cpu) b: Builder<'c>,
    /// Builds the entry block, which contains everything that is created once: slots, context fields, addresses of
    /// globals.
    pub(in crate::cpu) entry: Builder<'c>,
    /// The types of the context.
    pub(in crate::cpu) t: Types<'c>,
    /// The state of accesses that is kept while a block is emitted.
    pub(in crate::cpu) accesses: Accesses<'c>,
    /// The operands of matrix products in memory.
    pub(in crate::cpu) tiles: Tiles<'c>,
    /// The function's part of each lane's stack.
    frame: Frame<'c>,
    /// Whether long sequences become calls, see [`Self::is_large`].
    large: bool,
    /// The sites of the next texture fetches and surface accesses.
    fetches: VecDeque<u32>,

    // The position of the emitter, and the lanes that are active there or wait.
    mask: Value<'c>,
    position: usize,
    index: usize,
    called_with: Value<'c>,
    /// The lanes that wait at each block.
    pending: BTreeMap<usize, Value<'c>>,
    runs: Vec<Block<'c>>,
    /// The dispatcher of each cautious region.
    dispatchers: Vec<Dispatcher<'c>>,
    /// For each loop of a cautious region that may wait, by its header: the lanes that were in the loop.
    held: BTreeMap<usize, Value<'c>>,

    // The slots of the values.
    slots: HashMap<Value<'c>, Vec<Slot<'c>>>,
    results: Vec<Slot<'c>>,
    fixed: HashMap<Value<'c>, Vec<Leaf<'c>>>,
    local: HashMap<Value<'c>, Vec<Leaf<'c>>>,
    /// The current operation, in code that tracks values.
    pub(in crate::cpu) operation: Option<FollowedOperation>,
    /// Values in the entry block that are created at most once, by name.
    once: HashMap<&'static str, Value<'c>>,
}

/// The memory of one leaf between blocks; LLVM promotes it to registers.
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

/// The input for lowering a function.
pub struct Job<'u, 'c> {
    /// The properties of the module.
    pub unit: &'u Unit<'c>,
    /// The function that is lowered.
    pub body: &'u Body<'c>,
    /// The analysis of the function.
    pub analysis: &'u Analysis<'c>,
    /// The version that is generated.
    pub version: Version,
    /// Whether hooks are lowered.
    pub hooked: bool,
    /// Whether values of operations that have numbers are reported by calls.
    pub values: bool,
    /// The number of instructions from which on a function is large, see [`Emitter::is_large`].
    pub large: usize,
    /// The function that is filled.
    pub function: Value<'c>,
}

impl<'u, 'c> Emitter<'u, 'c> {
    /// Lowers a function into `job.function`, which has no blocks yet.
    pub fn lower(job: Job<'u, 'c>) -> Emitted<()> {
        let t = job.function.types();
        let entry_block = job.function.append_block("entry");
        let entry = Builder::new(t);
        entry.at_end(entry_block);
        let parameters = job.function.parameters();
        let frame = Frame::new(job.body, job.unit.layout())?;
        let large = job.body.blocks.iter().map(|block| block.instructions.len()).sum::<usize>() > job.large;
        let mut emitter = Emitter {
            job,
            b: Builder::new(t),
            entry,
            t,
            accesses: Accesses::default(),
            tiles: Tiles::default(),
            frame,
            large,
            fetches: VecDeque::new(),
            mask: parameters[0],
            position: 0,
            index: 0,
            called_with: parameters[0],
            pending: BTreeMap::new(),
            runs: Vec::new(),
            dispatchers: Vec::new(),
            held: BTreeMap::new(),
            slots: HashMap::new(),
            results: Vec::new(),
            fixed: HashMap::new(),
            local: HashMap::new(),
            operation: None,
            once: HashMap::new(),
        };
        emitter.run(&parameters)
    }

    /// Returns the properties of the module.
    pub fn unit(&self) -> &'u Unit<'c> {
        self.job.unit
    }

    /// Returns the function that is lowered.
    pub fn body(&self) -> &'u Body<'c> {
        self.job.body
    }

    /// Returns the shapes and the control flow.
    pub fn analysis(&self) -> &'u Analysis<'c> {
        self.job.analysis
    }

    /// Returns the version of the function that is generated.
    pub fn version(&self) -> Version {
        self.job.version
    }

    /// Returns whether hooks become records and counts.
    pub fn hooked(&self) -> bool {
        self.job.hooked
    }

    /// Returns whether values of operations are tracked.
    pub fn values(&self) -> bool {
        self.job.values
    }

    /// Returns whether the function is so large that long sequences are replaced by calls. Sequences that many of its
    /// instructions need are then functions of the module, which reduces LLVM's compile time.
    pub fn is_large(&self) -> bool {
        self.large
    }

    /// Returns the function that is generated.
    pub fn function(&self) -> Value<'c> {
        self.job.function
    }

    /// Returns the kernel to which the function belongs, for positions that depend on it; `None` for device functions.
    pub fn kernel(&self) -> Option<Value<'c>> {
        Some(self.job.body.function).filter(|function| is_kernel(*function))
    }

    /// Returns the warp's context, the function's first argument.
    pub fn context(&self) -> Value<'c> {
        self.job.function.parameters()[0]
    }

    /// Returns the lanes that execute the current block.
    pub fn mask(&self) -> Value<'c> {
        self.mask
    }

    /// Returns the position of the current block.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the instructions of the current block from the current one on.
    pub fn instructions_ahead(&self) -> &'u [Value<'c>] {
        &self.body().blocks[self.position].instructions[self.index..]
    }

    /// Returns the lanes with which the function was called.
    pub fn called_with(&self) -> Value<'c> {
        self.called_with
    }

    /// Returns the memory with the lanes that wait at a block.
    pub fn pending(&self, block: usize) -> Option<Value<'c>> {
        self.pending.get(&block).copied()
    }

    /// Returns the function's part of each lane's stack.
    pub fn frame(&self) -> &Frame<'c> {
        &self.frame
    }

    /// Records that a texture fetch or surface access of this site follows.
    pub fn expect_fetch(&mut self, site: u32) {
        self.fetches.push_back(site);
    }

    /// Returns the site of the current fetch, if a hook named one.
    pub fn next_fetch(&mut self) -> Option<u32> {
        self.fetches.pop_front()
    }

    fn run(&mut self, parameters: &[Value<'c>]) -> Emitted<()> {
        let count = self.body().blocks.len();
        for position in 0..count {
            let name = self.body().blocks[position].block.name();
            self.runs.push(self.function().append_block(&format!("{position}.{name}")));
        }
        self.runs.push(self.function().append_block("end"));
        for position in 0..count {
            let slot = self.entry.alloca(self.t.int(32), 4);
            self.pending.insert(position, slot);
        }
        self.make_dispatchers();
        self.bind_arguments(parameters)?;
        if self.frame.bytes() > 0 {
            self.enter_frame();
        }
        let live = match self.kernel() {
            Some(_) => self.live(),
            None => parameters[1],
        };
        self.called_with = live;
        self.entry.store(live, self.pending[&0], 4);
        if !self.body().function.value_type().result().is_void() {
            let result = self.body().function.value_type().result();
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
        let source = self.body().function;
        let mut next = 2;
        for (index, argument) in source.parameters().into_iter().enumerate() {
            let leaves = if self.kernel().is_some() {
                let place = self.unit().parameter(source, index);
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
            let leaves = self.as_shape(self.analysis().shape(argument), leaves);
            self.fixed.insert(argument, leaves);
        }
        Ok(())
    }

    fn load_argument(&self, ty: Type<'c>, address: Value<'c>) -> Vec<Leaf<'c>> {
        let offsets = leaf_offsets(self.unit().layout(), ty);
        (leaf_types(ty).into_iter().zip(offsets))
            .map(|(ty, offset)| {
                let place = self.entry.offset(address, offset);
                let held = if ty.int_bits() == Some(1) { self.t.int(8) } else { ty };
                let value = self.entry.load(held, place, 1);
                // Parameters do not change while the kernel runs, whatever it stores.
                metadata::mark(value, "invariant.load");
                Leaf::Uniform(if held == ty { value } else { self.entry.trunc(value, ty) })
            })
            .collect()
    }

    /// Converts leaves to vectors if the shape requires it.
    fn as_shape(&self, shape: Shape, leaves: Vec<Leaf<'c>>) -> Vec<Leaf<'c>> {
        match shape {
            Shape::Varying { .. } => leaves.into_iter().map(|leaf| Leaf::Lanes(leaf.lanes(&self.entry))).collect(),
            _ => leaves,
        }
    }

    fn lower_block(&mut self, position: usize) -> Emitted<()> {
        self.position = position;
        self.local.clear();
        self.fetches.clear();
        self.accesses.begin_block(self.body().blocks[0].block);
        self.tiles.begin_block();
        self.b.at_end(self.runs[position]);
        self.mask = self.b.load(self.t.int(32), self.pending[&position], 4);
        if self.is_cautious(position) {
            self.b.store(self.i32(0), self.pending[&position], 4);
        }
        let body = self.body();
        let block = &body.blocks[position];
        for phi in block.phis() {
            if let Some(slots) = self.slots.get(&phi).cloned() {
                let leaves: Vec<_> = slots.iter().map(|slot| self.load_slot(slot)).collect();
                slots.iter().zip(&leaves).for_each(|(slot, leaf)| self.note_place(slot, leaf));
                self.local.insert(phi, leaves);
            }
        }
        self.b.locate_like(None);
        for (index, &value) in block.instructions.iter().enumerate().filter(|(_, value)| !value.is_phi()) {
            if value.is_terminator() {
                break;
            }
            self.index = index;
            self.operation = self.followed_operation(value);
            if is_thread_exit(value) {
                self.end_threads();
                break;
            }
            if let Some(leaves) = self.instruction(value)? {
                self.record_instruction(value, &leaves);
                self.define(value, leaves);
                self.note_guess(value)?;
            }
            if gives_way(value) {
                self.accesses.discard_room();
            }
        }
        self.terminate(position)
    }

    /// Sets the value of an instruction.
    fn define(&mut self, value: Value<'c>, leaves: Vec<Leaf<'c>>) {
        if let Some(slots) = self.slots.get(&value) {
            let blend = self.is_cautious(self.position).then_some(self.mask);
            for (slot, leaf) in slots.clone().iter().zip(&leaves) {
                self.store_slot(slot, leaf, blend);
                if blend.is_none() {
                    self.note_place(slot, leaf);
                }
            }
        }
        if self.position == 0 && !self.slots.contains_key(&value) {
            self.fixed.insert(value, leaves);
        } else {
            self.local.insert(value, leaves);
        }
    }

    /// Returns the leaves of a value. Must be called on the main path of a block, not inside a side path.
    pub fn leaves(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        if let Some(leaves) = self.local.get(&value).or_else(|| self.fixed.get(&value)) {
            return Ok(leaves.clone());
        }
        if let Some(slots) = self.slots.get(&value) {
            let slots = slots.clone();
            let leaves: Vec<_> = slots.iter().map(|slot| self.load_slot(slot)).collect();
            slots.iter().zip(&leaves).for_each(|(slot, leaf)| self.note_place(slot, leaf));
            self.local.insert(value, leaves.clone());
            return Ok(leaves);
        }
        if value.is_instruction() || value.is_argument() {
            return Err(Refusal::new(value, "a value that is used where it is not defined"));
        }
        let leaves = self.constant(value)?;
        Ok(leaves)
    }

    /// Returns the only leaf of a scalar value.
    pub fn leaf(&mut self, value: Value<'c>) -> Emitted<Leaf<'c>> {
        let mut leaves = self.leaves(value)?;
        match leaves.len() {
            1 => Ok(leaves.remove(0)),
            _ => Err(Refusal::new(value, "a vector or structure where a scalar is expected")),
        }
    }

    /// Returns a scalar value as a vector of lanes.
    pub fn vector(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        Ok(self.leaf(value)?.lanes(&self.b))
    }

    /// Returns a new block directly for the current position.
    pub fn new_block(&self, name: &str) -> Block<'c> {
        self.function().append_block(name)
    }

    /// Returns a value in the entry block, which is created at its first use.
    pub fn once(&mut self, name: &'static str, make: impl FnOnce(&Self) -> Value<'c>) -> Value<'c> {
        if let Some(value) = self.once.get(name) {
            return *value;
        }
        let value = make(self);
        self.once.insert(name, value);
        value
    }
}
