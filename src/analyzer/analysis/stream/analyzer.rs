//! Reads a stream in order, stores the contents of control records, and passes batches to the workers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Read;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use warpline_format::carveout::CarveoutPreference;
use warpline_format::device::Device;
use warpline_format::event::{
    AllocationKind, Event, Fault, HostAccess, LaunchId, PathId, StopCause, UninitialisedCopy, UninitialisedRead,
};
use warpline_format::operation::{FloatException, FloatOrigin, FloatStep, MOST_STEPS};
use warpline_format::rounding::{Rounding, Writer};
use warpline_format::values::{SiteValues, ZeroBlocks};
use warpline_format::visible;
use warpline_format::warp_order::Order;

use super::memory::Memory;
use super::open_launch::OpenLaunch;
use super::refusal::Refusal;
use crate::analyses::Tools;
use crate::analysis::results::ObjectData;
use crate::analysis::sampling::Strata;
use crate::analysis::sharing::{LAUNCHES, Sharing};
use crate::analysis::tool_set::ToolPool;
use crate::analysis::{
    Analysis, ExceptionKey, FaultData, Finish, HostAllocationData, LaunchKind, Origin, OriginStep, ProgramData,
    Progress, ReadKey, RoundedWriter, Status, ValueKey,
};
use crate::attribution::Module;
use crate::races::{MemberFault, Watch};
use crate::requests::WorkerLost;
use crate::simulation::{Reorder, Settings};
use crate::trace::{Damage, Ending, Message, TraceReader};

/// Maximum number of bad accesses that are kept.
const MOST_FAULTS: usize = 10_000;
/// Processes one stream.
pub struct Analyzer {
    pub(super) analysis: Analysis,
    pub(super) tools: ToolPool,
    pub(super) kernels: FxHashMap<(u32, u32), u32>,
    pub(super) launches: Sharing<LaunchKind>,
    pub(super) failed: u64,
    pub(super) open: BTreeMap<LaunchId, OpenLaunch>,
    pub(super) status: Status,
    pub(super) current: Option<LaunchId>,
    /// The most recently started launch.
    pub(super) last_launch: Option<LaunchId>,
    /// The division of L1 and shared memory that the program prefers for the next launch.
    pub(super) carveout: Option<(LaunchId, CarveoutPreference)>,
    /// Reorders launches for another device.
    pub(super) reorder: Option<Reorder>,
    /// Running launches that are impossible on this device.
    pub(super) left_out: FxHashSet<LaunchId>,
    /// Bytes that data growing with the stream may use, if they are limited.
    pub(super) granted: Option<u64>,
    /// Bytes of the stored data of ended launches.
    pub(super) kept: u64,
    /// The samples that a budget recorded.
    pub(super) strata: Strata,
    pub(super) memory: Memory,
    /// The launch that was stopped and has not ended yet, with cause and block.
    pub(super) stopped: Option<(LaunchId, StopCause, u64)>,
    /// The check for conflicts between warps; `None` for a GPU, whose records do not contain barriers.
    pub(super) watch: Option<Watch>,
}

/// Analyses a whole stream with `threads` workers. Damage is not an error: it is reported in [`Analysis::finish`], and
/// everything before it is counted.
///
/// # Errors
/// Returns [`WorkerLost`] if a worker panicked, which is a bug.
pub fn analyze<R: Read>(
    reader: TraceReader<R>,
    threads: usize,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    analyze_with(reader, threads, None, progress)
}

/// Like [`analyze`], with simulation of caches and reuse distances.
///
/// # Errors
/// Returns [`WorkerLost`] if a worker panicked, which is a bug.
pub fn analyze_with<R: Read>(
    reader: TraceReader<R>,
    threads: usize,
    simulation: Option<&Settings>,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    follow(reader, Analyzer::new(threads, simulation, &Tools::default()), progress)
}

/// Like [`analyze_with`], with additional analyses of the caller, whose results are in
/// [`KernelData::sums`](super::super::KernelData::sums).
///
/// # Errors
/// Returns [`WorkerLost`] if a worker panicked, which is a bug.
pub fn analyze_with_tools<R: Read>(
    reader: TraceReader<R>,
    threads: usize,
    simulation: Option<&Settings>,
    tools: &Tools,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    follow(reader, Analyzer::new(threads, simulation, tools), progress)
}

