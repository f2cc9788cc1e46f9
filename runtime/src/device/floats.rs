//! The floating-point check: reports exceptional results of operations, and the origin of NaNs and infinities in
//! memory.
//!
//! Code that tracks values calls the runtime ([`super::operations`]) if an operation has an exceptional result, or if a
//! load or store moves a NaN or an infinity. Each lane stores the origin of its last NaN and of its last infinity, and
//! so does each address to which such a value was stored. The steps from a store back to the operation that produced
//! the value are found in this way.

pub mod products;
mod untyped;

use crate::device::execution::lanes::lanes;
use crate::device::execution::warp::Warp;
use crate::output::message;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use warpline_format::access::LANES;
use warpline_format::event::{AllocationId, Event, LaunchId};
use warpline_format::operation::{
    FloatClass, FloatException, FloatFormat, FloatKind, FloatOrigin, FloatStep, MOST_STEPS, Operation, OperationClass,
    ValueType, ValueTypes,
};
use warpline_format::site_table::SiteTable;

/// The maximum number of addresses whose values are tracked.
const MOST_ADDRESSES: usize = 1 << 22;
/// The maximum number of steps that are kept.
const MOST_KEPT: usize = 1 << 20;

/// A position in [`Floats::steps`], counted from 1; 0 means that the origin is unknown.
type Origin = u32;

/// A step on a value's path, and the position of the previous step.
#[derive(Clone, Copy, Debug)]
struct ValueStep {
    step: FloatStep,
    before: Origin,
    role: Role,
}

/// Role of a step on a value's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    /// It produces the value, or stores one of unknown origin.
    Produces,
    /// It loads the value.
    Loads,
    /// It passes on the value of an operand.
    Passes,
}

/// The origins of the last exceptional values in a warp's lanes.
#[derive(Debug)]
struct WarpOrigins {
    block: u64,
    warp: u32,
    not_numbers: [Origin; LANES],
    infinities: [Origin; LANES],
    /// Origins of loaded bits that may be part of a NaN or an infinity, by lane and 16 bits.
    untyped: HashMap<(u8, u16), Origin>,
    /// The addresses of the texels that the last texture fetch read.
    fetched: [u64; LANES],
    /// The kinds that the tiles of the current product have counted, as bits.
    counted: u8,
}

/// The floating-point check of a run.
#[derive(Debug, Default)]
pub struct Floats {
    stops: bool,
    exceptions: BTreeMap<(u32, FloatKind), FloatException>,
    origins: Vec<Event>,
    steps: Vec<ValueStep>,
    known: HashMap<(LaunchId, u32, Role, Origin), Origin>,
    memory: BTreeMap<u64, Origin>,
    reported: HashSet<(AllocationId, FloatClass)>,
    warps: HashMap<usize, WarpOrigins>,
}

/// One execution of an operation by a warp.
struct Execution<'a> {
    warp: *mut Warp,
    launch: LaunchId,
    number: u32,
    operation: &'a Operation,
    format: FloatFormat,
    from: FloatFormat,
    operands: usize,
    /// Whether a load is a texture fetch, whose operands are coordinates.
    fetches: bool,
    values: &'a [[u64; LANES]; 4],
}

impl Execution<'_> {
    fn result(&self, lane: usize) -> FloatClass {
        self.format.classify(self.values[0][lane])
    }

    fn is_not_finite(&self, lane: usize) -> bool {
        matches!(self.result(lane), FloatClass::NotANumber | FloatClass::Infinite)
    }

    fn classes(&self, lane: usize) -> impl Iterator<Item = FloatClass> + '_ {
        self.values[1..1 + self.operands].iter().map(move |row| self.from.classify(row[lane]))
    }

    fn has(&self, lane: usize, class: FloatClass) -> bool {
        self.classes(lane).any(|one| one == class)
    }

    /// Returns which exceptional property the result has that no operand has.
    fn kind(&self, lane: usize) -> Option<FloatKind> {
        let result = self.result(lane);
        if self.has(lane, FloatClass::NotANumber) || self.has(lane, result) {
            return None;
        }
        match result {
            FloatClass::NotANumber => Some(FloatKind::NotANumber),
            FloatClass::Subnormal => Some(FloatKind::Subnormal),
            FloatClass::Infinite if self.divides_by_zero(lane) => Some(FloatKind::DivisionByZero),
            FloatClass::Infinite if self.format != self.from => Some(FloatKind::ConversionOverflow),
            FloatClass::Infinite => Some(FloatKind::Overflow),
            FloatClass::Ordinary => None,
        }
    }

    /// Returns whether the operation is a division by zero, or a function of one operand at a pole, such as the
    /// logarithm of zero.
    fn divides_by_zero(&self, lane: usize) -> bool {
        let divides = self.operation.class == OperationClass::Division || self.operation.name.starts_with("div");
        let at = if divides && self.operands > 1 { 2 } else { 1 };
        (divides || self.operands == 1) && self.operands >= at && self.from.is_zero(self.values[at][lane])
    }

    fn step(&self, lane: usize) -> FloatStep {
        step(self.warp, self.launch, self.number, lane)
    }

    /// Returns the step of a load or store, with its memory.
    fn moving_step(&self, lane: usize, address: u64) -> FloatStep {
        moving_step(self.warp, self.step(lane), address)
    }
}

