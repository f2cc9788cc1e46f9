//! A kernel launch: checks, filters, the choice of the warp function, and its events.

use super::serial::serial_function;
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::device::execution::fibre::{DEEP_STACK_BYTES, STACK_BYTES};
use crate::device::execution::parallel::{self, Form, run_blocks};
use crate::device::execution::scheduled::{Plan, Scheduled};
use crate::device::execution::warp::{Geometry, Mode, Pause, Running, Stop};
use crate::device::faults::cause::code_of;
use crate::device::faults::signal::Guard;
use crate::device::faults::{check, message as fault_message};
use crate::device::floats::Floats;
use crate::device::initialisation::{self, Initialisation};
use crate::modules::configuration::{Configuration, cluster_of, known};
use crate::modules::module::Member;
use crate::modules::module::{Module, name, shared_variables};
use crate::output::message;
use crate::output::message::note_once;
use crate::state::launched::{Counted, Drawn, Launched};
use crate::state::runtime::{Kernel, Runtime};
use std::collections::{BTreeSet, HashSet};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::null_mut;
use warpline_format::abi::{self, KernelDescriptor, WarpFunction, count_cells, kernel_flags};
use warpline_format::budget;
use warpline_format::carveout::CarveoutPreference;
use warpline_format::cluster;
use warpline_format::event::{
    BlockCount, BranchCount, Event, FaultKind, Launch, LaunchEnd, LaunchId, NotLaunched, PathId, SharedVariable,
};
use warpline_format::options::Check;
use warpline_format::schedule::{self, Shape};

/// The minimum stack of a lane, in bytes, if the compiler cannot bound the stack.
const UNBOUNDED_LOCAL: u64 = 16 << 10;

impl Runtime {
    /// Returns the kernel of a host stub.
    pub fn kernel(&self, stub: *const c_void) -> Result<Member, Error> {
        match self.kernels.get(&(stub as usize)) {
            Some(Kernel::Lowered(member)) => Ok(*member),
            Some(Kernel::Foreign(name)) => {
                message::note(&format!(
                    "kernel {name} was compiled without Warpline and cannot run: rebuild its file with `warpline cc`"
                ));
                Err(error::NO_KERNEL_IMAGE_FOR_DEVICE)
            }
            None => Err(error::INVALID_DEVICE_FUNCTION),
        }
    }

    /// Assigns a number to the next launch, and returns whether it is traced. `--launches` counts only the launches of
    /// the kernels that `--kernels` selects, because counting others would not help the user. A budget is based on
    /// `launched`; without it, the launch cannot be traced.
    pub fn count_launch(&mut self, member: Member, launched: Option<Launched>) -> Counted {
        let id = self.launches;
        self.launches += 1;
        let not_traced = Counted { id, traced: false, drawn: None };
        if !self.is_chosen(member) {
            return not_traced;
        }
        let wanted = self.is_in_range();
        self.chosen += 1;
        let may_be = self.profiling && wanted && self.may_be_traced(member);
        let Some(launched) = launched.filter(|_| may_be) else { return not_traced };
        let Some(sampler) = &mut self.sampler else { return Counted { traced: true, ..not_traced } };
        let module = &self.modules[member.module];
        let shape = budget::Shape {
            kernel: (module.id, module.kernels()[member.index].function),
            grid: launched.grid,
            block: launched.block,
            dynamic_shared: launched.dynamic_shared,
            path: launched.path,
        };
        let mut choice = sampler.choose(&shape);
        choice.place.launch = id;
        Counted { id, traced: choice.recorded, drawn: Some(Drawn { choice, warps: shape.warps() }) }
    }

    /// Records which division of L1 and shared memory the program prefers for a launch, before the launch's first
    /// event.
    pub fn record_carveout(&mut self, launch: LaunchId, member: Member) {
        let preference = match self.modules[member.module].carveouts[member.index] {
            CarveoutPreference::Default => self.carveout,
            of_kernel => of_kernel,
        };
        if preference != CarveoutPreference::Default {
            self.trace.event(Event::Carveout { launch, preference });
        }
    }

