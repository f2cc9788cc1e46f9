//! Runs a launch whose events were begun: prepares the checks, selects the warp functions, runs the blocks, and writes
//! the remaining events.

use super::serial::serial_function;
use crate::device::execution::fibre::{DEEP_STACK_BYTES, STACK_BYTES};
use crate::device::execution::parallel::{self, Form, run_blocks};
use crate::device::execution::scheduled::{Plan, Scheduled};
use crate::device::execution::warp::{Geometry, Mode, Pause, Running, Stop};
use crate::device::faults::cause::code_of;
use crate::device::faults::signal::{Caught, Guard};
use crate::device::faults::{check, message as fault_message};
use crate::device::floats::Floats;
use crate::device::initialisation::{self, Initialisation};
use crate::modules::module::{Member, Module};
use crate::output::message;
use crate::output::message::note_once;
use crate::state::runtime::Runtime;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::ptr::null_mut;
use warpline_format::abi::{WarpFunction, count_cells, kernel_flags};
use warpline_format::cluster;
use warpline_format::event::{BlockCount, BranchCount, Event, FaultKind, LaunchEnd, LaunchId, PathId, WarpBlockCount};
use warpline_format::options::Check;
use warpline_format::schedule::{self, Shape};

/// A launch that is about to run.
pub(super) struct Work<'a> {
    pub id: LaunchId,
    pub member: Member,
    pub geometry: Geometry,
    /// The number of its blocks that share an SM.
    pub resident: u32,
    /// In each group of this number of blocks, the first block is traced; `None` if no block is.
    pub share: Option<u64>,
    /// The blocks that run, if not all blocks run.
    pub sample: Option<BTreeSet<u64>>,
    /// The parameter buffer.
    pub parameters: &'a [u64],
    pub path: PathId,
}

/// The checks of a launch that need all its accesses.
#[derive(Clone, Copy)]
struct Checks {
    /// Warps take turns at their accesses.
    interleave: bool,
    /// Reads of unwritten memory or the values of accesses are tracked.
    followed: bool,
    /// Elements of chosen allocations are rounded.
    rounds: bool,
    /// The kernel has stores that the check of roundings does not see.
    is_hidden: bool,
}

/// The warp functions of a launch, and what follows from them.
struct Functions {
    native: Option<WarpFunction>,
    hooked: Option<WarpFunction>,
    /// Whether blocks that are not traced run with hooks as well.
    all_hooked: bool,
    /// Whether the functions may need a large stack.
    deep: bool,
}

/// What a launch has done, for its events.
struct Ended {
    running: Running,
    /// Count cells.
    counts: Vec<u64>,
    warp_blocks: Vec<WarpBlockCount>,
}

impl Runtime {
    /// Runs the kernel and writes the launch's remaining events.
    pub(super) fn run(&mut self, work: &Work<'_>) -> Option<Stop> {
        let checks = self.begin_checks(work);
        let functions = self.functions(work, checks);
        let ended = self.run_kernel(work, checks, &functions);
        self.end_launch(work, checks, ended)
    }

    fn begin_checks(&mut self, work: &Work<'_>) -> Checks {
        let Member { module, index } = work.member;
        let epoch = self.memory.registry.epoch;
        let module = &mut self.modules[module];
        let interleave = self.options.interleave && module.is_hooked();
        // Blocks that do not run, and code that is not checked, may write any memory.
        let sees_all = |module: &Module| initialisation::sees_all(module, index);
        let followed = self.memory.shadow.is_some() && work.sample.is_none() && sees_all(module);
        if !followed {
            self.memory.assume_written();
        }
        if let Some(values) = self.values.as_mut() {
            values.begin_launch(work.id);
        }
        let rounds = self.roundings.is_some() && module.is_hooked();
        let is_hidden = self.roundings.is_some() && !sees_all(module);
        if let Some(roundings) = self.roundings.as_mut() {
            roundings.begin_launch(work.id, &self.memory);
        }
        module.refresh_ranges(epoch, self.options.check, interleave || followed || rounds);
        if let Some(stops) = &mut self.stops {
            stops.begin(module, work.path);
        }
        Checks { interleave, followed, rounds, is_hidden }
    }

