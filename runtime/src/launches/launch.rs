//! A kernel launch: checks, filters, and the events before the kernel runs. `execute.rs` runs it.

use super::execute::Work;
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::device::execution::warp::{Geometry, Stop};
use crate::device::faults::cause::code_of;
use crate::modules::configuration::{Configuration, cluster_of, known};
use crate::modules::module::Member;
use crate::modules::module::{name, shared_variables};
use crate::output::message;
use crate::output::message::note_once;
use crate::state::launched::{Counted, Drawn, Launched};
use crate::state::runtime::{Kernel, Runtime};
use std::ffi::c_void;
use warpline_format::abi::{self, KernelDescriptor, kernel_flags};
use warpline_format::budget;
use warpline_format::carveout::CarveoutPreference;
use warpline_format::cluster;
use warpline_format::event::{Event, Launch, LaunchId, NotLaunched, SharedVariable};
use warpline_format::member::{Base, MemberAccess};
use warpline_format::occupancy::Registers;

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

    /// Writes the shared variables of a kernel that has several, or that indexes members of them, before its first
    /// traced launch.
    fn describe_shared(&mut self, member: Member, traced: bool) {
        let module = &self.modules[member.module];
        let kernel = &module.kernels()[member.index];
        let (function, variables) = (kernel.function, shared_variables(kernel));
        let indexes = |access: &MemberAccess| matches!(access.base, Base::Shared(_));
        let is_compared = variables.len() > 1 || module.table.member_accesses.iter().any(indexes);
        if !traced || variables.is_empty() || !is_compared || module.described.contains(&function) {
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
        self.complete_registers(member.module);
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

    fn geometry(&self, kernel: &KernelDescriptor, configuration: &Configuration, workspace: u64) -> Geometry {
        let local = u64::from(kernel.local_bytes);
        let unbounded = kernel.flags & kernel_flags::UNBOUNDED_STACK != 0;
        let local_limit = if unbounded { local + self.limits.stack.max(UNBOUNDED_LOCAL) } else { local };
        let local_limit = local_limit.next_multiple_of(64);
        let static_shared = u64::from(kernel.static_shared);
        Geometry {
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
            cluster: cluster_of(kernel, configuration),
        }
    }

    /// Returns the registers per thread of a kernel in blocks of this number of threads.
    fn fitting_registers(&self, member: Member, threads: u32) -> Registers {
        let module = &self.modules[member.module];
        let device = &self.options.device;
        let wanted = device.registers(known(module, member.index), self.options.stated);
        let registers = device.fitting(wanted, threads);
        if registers.count < wanted.count {
            let (name, wanted, registers) = (module.kernel_name(member.index), wanted.count, registers.count);
            note_once(format!(
                "kernel {name}: {wanted} registers per thread, of which a block of {threads} threads can have {registers}; it \
                 runs as with these (a GPU would refuse this build with cudaErrorLaunchOutOfResources unless \
                 __launch_bounds__({threads}) permits it)"
            ));
        }
        registers
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
        let geometry = self.geometry(kernel, &configuration, workspace);
        let sample = self.sample(member, &configuration);
        let recorded = if self.estimating { 1 } else { self.options.block_share.max(1) };
        let share = sample.as_ref().map_or(recorded, |sample| sample.share);
        let registers = self.fitting_registers(member, geometry.threads());
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
        let stop = self.run(&Work { id, member, geometry, resident, share, sample, parameters, path });
        self.count_work(&counted, Some(self.trace.recorded_bytes() - before));
        stop
    }
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