    /// Writes the shared variables of a kernel that has several, before its first traced launch.
    fn describe_shared(&mut self, member: Member, traced: bool) {
        let module = &self.modules[member.module];
        let kernel = &module.kernels()[member.index];
        let (function, variables) = (kernel.function, shared_variables(kernel));
        if !traced || variables.len() < 2 || module.described.contains(&function) {
            return;
        }
        let described =
            |one: &abi::SharedVariable| SharedVariable { name: name(one.name), offset: one.offset, bytes: one.size };
        let (module, variables) = (module.id, variables.iter().map(described).collect());
        self.modules[member.module].described.insert(function);
        self.trace.event(Event::SharedVariables { module, function, variables });
    }

    /// Writes a launch's position in the sample, after its first event.
    pub fn write_sample_position(&mut self, counted: &Counted) {
        if let Some(drawn) = &counted.drawn {
            self.trace.event(Event::Sampled(drawn.choice.place));
        }
    }

    /// Adds a launch's work to the budget: the size of its records in bytes, if known.
    pub fn count_work(&mut self, counted: &Counted, bytes: Option<u64>) {
        if let (Some(sampler), Some(drawn)) = (&mut self.sampler, &counted.drawn) {
            sampler.ran(&drawn.choice, drawn.warps, bytes);
        }
    }

    /// Returns whether any launch of the kernel can be traced.
    pub fn may_be_traced(&self, member: Member) -> bool {
        self.trace.is_on() && self.modules[member.module].is_hooked() && self.is_chosen(member)
    }

    /// Returns whether `--launches` selects the next launch of a selected kernel.
    pub(crate) fn is_in_range(&self) -> bool {
        let ranges = &self.options.launches;
        let number = self.chosen;
        self.estimating || ranges.is_empty() || ranges.iter().any(|&(first, last)| (first..=last).contains(&number))
    }

    fn is_chosen(&self, member: Member) -> bool {
        let name = || self.modules[member.module].kernel_name(member.index);
        self.estimating || self.filter.as_ref().is_none_or(|filter| filter.is_match(&name()))
    }

    /// Launches a kernel and runs it to its end. An error of the kernel itself is returned by the
    /// calls after this one, as on a GPU.
    ///
    /// # Safety
    /// `arguments` points to one pointer per kernel parameter, each to a value of its size.
    pub unsafe fn launch(
        &mut self,
        stub: *const c_void,
        configuration: Configuration,
        arguments: *const *const c_void,
        entry: Entry,
    ) -> Result<(), Error> {
        if let Some(Kernel::Foreign(kernel)) = self.kernels.get(&(stub as usize)) {
            let why = NotLaunched::NotInstrumented { kernel: kernel.clone() };
            self.not_launched(why, 1);
        }
        // SAFETY: the caller fulfils the contract.
        let parameters = unsafe { self.pack_arguments(stub, arguments)? };
        self.launch_packed(stub, configuration, parameters, entry)
    }

    /// Returns a launch's arguments in a parameter buffer.
    ///
    /// # Safety
    /// The requirements of [`Runtime::launch`] apply.
    pub unsafe fn pack_arguments(
        &self,
        stub: *const c_void,
        arguments: *const *const c_void,
    ) -> Result<Vec<u64>, Error> {
        let member = self.kernel(stub)?;
        // SAFETY: the caller fulfils the contract.
        unsafe { pack(&self.modules[member.module].kernels()[member.index], arguments) }
    }