/// Returns the step of an operation in a lane of the running warp.
fn step(warp: *mut Warp, launch: LaunchId, operation: u32, lane: usize) -> FloatStep {
    // SAFETY: the warp runs.
    let context = unsafe { &(*warp).context };
    let thread = context.warp * LANES as u32 + lane as u32;
    FloatStep { launch, operation, block: context.block, thread, allocation: None, offset: 0 }
}

/// Adds the memory at an address to the step of a load or store.
fn moving_step(warp: *mut Warp, step: FloatStep, address: u64) -> FloatStep {
    // SAFETY: only the running launch changes memory.
    let registry = unsafe { &(*(*(*warp).running).memory).registry };
    let live = registry.find(address);
    let offset = live.map_or(0, |live| address - live.start());
    FloatStep { allocation: live.map(|live| live.id), offset, ..step }
}

impl Floats {
    /// Creates the check of a new run. If `stops` is set, the first NaN that an operation produces stops its kernel.
    pub fn new(stops: bool) -> Floats {
        Floats { stops, ..Floats::default() }
    }

    /// Returns the events of the launch that ends, with the exceptions first.
    pub fn end_launch(&mut self) -> impl Iterator<Item = Event> {
        self.warps.clear();
        let exceptions = std::mem::take(&mut self.exceptions).into_values().map(Event::FloatException);
        exceptions.chain(std::mem::take(&mut self.origins))
    }

    /// Records that bytes get new values from the host, or from other memory.
    pub fn copied(&mut self, to: Range<u64>, from: Option<u64>) {
        let carried: Vec<(u64, Origin)> = match from {
            Some(from) => {
                let part = self.memory.range(from..from + (to.end - to.start));
                part.map(|(&address, &origin)| (address - from + to.start, origin)).collect()
            }
            None => Vec::new(),
        };
        let gone: Vec<u64> = self.memory.range(to).map(|(&address, _)| address).collect();
        gone.iter().for_each(|address| _ = self.memory.remove(address));
        self.memory.extend(carried);
    }

    /// Records the addresses of texels that the lanes of `mask` fetch.
    pub fn fetched(&mut self, warp: *mut Warp, mask: u32, addresses: &[u64; LANES]) {
        let held = self.held(warp);
        lanes(mask).for_each(|lane| held.fetched[lane] = addresses[lane]);
    }

    fn held(&mut self, warp: *mut Warp) -> &mut WarpOrigins {
        // SAFETY: the warp runs.
        let (block, number) = unsafe { ((*warp).context.block, (*warp).context.warp) };
        let fresh = || WarpOrigins {
            block,
            warp: number,
            not_numbers: [0; LANES],
            infinities: [0; LANES],
            untyped: HashMap::new(),
            fetched: [0; LANES],
            counted: 0,
        };
        let held = self.warps.entry(warp as usize).or_insert_with(fresh);
        if (held.block, held.warp) != (block, number) {
            *held = fresh();
        }
        held
    }

    fn origin(&mut self, warp: *mut Warp, lane: usize, class: FloatClass) -> &mut Origin {
        let held = self.held(warp);
        match class {
            FloatClass::Infinite => &mut held.infinities[lane],
            _ => &mut held.not_numbers[lane],
        }
    }

    /// Stores a step, unless a step of the same operation, launch and path already exists.
    fn keep(&mut self, step: FloatStep, before: Origin, role: Role) -> Origin {
        let key = (step.launch, step.operation, role, before);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        if self.steps.len() >= MOST_KEPT {
            return before;
        }
        self.steps.push(ValueStep { step, before, role });
        let origin = self.steps.len() as Origin;
        self.known.insert(key, origin);
        origin
    }