    fn functions(&self, work: &Work<'_>, checks: Checks) -> Functions {
        let module = &self.modules[work.member.module];
        let kernel = &module.kernels()[work.member.index];
        let with_hooks = module.hooked_kernel(work.member.index);
        let flags = kernel.flags | with_hooks.flags;
        let block = work.geometry.block;
        let linear = serial_function(kernel, work.parameters, &self.memory.registry).or(kernel.native_linear);
        let native = choose(block, linear, kernel.native_half, kernel.native_general);
        let hooked = choose(block, with_hooks.hooked_linear, with_hooks.hooked_half, with_hooks.hooked_general);
        // If there is no version without hooks, blocks that are not traced also run with hooks.
        let all_hooked = checks.interleave
            || checks.followed
            || checks.rounds
            || (module.is_hooked() && (self.always_check || native.is_none()));
        Functions {
            native,
            hooked: hooked.filter(|_| all_hooked || work.share.is_some()),
            all_hooked,
            deep: flags & (kernel_flags::UNBOUNDED_STACK | kernel_flags::LARGE_FRAMES) != 0,
        }
    }

    fn run_kernel(&mut self, work: &Work<'_>, checks: Checks, functions: &Functions) -> Ended {
        let geometry = work.geometry;
        let clusters = cluster::blocks(geometry.cluster);
        let order = self.options.device.order;
        let shape = Shape {
            blocks: geometry.blocks(),
            warps: geometry.warps(),
            sms: self.options.device.sms,
            resident: work.resident,
            turn: self.options.device.turn,
            cluster: clusters as u32,
            order: if checks.interleave { order.interleaved() } else { order },
        };
        let module = &self.modules[work.member.module];
        let kernel = &module.kernels()[work.member.index];
        let flags = kernel.flags;
        let all_cells = module.descriptor().count_cells as usize;
        let cells = if work.share.is_some() { all_cells } else { 0 };
        let mut counts = vec![0u64; cells];
        // Only the scheduler tracks which warps wait at named barriers; block-by-block execution does not.
        let waits_for_others = flags & kernel_flags::NAMED_BARRIERS != 0 || clusters > 1;
        let threads = geometry.thread_table();
        let plan = Plan {
            geometry,
            hooked: functions.hooked,
            native: functions.native,
            share: work.share.unwrap_or(0),
            sample: work.sample.as_ref(),
            arguments: work.parameters.as_ptr().cast(),
            counts: counts.as_mut_ptr(),
            cells,
            counted_blocks: if cells == 0 { 0..0 } else { module.reachable_blocks(kernel.function) },
            stack_bytes: if functions.deep { DEEP_STACK_BYTES } else { STACK_BYTES },
            slots_per_sm: shape.slots_per_sm(),
            threads: &threads,
            // Each turn then contains one access, and no block runs ahead of the others.
            clusters: waits_for_others,
            waits: waits_for_others || flags & kernel_flags::MAY_WAIT != 0 || checks.interleave,
            interleave: checks.interleave,
            initialisation: checks.followed,
            all_hooked: functions.all_hooked,
        };
        // Blocks that are not traced may run with hooks, whose counts are discarded.
        self.arena.spare_counts.resize(all_cells, 0);
        let mut running = self.running(work, checks);
        // SAFETY: all data to which the launch points is in `self` or in this frame; nothing else uses it until the
        // launch has ended.
        let warp_blocks = unsafe { self.run_plan(plan, &shape, &raw mut running, flags) };
        self.clock += running.clock_end;
        Ended { running, counts, warp_blocks }
    }

    /// Returns the state of a launch before its first block runs.
    fn running(&mut self, work: &Work<'_>, checks: Checks) -> Running {
        let module = &raw mut self.modules[work.member.module];
        let sites = self.modules[work.member.module].table.sites.len();
        Running {
            scheduler: null_mut(),
            current: null_mut(),
            mode: Mode::Scheduled,
            pause: Pause::Finished,
            stop: None,
            fault_warp: null_mut(),
            trace: &raw mut self.trace,
            memory: &raw mut self.memory,
            module,
            kernel: work.member.index,
            launch: work.id,
            check: self.options.check,
            tolerant: self.by_hand,
            reserved_shared: work.geometry.reserved_shared,
            interleave: checks.interleave,
            open_ranges: Vec::new(),
            initialisation: checks.followed.then(|| Initialisation::new(sites, self.options.check_init)),
            values: self.values.as_mut().filter(|_| checks.followed).map_or(null_mut(), |values| values),
            roundings: self.roundings.as_mut().map_or(null_mut(), |roundings| roundings),
            floats: self.floats.as_mut().map_or(null_mut(), |floats| floats),
            stops: self.stops.as_mut().map_or(null_mut(), |stops| stops),
            parameters: addresses_of(work.parameters),
            reported: HashSet::new(),
            parted: BTreeSet::new(),
            faults: Vec::new(),
            divergent: Vec::new(),
            different: Vec::new(),
            stacks_end: 0,
            printed: &raw mut self.printed,
            printed_limit: self.limits.printf,
            heap: &raw mut self.heap,
            children: &raw mut self.children,
            clock_base: self.clock,
            clock_end: 0,
        }
    }