/// Like [`analyze_with`], in the order of a run on `device`.
///
/// # Errors
/// Returns [`WorkerLost`] if a worker panicked, which is a bug.
pub fn analyze_for<R: Read>(
    reader: TraceReader<R>,
    threads: usize,
    simulation: &Settings,
    device: Device,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    let analyzer = Analyzer {
        reorder: Some(Reorder::new(device, simulation.stated)),
        ..Analyzer::new(threads, Some(simulation), &Tools::default())
    };
    follow(reader, analyzer, progress)
}

fn follow<R: Read>(
    mut reader: TraceReader<R>,
    mut analyzer: Analyzer,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    let finish = loop {
        let result = match reader.next() {
            Ok(Message::Event(event)) => analyzer.event(*event),
            Ok(Message::Batch { launch, items }) => analyzer.batch(launch, items),
            Err(Ending::Complete) => break Finish::Complete,
            Err(Ending::Unfinished | Ending::Damaged(Damage::Cut(_))) => break Finish::Unfinished,
            Err(Ending::Damaged(damage)) => break Finish::Damaged(damage.to_string()),
        };
        match result {
            Ok(()) => {}
            Err(Refusal::Worker(lost)) => return Err(lost),
            Err(Refusal::Memory) => break Finish::OutOfMemory,
            Err(refusal) => break Finish::Damaged(format!("chunk {}: {refusal}", reader.chunk())),
        }
        analyzer.status.bytes = reader.bytes();
        progress.update(&analyzer.status, analyzer.current_kernel());
        if progress.needs_results() {
            progress.receive(&analyzer.status, analyzer.current_kernel(), &analyzer.analysis);
        }
    };
    analyzer.finish(finish)
}

impl Analyzer {
    fn new(threads: usize, simulation: Option<&Settings>, tools: &Tools) -> Analyzer {
        Analyzer {
            analysis: Analysis::empty(Finish::Nothing),
            tools: ToolPool::new(threads, simulation, tools),
            kernels: FxHashMap::default(),
            launches: Sharing::new(LAUNCHES),
            failed: 0,
            open: BTreeMap::new(),
            status: Status::default(),
            current: None,
            last_launch: None,
            carveout: None,
            reorder: None,
            left_out: FxHashSet::default(),
            granted: simulation.and_then(Settings::growth_bytes),
            kept: 0,
            strata: Strata::default(),
            memory: Memory::new(simulation.and_then(|settings| settings.narrowed.clone())),
            stopped: None,
            watch: (!simulation.is_some_and(|settings| settings.traffic_only))
                .then(|| Watch::new(simulation.map(|settings| settings.races).unwrap_or_default())),
        }
    }

    fn current_kernel(&self) -> Option<&str> {
        let shape = &self.open.get(&self.current?)?.shape;
        let kernel = &self.analysis.kernels[shape.kernel as usize];
        Some(&shape.module.1.table.functions[kernel.function as usize].name)
    }

    pub(super) fn device(&self) -> Option<&Device> {
        self.analysis.program.as_ref().map(|program| &program.device)
    }