    /// The variant of [`Runtime::launch`] for arguments that are already packed for this kernel.
    pub fn launch_packed(
        &mut self,
        stub: *const c_void,
        configuration: Configuration,
        parameters: Vec<u64>,
        entry: Entry,
    ) -> Result<(), Error> {
        let member = self.kernel(stub)?;
        let resident = self.check_configuration(member, &configuration);
        let resident = resident.and_then(|resident| self.generate_hooks(member).map(|()| resident));
        let resident = resident.map_err(|refusal| {
            // A program that does not check errors continues, and the profile does not contain the kernel.
            if self.trace.is_on() {
                let kernel = self.modules[member.module].kernel_name(member.index);
                note_once(format!("a launch of {kernel} was refused (CUDA error {}): {}", refusal.code, refusal.why));
                self.failed_calls.explain(&kernel, &refusal.why);
                self.not_launched(NotLaunched::Refused { kernel, error: refusal.code, reason: refusal.why }, 1);
            }
            refusal.code
        })?;
        let workspace = if configuration.cooperative { self.grid_workspace()? } else { 0 };
        self.deferred = match self.begin(member, configuration, resident, workspace, &parameters, entry) {
            Some(stop) => {
                self.drop_children();
                code_of(&stop)
            }
            None => {
                let ended = self.run_children(member.module, configuration.stream, entry);
                ended.map_or_else(|ended| ended.code(), |()| error::SUCCESS)
            }
        };
        Ok(())
    }

    /// Runs one kernel whose configuration was checked, and writes its events. `resident` of its blocks share an SM.
    pub(crate) fn begin(
        &mut self,
        member: Member,
        configuration: Configuration,
        resident: u32,
        workspace: u64,
        parameters: &[u64],
        entry: Entry,
    ) -> Option<Stop> {
        let path = self.path(entry);
        let launched = Launched {
            grid: configuration.grid,
            block: configuration.block,
            dynamic_shared: configuration.shared,
            path,
        };
        let counted = self.count_launch(member, Some(launched));
        let (id, traced) = (counted.id, counted.traced);
        let module = &self.modules[member.module];
        let kernel = &module.kernels()[member.index];
        let local = u64::from(kernel.local_bytes);
        let unbounded = kernel.flags & kernel_flags::UNBOUNDED_STACK != 0;
        let local_limit = if unbounded { local + self.limits.stack.max(UNBOUNDED_LOCAL) } else { local };
        let local_limit = local_limit.next_multiple_of(64);
        let static_shared = u64::from(kernel.static_shared);
        let geometry = Geometry {
            grid: configuration.grid,
            block: configuration.block,
            shared_bytes: static_shared + configuration.shared,
            dynamic_shared: configuration.shared as u32,
            reserved_shared: kernel.flags & kernel_flags::RESERVED_SHARED != 0,
            local_limit,
            // The value is not a power of two, so that the lanes' stacks do not compete for the same set of the host's
            // cache.
            local_stride: local_limit + 64,
            workspace,
            cluster: cluster_of(kernel, &configuration),
        };
        let sample = self.sample(member, &configuration);
        let recorded = if self.estimating { 1 } else { self.options.block_share.max(1) };
        let share = sample.as_ref().map_or(recorded, |sample| sample.share);
        let device = &self.options.device;
        let wanted = device.registers(known(kernel), self.options.stated);
        let registers = device.fitting(wanted, geometry.threads());
        if registers.count < wanted.count {
            let (name, threads) = (module.kernel_name(member.index), geometry.threads());
            let (wanted, registers) = (wanted.count, registers.count);
            note_once(format!(
                "kernel {name}: {wanted} registers per thread, of which a block of {threads} threads can have {registers}; it \
                 runs as with these (a GPU would refuse this build with cudaErrorLaunchOutOfResources unless \
                 __launch_bounds__({threads}) permits it)"
            ));
        }
        let launch = Launch {
            id,
            module: module.id,
            function: kernel.function,
            grid: configuration.grid,
            block: configuration.block,
            dynamic_shared: configuration.shared as u32,
            static_shared: kernel.static_shared,
            registers: registers.count,
            registers_assumed: registers.assumed,
            local_bytes: kernel.local_bytes,
            resident_blocks: resident,
            block_share: if traced { share } else { 0 },
            stream: configuration.stream,
            path,
        };
        let function = kernel.function;
        self.describe_shared(member, traced);
        self.record_carveout(id, member);
        self.order_work(Some(configuration.stream));
        self.trace.event(Event::Launch(launch));
        if cluster::blocks(geometry.cluster) > 1 {
            self.trace.event(Event::Clusters { launch: id, shape: geometry.cluster });
        }
        self.write_sample_position(&counted);
        if traced {
            self.write_arguments(id, (member, function), parameters);
        }
        self.children.limit = self.limits.other[1];
        // The records of a launch that is only checked go to a trace that is not written.
        let checked = self.always_check && !self.trace.is_on();
        let hooked = self.modules[member.module].is_hooked();
        let share = if traced { Some(share) } else { (checked && hooked).then_some(1) };
        let before = self.trace.recorded_bytes();
        let sample = sample.map(|sample| sample.blocks);
        let stop = self.run(member, geometry, resident, share, (sample, parameters), path);
        self.count_work(&counted, Some(self.trace.recorded_bytes() - before));
        stop
    }