    /// Runs the blocks in the mode that the plan and the kernel's flags require. Returns the counts of each warp, if
    /// the scheduler ran.
    ///
    /// # Safety
    /// The pointers of `plan` and `running` are valid and not used elsewhere until the call returns.
    unsafe fn run_plan(
        &mut self,
        plan: Plan<'_>,
        shape: &Shape,
        running: *mut Running,
        flags: u32,
    ) -> Vec<WarpBlockCount> {
        // A stack that overflows is reported at once, which only one thread may do.
        let parallel = kernel_flags::INDEPENDENT_BLOCKS;
        let independent = flags & (parallel | kernel_flags::UNBOUNDED_STACK) == parallel;
        // SAFETY: by the contract.
        unsafe {
            let guard = Guard::install(running);
            let mut caught = None;
            let mut warp_blocks = Vec::new();
            let entry = plan.hooked.or(plan.native);
            let scheduled = plan.hooked.is_some() || plan.waits || plan.sample.is_some();
            // Blocks are assigned to the SMs in turn, so a small grid leaves the last SMs empty.
            let used_sms = u64::from(shape.sms).min(shape.blocks);
            // Without a trace, nothing depends on the order of independent blocks.
            let threads = if independent && !self.trace.is_on() { parallel::threads().min(shape.blocks) } else { 1 };
            let residents = if scheduled { u64::from(shape.resident) * used_sms } else { threads };
            let entry = entry.filter(|_| match self.arena.prepare(&plan.geometry, residents) {
                Ok(()) => true,
                Err(cause) => {
                    message::note(&cause.to_string());
                    (*running).stop = Some(Stop::OutOfMemory);
                    false
                }
            });
            (*running).stacks_end = self.arena.locals_end();
            match entry {
                None => {
                    (*running).stop.get_or_insert(Stop::IllegalInstruction);
                }
                Some(_) if scheduled => {
                    let trace = &raw mut self.trace;
                    let mut warps = Scheduled::new(plan, running, trace, &mut self.arena, residents as usize);
                    let stopped = schedule::run(shape, &mut warps).is_err();
                    warp_blocks = warps.finish(stopped);
                }
                Some(entry) => {
                    let form = Form { entry, barrier: flags & kernel_flags::BARRIER != 0, threads };
                    caught = run_blocks(&plan, form, running, &mut self.arena);
                }
            }
            if let Some(caught) = caught.or_else(|| guard.caught()) {
                report_caught(running, caught);
            }
            warp_blocks
        }
    }

    fn end_launch(&mut self, work: &Work<'_>, checks: Checks, ended: Ended) -> Option<Stop> {
        let Ended { running, counts, warp_blocks } = ended;
        let id = work.id;
        // SAFETY: the pointer is null, or refers to a warp of this launch, which is still in the arena.
        let last_block = unsafe { running.fault_warp.as_ref() }.map_or(0, |warp| warp.context.block);
        let stop = running.stop;
        self.write_checks(work, checks, running);
        if !warp_blocks.is_empty() {
            self.trace.event(Event::WarpBlocks { launch: id, blocks: warp_blocks });
        }
        let (blocks, branches) = count_events(&self.modules[work.member.module], &counts);
        let error = stop.as_ref().map_or(crate::cuda::error::SUCCESS, code_of);
        if let Some(cause) = stop {
            self.stopped(id, cause, last_block);
        }
        self.trace.event(Event::LaunchEnd(LaunchEnd { id, error, blocks, branches }));
        for live in std::mem::take(&mut self.heap.freed) {
            self.memory.reclaim(&live);
            self.trace.event(Event::Free { id: live.id, path: 0 });
        }
        self.end_output(work.member);
        // On a GPU, the next launch prints the waiting output. After a failure, no further call of the program would
        // print it.
        if stop.is_some() || self.printed.len() as u64 > self.limits.printf {
            self.flush_output();
        }
        stop
    }

    /// Writes what the checks of a launch found.
    fn write_checks(&mut self, work: &Work<'_>, checks: Checks, running: Running) {
        let Running { faults, divergent, different, parted, initialisation, .. } = running;
        for event in self.floats.iter_mut().flat_map(Floats::end_launch) {
            self.trace.event(event);
        }
        let values = self.values.as_mut().filter(|_| checks.followed).map(|values| values.end_launch(&self.memory));
        for event in values.into_iter().flatten() {
            self.trace.event(event);
        }
        if let Some(roundings) = self.roundings.as_mut() {
            roundings.end_launch(&self.memory, checks.is_hidden);
        }
        self.write_roundings();
        for read in initialisation.into_iter().flat_map(Initialisation::into_reads) {
            self.trace.event(Event::UninitialisedRead(read));
        }
        for barrier in divergent {
            self.trace.event(Event::DivergentBarrier(barrier));
        }
        for barriers in different {
            self.trace.event(Event::DifferentBarriers(barriers));
        }
        for fault in faults {
            self.trace.event(Event::Fault(fault));
        }
        if work.share.is_some() && !parted.is_empty() {
            self.trace.event(Event::Parted { launch: work.id, branches: parted.into_iter().collect() });
        }
    }