    fn event(&mut self, event: Event) -> Result<(), Refusal> {
        match event {
            Event::Program { mut executable, mut arguments, mut device } => {
                arguments.iter_mut().chain([&mut executable, &mut device.name]).for_each(visible::make_name);
                if self.analysis.program.is_some() {
                    return Err(Refusal::SecondProgram);
                }
                device.order = Order::of_earlier_traces(device.compute_capability);
                self.analysis.program = Some(ProgramData { executable, arguments, device });
            }
            Event::WarpOrder(order) => {
                if let Some(program) = &mut self.analysis.program {
                    program.device.order = order;
                }
            }
            Event::OnGpu => {
                self.analysis.on_gpu = true;
                self.watch = None;
            }
            Event::Object { id, path, build_id } => {
                announce(&mut self.analysis.objects, id, ObjectData { path, build_id }, "object")?;
            }
            Event::Module { id, site_table } => {
                // Kernels of the existing module may have run, so its numbers must keep their meanings.
                if self.analysis.modules.contains_key(&id) {
                    return Err(Refusal::Twice { what: "module", id: id.into() });
                }
                let module = Module::new(&site_table)?;
                self.analysis.modules.insert(id, Arc::new(module));
            }
            Event::InterpretedFrame { id, mut frame } => {
                [&mut frame.function, &mut frame.file].into_iter().for_each(visible::make_name);
                announce(&mut self.analysis.interpreted, id, frame, "position")?;
            }
            Event::Path { id, frames } => {
                announce(&mut self.analysis.paths, id, frames, "call path")?;
            }
            Event::Allocation(mut event) => {
                event.name.iter_mut().for_each(visible::make_name);
                if let Some(watch) = self.watch.as_mut().filter(|_| event.kind != AllocationKind::Named) {
                    watch.allocated(event.address..event.address.saturating_add(event.bytes));
                    if let Some(variable) = event.global {
                        watch.variable(variable, event.address);
                    }
                }
                let change = self.memory.allocated(event, &mut self.analysis)?;
                self.tools.changed(change)?;
            }
            Event::Free { id, .. } => {
                if let Some(watch) = &mut self.watch {
                    watch.before_free(&self.memory.map);
                }
                let change = self.memory.freed(id, &mut self.analysis)?;
                self.tools.changed(change)?;
            }
            Event::HostAllocation { id, mut kind, bytes, mut name, path } => {
                name.iter_mut().chain([&mut kind]).for_each(visible::make_name);
                let data = HostAllocationData { kind, bytes, name, path, count: 1 };
                self.memory.host_allocated(id, data, &mut self.analysis)?;
            }
            Event::WorkOrder(order) => {
                if let Some(watch) = &mut self.watch {
                    watch.order(order, &self.memory.map);
                }
            }
            Event::Copy(copy) => {
                if let Some(watch) = &mut self.watch {
                    watch.copied(&copy);
                }
                if let Some(written) = self.memory.copied(&copy, &mut self.analysis)? {
                    self.tools.copied(written);
                }
            }
            Event::Unchanged => self.memory.unchanged(&mut self.analysis),
            Event::Carveout { launch, preference } => self.carveout = Some((launch, preference)),
            Event::Launch(launch) => self.launch(launch)?,
            Event::LaunchEnd(end) => self.launch_end(&end)?,
            Event::Fault(fault) => self.fault(fault),
            Event::Dropped { records } => self.analysis.dropped = self.analysis.dropped.saturating_add(records),
            Event::Sampled(place) => self.sampled(place)?,
            Event::Clusters { launch, shape } => {
                if let Some(reorder) = &mut self.reorder {
                    reorder.clusters(launch, shape);
                }
            }
            Event::Arguments { launch, values } => self.arguments(launch, &values)?,
            Event::WarpBlocks { launch, blocks } => self.warp_blocks(launch, blocks)?,
            Event::Spills { module, kernels } => {
                self.analysis.spills.extend(kernels.into_iter().map(|(function, bytes)| ((module, function), bytes)));
            }
            Event::Parted { launch, branches } => self.parted(launch, &branches)?,
            Event::Assembled { module, kernels } => {
                let each = kernels.into_iter().map(|(function, known)| ((module, function), known));
                self.analysis.resources.extend(each);
            }
            Event::SiteCounts { launch, sites } => self.site_counts(launch, &sites)?,
            Event::Stopped { launch, cause, block } => self.stopped = Some((launch, cause, block)),
            Event::DivergentBarrier(barrier) if self.analysis.divergent.len() < MOST_FAULTS => {
                let launch = self.launch_of(barrier.launch);
                self.analysis.divergent.push((barrier, launch));
            }
            Event::DifferentBarriers(pair) if self.analysis.different.len() < MOST_FAULTS => {
                let launch = self.launch_of(pair.launch);
                self.analysis.different.push((pair, launch));
            }
            Event::DivergentBarrier(_) | Event::DifferentBarriers(_) => self.analysis.more_faults += 1,
            Event::NotLaunched { why, launches } => self.analysis.failures.add_not_launched(why, launches),
            Event::FailedCall(call) => self.analysis.failures.add_calls(call),
            Event::WithoutEffect { function, what } => self.analysis.failures.add_without_effect(function, what),
            Event::FloatsChecked => self.analysis.floats.checked = true,
            Event::FloatException(found) => self.float_exception(found),
            Event::FloatOrigin(origin) => self.float_origin(&origin, 0),
            Event::FloatPath { origin, passing } => self.float_origin(&origin, passing),
            Event::ValuesFollowed => self.analysis.values.followed = true,
            Event::SiteValues(values) => self.site_values(&values),
            Event::ZeroBlocks(zeros) => self.zero_blocks(&zeros),
            Event::ElementsRounded { allocation, from, to } => {
                if let Some(row) = self.memory.row(allocation, &self.analysis) {
                    self.analysis.roundings.add_allocation(allocation, row, from, to);
                }
            }
            Event::Rounding(rounding) => self.rounding(&rounding),
            Event::ComparedCopy(copy) => {
                if let Some(row) = self.memory.row(copy.allocation, &self.analysis) {
                    self.analysis.roundings.add_result(row, &copy);
                }
            }
            Event::OtherAccess(other) => {
                if let (Some((kernel, _)), Some(row)) =
                    (self.launch_of(other.launch), self.memory.row(other.allocation, &self.analysis))
                {
                    self.analysis.roundings.add_other(row, kernel, other.site);
                }
            }
            Event::InitialisationChecked => self.analysis.initialisation.checked = true,
            Event::HostChecked => self.analysis.host_accesses.checked = true,
            Event::HostAccess(access) => self.host_access(access),
            Event::SharedVariables { module, function, variables } => {
                if let Some(watch) = &mut self.watch {
                    watch.describe_shared((module, function), variables.clone());
                }
                self.analysis.shared_variables.insert((module, function), variables);
            }
            Event::CopyHostSide(side) => {
                if let Some(watch) = &mut self.watch {
                    watch.copied_host_side(&side);
                }
            }
            Event::UninitialisedRead(read) => self.uninitialised_read(read),
            Event::UninitialisedCopy(copy) => self.uninitialised_copy(copy),
            Event::End { .. } => {}
        }
        Ok(())
    }