    /// Runs the kernel and writes the launch's remaining events.
    fn run(
        &mut self,
        member: Member,
        geometry: Geometry,
        resident: u32,
        share: Option<u64>,
        (sample, parameters): (Option<BTreeSet<u64>>, &[u64]),
        path: PathId,
    ) -> Option<Stop> {
        let id = self.launches - 1;
        let epoch = self.memory.registry.epoch;
        let check = self.options.check;
        let module = &mut self.modules[member.module];
        let interleave = self.options.interleave && module.is_hooked();
        // Blocks that do not run, and code that is not checked, may write any memory.
        let followed =
            self.memory.shadow.is_some() && sample.is_none() && initialisation::sees_all(module, member.index);
        if !followed {
            self.memory.assume_written();
        }
        if let Some(values) = self.values.as_mut() {
            values.begin_launch(id);
        }
        let rounds = self.roundings.is_some() && module.is_hooked();
        let is_hidden = self.roundings.is_some() && !initialisation::sees_all(module, member.index);
        if let Some(roundings) = self.roundings.as_mut() {
            roundings.begin_launch(id, &self.memory);
        }
        module.refresh_ranges(epoch, check, interleave || followed || rounds);
        if let Some(stops) = &mut self.stops {
            stops.begin(module, path);
        }
        let sites = module.table.sites.len();
        let count_cells = module.descriptor().count_cells as usize;
        let mut counts = vec![0u64; if share.is_some() { count_cells } else { 0 }];
        let kernel = &module.kernels()[member.index];
        // Only the scheduler tracks which warps wait at named barriers; block-by-block execution does not.
        let named = kernel.flags & kernel_flags::NAMED_BARRIERS != 0;
        let clustered = cluster::blocks(geometry.cluster) > 1;
        let waits = named || clustered || kernel.flags & kernel_flags::MAY_WAIT != 0;
        let barrier = kernel.flags & kernel_flags::BARRIER != 0;
        // A stack that overflows is reported at once, which only one thread may do.
        let parallel = kernel_flags::INDEPENDENT_BLOCKS;
        let independent = kernel.flags & (parallel | kernel_flags::UNBOUNDED_STACK) == parallel;
        let with_hooks = module.hooked_kernel(member.index);
        let deep =
            (kernel.flags | with_hooks.flags) & (kernel_flags::UNBOUNDED_STACK | kernel_flags::LARGE_FRAMES) != 0;
        let serial = serial_function(kernel, parameters, &self.memory.registry);
        let linear = serial.or(kernel.native_linear);
        let native = choose(geometry.block, linear, kernel.native_half, kernel.native_general);
        // If there is no version without hooks, blocks that are not traced also run with hooks.
        let all_hooked =
            interleave || followed || rounds || (module.is_hooked() && (self.always_check || native.is_none()));
        let hooked =
            choose(geometry.block, with_hooks.hooked_linear, with_hooks.hooked_half, with_hooks.hooked_general);
        let shape = Shape {
            blocks: geometry.blocks(),
            warps: geometry.warps(),
            sms: self.options.device.sms,
            resident,
            turn: self.options.device.turn,
            cluster: cluster::blocks(geometry.cluster) as u32,
            order: if interleave { self.options.device.order.interleaved() } else { self.options.device.order },
        };
        let threads = geometry.thread_table();
        let plan = Plan {
            geometry,
            hooked: hooked.filter(|_| all_hooked || share.is_some()),
            native,
            share: share.unwrap_or(0),
            sample: sample.as_ref(),
            arguments: parameters.as_ptr().cast(),
            counts: counts.as_mut_ptr(),
            cells: counts.len(),
            counted_blocks: if counts.is_empty() { 0..0 } else { module.reachable_blocks(kernel.function) },
            stack_bytes: if deep { DEEP_STACK_BYTES } else { STACK_BYTES },
            slots_per_sm: shape.slots_per_sm(),
            threads: &threads,
            // Each turn then contains one access, and no block runs ahead of the others.
            clusters: named || clustered,
            waits: waits || interleave,
            interleave,
            initialisation: followed,
            all_hooked,
        };
        let mut running = Running {
            scheduler: null_mut(),
            current: null_mut(),
            mode: Mode::Scheduled,
            pause: Pause::Finished,
            stop: None,
            fault_warp: null_mut(),
            trace: &raw mut self.trace,
            memory: &raw mut self.memory,
            module: &raw mut self.modules[member.module],
            kernel: member.index,
            launch: id,
            check,
            tolerant: self.by_hand,
            reserved_shared: geometry.reserved_shared,
            interleave,
            open_ranges: Vec::new(),
            initialisation: followed.then(|| Initialisation::new(sites, self.options.check_init)),
            values: self.values.as_mut().filter(|_| followed).map_or(null_mut(), |values| values),
            roundings: self.roundings.as_mut().map_or(null_mut(), |roundings| roundings),
            floats: self.floats.as_mut().map_or(null_mut(), |floats| floats),
            stops: self.stops.as_mut().map_or(null_mut(), |stops| stops),
            parameters: addresses_of(parameters),
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
        };
        let running_now = &raw mut running;
        let mut warp_blocks = Vec::new();
        // SAFETY: all data to which the launch points is in `self` or in this frame; nothing else uses it until the
        // launch has ended.
        unsafe {
            let guard = Guard::install(running_now);
            let mut caught = None;
            let entry = plan.hooked.or(plan.native);
            let scheduled = plan.hooked.is_some() || plan.waits || plan.sample.is_some();
            self.arena.spare_counts.resize(count_cells, 0);
            // Blocks are assigned to the SMs in turn, so a small grid leaves the last SMs empty.
            let used_sms = u64::from(shape.sms).min(shape.blocks);
            // Without a trace, nothing depends on the order of independent blocks.
            let threads = if independent && !self.trace.is_on() { parallel::threads().min(shape.blocks) } else { 1 };
            let residents = if scheduled { u64::from(resident) * used_sms } else { threads };
            let entry = entry.filter(|_| match self.arena.prepare(&geometry, residents) {
                Ok(()) => true,
                Err(cause) => {
                    message::note(&cause.to_string());
                    (*running_now).stop = Some(Stop::OutOfMemory);
                    false
                }
            });
            (*running_now).stacks_end = self.arena.locals_end();
            match entry {
                None => {
                    (*running_now).stop.get_or_insert(Stop::IllegalInstruction);
                }
                Some(_) if scheduled => {
                    let trace = &raw mut self.trace;
                    let mut warps = Scheduled::new(plan, running_now, trace, &mut self.arena, residents as usize);
                    let stopped = schedule::run(&shape, &mut warps).is_err();
                    warp_blocks = warps.finish(stopped);
                }
                Some(entry) => {
                    let form = Form { entry, barrier, threads };
                    caught = run_blocks(&plan, form, running_now, &mut self.arena);
                }
            }
            if let Some(caught) = caught.or_else(|| guard.caught()) {
                report_caught(running_now, caught);
            }
        }
        self.clock += running.clock_end;
        // SAFETY: the pointer is null, or refers to a warp of this launch, which is still in the arena.
        let last_block = unsafe { running.fault_warp.as_ref() }.map_or(0, |warp| warp.context.block);
        let Running { stop, faults, divergent, different, parted, initialisation, .. } = running;
        for event in self.floats.iter_mut().flat_map(Floats::end_launch) {
            self.trace.event(event);
        }
        let values = self.values.as_mut().filter(|_| followed).map(|values| values.end_launch(&self.memory));
        for event in values.into_iter().flatten() {
            self.trace.event(event);
        }
        if let Some(roundings) = self.roundings.as_mut() {
            roundings.end_launch(&self.memory, is_hidden);
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
        if share.is_some() && !parted.is_empty() {
            self.trace.event(Event::Parted { launch: id, branches: parted.into_iter().collect() });
        }
        if !warp_blocks.is_empty() {
            self.trace.event(Event::WarpBlocks { launch: id, blocks: warp_blocks });
        }
        let (blocks, branches) = count_events(&self.modules[member.module], &counts);
        let error = stop.as_ref().map_or(error::SUCCESS, code_of);
        if let Some(cause) = stop {
            self.stopped(id, cause, last_block);
        }
        self.trace.event(Event::LaunchEnd(LaunchEnd { id, error, blocks, branches }));
        for live in std::mem::take(&mut self.heap.freed) {
            self.memory.reclaim(&live);
            self.trace.event(Event::Free { id: live.id, path: 0 });
        }
        let lost = self.printed.end_launch();
        if lost > 0 {
            let name = self.modules[member.module].kernel_name(member.index);
            note_once(format!(
                "kernel {name} printed more than the device's buffer holds ({} bytes): {lost} calls of printf, the oldest of the \
                 launch, are lost, as on a GPU; cudaDeviceSetLimit(cudaLimitPrintfFifoSize, …) makes it larger",
                self.limits.printf
            ));
        }
        // On a GPU, the next launch prints the waiting output. After a failure, no further call of the program would
        // print it.
        if stop.is_some() || self.printed.len() as u64 > self.limits.printf {
            self.flush_output();
        }
        stop
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

/// Copies a launch's arguments into a parameter buffer.
///
/// # Safety
/// The requirements of [`Runtime::launch`] apply.
unsafe fn pack(kernel: &KernelDescriptor, arguments: *const *const c_void) -> Result<Vec<u64>, Error> {
    let mut buffer = vec![0u64; (kernel.parameter_bytes as usize).div_ceil(8).next_multiple_of(8)];
    if kernel.parameter_count == 0 {
        return Ok(buffer);
    }
    if arguments.is_null() {
        return Err(error::INVALID_VALUE);
    }
    // SAFETY: the array belongs to the descriptor; the program passes one pointer per parameter; offsets and sizes are
    // within `parameter_bytes`.
    unsafe {
        let parameters = std::slice::from_raw_parts(kernel.parameters, kernel.parameter_count as usize);
        for (index, parameter) in parameters.iter().enumerate() {
            let value = *arguments.add(index);
            if value.is_null() || parameter.offset + parameter.size > kernel.parameter_bytes {
                return Err(error::INVALID_VALUE);
            }
            let to = buffer.as_mut_ptr().cast::<u8>().add(parameter.offset as usize);
            std::ptr::copy_nonoverlapping(value.cast::<u8>(), to, parameter.size as usize);
        }
    }
    Ok(buffer)
}

/// Reports a fault that the processor found.
///
/// # Safety
/// `running` is a launch whose warps are still in the arena.
unsafe fn report_caught(running: *mut Running, caught: crate::device::faults::signal::Caught) {
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