    /// Returns the chain of steps that starts at an origin.
    fn chain(&self, first: Origin) -> impl Iterator<Item = &ValueStep> {
        let at = |origin: Origin| self.steps.get((origin as usize).checked_sub(1)?);
        std::iter::successors(at(first), move |kept| at(kept.before))
    }

    fn compute(&mut self, execution: &Execution, lane: usize) -> Option<FloatKind> {
        let kind = execution.kind(lane)?;
        let class = execution.result(lane);
        if class != FloatClass::Subnormal {
            let from_infinity = class == FloatClass::NotANumber && execution.has(lane, FloatClass::Infinite);
            let before = if from_infinity { *self.origin(execution.warp, lane, FloatClass::Infinite) } else { 0 };
            let origin = self.keep(execution.step(lane), before, Role::Produces);
            *self.origin(execution.warp, lane, class) = origin;
        }
        Some(kind)
    }

    fn load(&mut self, execution: &Execution, lane: usize) -> Option<FloatKind> {
        let class = execution.result(lane);
        let (address, before) = if execution.fetches {
            let texel = self.held(execution.warp).fetched[lane];
            // A texel has up to 16 bytes, and the value is one of its elements.
            let stored = self.memory.range(texel..texel.saturating_add(16)).next();
            (texel, stored.map_or(0, |(_, origin)| *origin))
        } else {
            let address = execution.values[1][lane];
            (address, self.memory.get(&address).copied().unwrap_or(0))
        };
        let origin = self.keep_load(execution.moving_step(lane, address), before);
        *self.origin(execution.warp, lane, class) = origin;
        (before == 0 && class == FloatClass::NotANumber).then_some(FloatKind::LoadedNotANumber)
    }

    /// Stores the step of a load, unless the path already contains the load: for a loop that carries a value through
    /// memory, the first occurrence is enough.
    fn keep_load(&mut self, step: FloatStep, before: Origin) -> Origin {
        let comes_again = |kept: &ValueStep| kept.role == Role::Loads && kept.step.operation == step.operation;
        let again = before != 0 && self.chain(before).take(MOST_STEPS).any(comes_again);
        if again { before } else { self.keep(step, before, Role::Loads) }
    }

    /// Notes the origin of the value at an address.
    fn keep_stored(&mut self, address: u64, origin: Origin) {
        if self.memory.len() < MOST_ADDRESSES || self.memory.contains_key(&address) {
            self.memory.insert(address, origin);
        }
    }

    fn store(&mut self, execution: &Execution, lane: usize) {
        let class = execution.result(lane);
        let mut origin = *self.origin(execution.warp, lane, class);
        if origin == 0 {
            origin = self.bits_origin(execution.warp, lane, execution.format.top(execution.values[0][lane]));
        }
        // An infinity that no operation produced is an intended constant.
        if origin == 0 && class == FloatClass::Infinite {
            return;
        }
        let address = execution.values[1][lane];
        let step = execution.moving_step(lane, address);
        let kept = if origin == 0 { self.keep(step, 0, Role::Produces) } else { origin };
        self.keep_stored(address, kept);
        let Some(allocation) = step.allocation else { return };
        if self.reported.insert((allocation, class)) {
            let before: Vec<_> = self.chain(origin).take(MOST_STEPS - 1).collect();
            let steps = std::iter::once(step).chain(before.iter().map(|kept| kept.step)).collect();
            let bit = |(at, kept): (usize, &&ValueStep)| u32::from(kept.role == Role::Passes) << (at + 1);
            let passing = before.iter().enumerate().map(bit).sum();
            let origin = FloatOrigin { class, steps };
            self.origins.push(if passing == 0 {
                Event::FloatOrigin(origin)
            } else {
                Event::FloatPath { origin, passing }
            });
        }
    }

    /// Counts lanes, and stores the first execution of each kind in the launch.
    fn count(&mut self, execution: &Execution, kind: FloatKind, mask: u32) {
        let lane = mask.trailing_zeros() as usize;
        let step = execution.step(lane);
        let value = |row: usize| match execution.operation.class {
            OperationClass::Load => execution.format.value(execution.values[0][lane]),
            _ => execution.from.value(execution.values[row][lane]),
        };
        let is_load = execution.operation.class == OperationClass::Load;
        let operands = if is_load { 1 } else { execution.operands };
        let mut values = [0; 3];
        for (at, bits) in values.iter_mut().enumerate().take(operands) {
            *bits = value(at + 1).to_bits();
        }
        let fresh = FloatException {
            launch: execution.launch,
            operation: execution.number,
            kind,
            format: execution.format,
            requests: 0,
            lanes: 0,
            block: step.block,
            thread: step.thread,
            operands: operands as u32,
            values,
        };
        let row = self.exceptions.entry((execution.number, kind)).or_insert(fresh);
        row.requests += 1;
        row.lanes += u64::from(mask.count_ones());
    }
}