    /// Returns the kernel and the host path of a running launch.
    fn launch_of(&self, launch: LaunchId) -> Option<(u32, PathId)> {
        self.open.get(&launch).map(|open| (open.shape.kernel, open.event.path))
    }

    /// Stores a bad access with its kernel and allocation, which may be unknown later in the stream.
    fn fault(&mut self, event: Fault) {
        let launch = self.launch_of(event.launch);
        self.add_fault(event, launch);
    }

    /// Stores a bad access of a kernel with the host call path of its launch.
    pub(super) fn add_fault(&mut self, event: Fault, launch: Option<(u32, PathId)>) {
        if self.analysis.faults.len() >= MOST_FAULTS {
            self.analysis.more_faults += 1;
            return;
        }
        let nearest = self.memory.nearest(&event, &self.analysis);
        self.analysis.faults.push(FaultData { event, launch, nearest, overrun: None });
    }

    /// Stores the bad accesses that the check of requests has found.
    pub(super) fn add_found_faults(&mut self, launch: (u32, PathId)) {
        let Some(watch) = &mut self.watch else { return };
        let (faults, members) = (watch.take_faults(), watch.take_member_faults());
        for fault in faults {
            self.add_fault(fault, Some(launch));
        }
        for MemberFault { fault, overrun, allocation } in members {
            let before = self.analysis.faults.len();
            self.add_fault(fault, Some(launch));
            if let Some(added) = self.analysis.faults.get_mut(before) {
                (added.nearest, added.overrun) = (allocation, Some(overrun));
            }
        }
    }

    /// Adds uninitialised reads. Records for a launch that is not running or an unknown allocation are invalid.
    fn uninitialised_read(&mut self, read: UninitialisedRead) {
        let Some((kernel, path)) = self.launch_of(read.launch) else { return };
        let allocation = match read.allocation {
            Some(id) => match self.memory.row(id, &self.analysis) {
                Some(row) => Some(row),
                None => return,
            },
            None => None,
        };
        let earlier = read.earlier.and_then(|id| self.memory.row(id, &self.analysis));
        let key = ReadKey { kernel, site: read.site, allocation, partial: read.partial };
        self.analysis.initialisation.add_read(key, read, path, earlier);
    }

    /// Adds the values of a running launch, for shared memory or a known allocation.
    fn site_values(&mut self, values: &SiteValues) {
        let Some((kernel, path)) = self.launch_of(values.launch) else { return };
        let allocation = values.allocation.map(|id| self.memory.row(id, &self.analysis));
        if allocation != Some(None) {
            let key = ValueKey { kernel, site: values.site, allocation: allocation.flatten() };
            self.analysis.values.add(key, values, path);
        }
    }

    fn zero_blocks(&mut self, zeros: &ZeroBlocks) {
        if let Some(row) = self.memory.row(zeros.allocation, &self.analysis) {
            self.analysis.values.add_zeros(row, zeros);
        }
    }