    /// Ends the launch's output of `printf`, and reports calls that were lost.
    fn end_output(&mut self, member: Member) {
        let lost = self.printed.end_launch();
        if lost > 0 {
            let name = self.modules[member.module].kernel_name(member.index);
            note_once(format!(
                "kernel {name} printed more than the device's buffer holds ({} bytes): {lost} calls of printf, the oldest of the \
                 launch, are lost, as on a GPU; cudaDeviceSetLimit(cudaLimitPrintfFifoSize, …) makes it larger",
                self.limits.printf
            ));
        }
    }
}

/// Returns the version of a warp function that matches the block's shape.
fn choose(
    block: [u32; 3],
    linear: Option<WarpFunction>,
    half: Option<WarpFunction>,
    general: Option<WarpFunction>,
) -> Option<WarpFunction> {
    let [x, y, z] = block;
    if (y == 1 && z == 1) || x % 32 == 0 {
        linear.or(general)
    } else if x % 16 == 0 {
        half.or(general)
    } else {
        general
    }
}

/// Returns the addresses of a parameter buffer.
fn addresses_of(parameters: &[u64]) -> Range<u64> {
    let bytes = parameters.as_ptr_range();
    bytes.start as u64..bytes.end as u64
}

/// Reports a fault that the processor found.
///
/// # Safety
/// `running` is a launch whose warps are still in the arena.
unsafe fn report_caught(running: *mut Running, caught: Caught) {
    // SAFETY: by the contract.
    unsafe {
        let warp = (*running).fault_warp;
        if warp.is_null() {
            return;
        }
        let lane = (*warp).context.live.trailing_zeros() as usize;
        match (*running).stop {
            Some(Stop::IllegalAddress) => {
                let mut text = format!("Invalid access to address {:#x}, found by the processor", caught.address);
                let registry = &(*(*running).memory).registry;
                let meant = registry.nearest_array(caught.address);
                fault_message::neighbourhood(&mut text, registry, meant, caught.address, 1);
                if (*running).check == Check::Off {
                    text.push_str("\n    For the source line: warpline run --check stop");
                } else if (*warp).hooked {
                    text.push_str("\n    The check of accesses let it pass, so the line is not known.");
                } else {
                    text.push_str(
                        "\n    The kernel ran without its hooks (filters, WARPLINE=0), so the line is not known.",
                    );
                }
                fault_message::pointer(warp, lane, &text);
                check::note(warp, lane, FaultKind::Hardware, u32::MAX, caught.address, true);
            }
            Some(Stop::StackOverflow) => fault_message::pointer(warp, lane, "Stack overflow in device code"),
            _ => {
                let what = format!("Device code stopped by signal {}", caught.signal);
                fault_message::pointer(warp, lane, &what);
            }
        }
    }
}

/// Returns the counts of the basic blocks and branches that ran.
fn count_events(module: &Module, counts: &[u64]) -> (Vec<BlockCount>, Vec<BranchCount>) {
    let cell = |at: u64| counts.get(at as usize).copied().unwrap_or(0);
    let blocks = (0..module.descriptor().block_count)
        .map(|block| {
            let of = |which: u64| cell(count_cells::of_block(block) + which);
            let [executions, lanes, partial] =
                [count_cells::EXECUTIONS, count_cells::LANES, count_cells::PARTIAL].map(of);
            BlockCount { block: block as u32, executions, lanes, partial }
        })
        .filter(|count| count.executions != 0)
        .collect();
    let branches = module
        .branch_cells()
        .iter()
        .enumerate()
        .filter_map(|(branch, &first)| {
            let first = u64::from(first);
            let sides = module.table.branches.get(branch).map_or(2, |branch| branch.sides);
            let executions = cell(first);
            (executions != 0).then(|| BranchCount {
                branch: branch as u32,
                executions,
                divergent: cell(first + count_cells::DIVERGENT),
                lanes: (0..u64::from(sides)).map(|side| cell(first + count_cells::BRANCH_FIXED + side)).collect(),
            })
        })
        .collect();
    (blocks, branches)
}