/// The data that lowered code reports for one execution of an operation.
pub(super) struct Reported<'a> {
    /// An index into the site table's operations.
    pub(super) number: u32,
    /// The types of the result and the operands.
    pub(super) types: ValueTypes,
    /// The active lanes.
    pub(super) mask: u32,
    /// The bits of the result and the operands.
    pub(super) values: &'a [[u64; LANES]; 4],
}

impl<'a> Reported<'a> {
    /// Returns the execution for the floating-point check, or `None` if the result is not a floating-point number.
    fn execution(&self, warp: *mut Warp, launch: LaunchId, operation: &'a Operation) -> Option<Execution<'a>> {
        let format = self.types.get(0)?.float()?;
        let from = self.types.get(1).and_then(ValueType::float);
        let floats = (1..4).take_while(|at| self.types.get(*at).is_some_and(|ty| ty.float().is_some())).count();
        Some(Execution {
            warp,
            launch,
            number: self.number,
            operation,
            format,
            from: from.unwrap_or(format),
            operands: floats,
            fetches: operation.class == OperationClass::Load && self.types.get(1) != Some(ValueType::Int64),
            values: self.values,
        })
    }
}

/// Processes an operation; returns `true` if the operation stops the kernel.
///
/// # Safety
/// The warp runs.
pub(super) unsafe fn follow(warp: *mut Warp, reported: &Reported<'_>) -> bool {
    // SAFETY: by the contract.
    let (running, floats) = unsafe { (&*(*warp).running, (*(*warp).running).floats.as_mut()) };
    // SAFETY: the module belongs to the launch.
    let module = unsafe { &*running.module };
    let operations = &module.table.operations;
    let (Some(floats), Some(operation)) = (floats, operations.get(reported.number as usize)) else { return false };
    let Some(execution) = reported.execution(warp, running.launch, operation) else {
        floats.move_bits(warp, running.launch, operation.class, reported);
        return false;
    };
    let mut found: BTreeMap<FloatKind, u32> = BTreeMap::new();
    for lane in lanes(reported.mask) {
        let kind = match operation.class {
            OperationClass::Load if execution.is_not_finite(lane) => floats.load(&execution, lane),
            OperationClass::Store if execution.is_not_finite(lane) => {
                floats.store(&execution, lane);
                None
            }
            OperationClass::Load | OperationClass::Store | OperationClass::Atomic => None,
            _ => floats.compute(&execution, lane),
        };
        if let Some(kind) = kind {
            *found.entry(kind).or_default() |= 1 << lane;
        }
    }
    let mut stops = false;
    for (kind, mask) in found {
        floats.count(&execution, kind, mask);
        if kind == FloatKind::NotANumber && floats.stops {
            stops = true;
            // SAFETY: by the contract.
            unsafe { note_stop(warp, reported.number, mask.trailing_zeros() as usize) };
        }
    }
    stops
}

/// Reports that a NaN of a lane stops the kernel.
///
/// # Safety
/// The warp runs.
unsafe fn note_stop(warp: *mut Warp, number: u32, lane: usize) {
    // SAFETY: by the contract; the module belongs to the launch.
    let (running, module) = unsafe { (&*(*warp).running, &*(*(*warp).running).module) };
    let Some(operation) = module.table.operations.get(number as usize) else { return };
    let step = step(warp, running.launch, number, lane);
    message::note(&format!(
        "kernel {} made a NaN by `{}`{}, block {}, thread {} (--check-float stop)",
        module.kernel_name(running.kernel),
        operation.name,
        place(&module.table, operation),
        step.block,
        step.thread
    ));
}

/// Returns " at file:line" if the operation has a source position.
fn place(table: &SiteTable, operation: &Operation) -> String {
    let user = operation.chain.iter().filter_map(|&frame| {
        let frame = table.frames.get(frame as usize)?;
        Some((frame, table.files.get(frame.file as usize)?))
    });
    let mut frames: Vec<_> = user.collect();
    frames.sort_by_key(|(_, file)| file.system);
    frames.first().map_or_else(String::new, |(frame, file)| format!(" at {}:{}", file.path, frame.line))
}