    /// Adds rounded elements of a known allocation. Those of launches that are not running are invalid.
    fn rounding(&mut self, rounding: &Rounding) {
        let Some(row) = self.memory.row(rounding.allocation, &self.analysis) else { return };
        let kernel = |launch: LaunchId| self.launch_of(launch).map(|(kernel, _)| kernel);
        let writer = match rounding.writer {
            Writer::Site { launch, site } => kernel(launch).map(|kernel| RoundedWriter::Site(kernel, site)),
            Writer::Launch(launch) => kernel(launch).map(RoundedWriter::Kernel),
            Writer::Copy(path) => Some(RoundedWriter::Copy(path)),
            Writer::Fill(path) => Some(RoundedWriter::Fill(path)),
            Writer::Host => Some(RoundedWriter::Host),
        };
        if let Some(writer) = writer {
            self.analysis.roundings.add(row, writer, &rounding.errors);
        }
    }

    fn float_exception(&mut self, found: FloatException) {
        let Some((kernel, path)) = self.launch_of(found.launch) else { return };
        let key = ExceptionKey { kernel, operation: found.operation, kind: found.kind };
        self.analysis.floats.add(key, found, path);
    }

    /// Adds an origin if each of its steps belongs to a running launch or to a launch with exceptional values.
    fn float_origin(&mut self, origin: &FloatOrigin, passing: u32) {
        let first = origin.steps.first().and_then(|step| self.launch_of(step.launch));
        let Some((stored_by, path)) = first.filter(|_| origin.steps.len() <= MOST_STEPS) else { return };
        self.analysis.floats.kernels.extend(origin.steps.first().map(|step| (step.launch, stored_by)));
        let kernels = &self.analysis.floats.kernels;
        let numbered = |(at, step): (u32, &FloatStep)| {
            let kernel = self.launch_of(step.launch).map(|(kernel, _)| kernel);
            let allocation = step.allocation.and_then(|id| self.memory.row(id, &self.analysis));
            let kernel = kernel.or_else(|| kernels.get(&step.launch).copied())?;
            Some(OriginStep { step: *step, kernel, allocation, passes: passing >> at & 1 == 1 })
        };
        let steps: Option<Vec<OriginStep>> = (0..).zip(&origin.steps).map(numbered).collect();
        if let Some(steps) = steps {
            self.analysis.floats.add_origin(Origin { class: origin.class, steps, path });
        }
    }

    /// Host code accessed memory that it must not access then.
    fn host_access(&mut self, access: HostAccess) {
        if access.waited.is_some() {
            if let Some(watch) = &mut self.watch {
                watch.host_access(access, &self.memory.map);
            }
        } else if let Some(row) = self.memory.row(access.allocation, &self.analysis) {
            let start = self.memory.map.start(access.address).unwrap_or(access.address);
            self.analysis.host_accesses.add(row, start, &access);
        }
    }

    fn uninitialised_copy(&mut self, copy: UninitialisedCopy) {
        let Some(row) = self.memory.row(copy.allocation, &self.analysis) else { return };
        let earlier = copy.earlier.and_then(|id| self.memory.row(id, &self.analysis));
        self.analysis.initialisation.add_copy(row, copy, earlier);
    }

    fn finish(mut self, finish: Finish) -> Result<Analysis, WorkerLost> {
        let open: Vec<LaunchId> = self.open.keys().copied().collect();
        for launch in open {
            if let Some(closed) = self.close(launch, None)? {
                self.keep(closed.kernel, closed.place, closed.data);
            }
        }
        if let (Some(reorder), Some(program)) = (&self.reorder, &mut self.analysis.program) {
            program.device = reorder.device().clone();
        }
        if let Some(watch) = self.watch {
            let (conflicts, of_streams) = watch.finish(&self.memory.map);
            (self.analysis.conflicts, self.analysis.stream_conflicts) = (Some(conflicts), of_streams);
        }
        self.memory.finish(&mut self.analysis);
        self.analysis.whole = (!self.strata.is_empty()).then(|| self.strata.whole());
        self.analysis.bytes = self.status.bytes;
        self.analysis.finish = finish;
        Ok(self.analysis)
    }
}

/// Stores a declaration. Repeating an identical declaration is valid.
fn announce<K: Copy + Ord + Into<u64>, V: PartialEq>(
    known: &mut BTreeMap<K, V>,
    id: K,
    data: V,
    what: &'static str,
) -> Result<(), Refusal> {
    match known.entry(id) {
        Entry::Occupied(before) if *before.get() != data => Err(Refusal::Differs { what, id: id.into() }),
        Entry::Occupied(_) => Ok(()),
        Entry::Vacant(free) => {
            free.insert(data);
            Ok(())
        }
    }
}
