//! The state of the runtime in this process, protected by one lock.

use crate::call_paths::{Entry, Frames, capture, interpreted};
use crate::cuda::error::{self, Error};
use crate::device::children::queue::Children;
use crate::device::execution::arena::Arena;
use crate::device::execution::warp::Heap;
use crate::device::floats::Floats;
use crate::device::rounding::Roundings;
use crate::device::stops::Stops;
use crate::device::values::Values;
use crate::graphs::{Captures, Graphs};
use crate::launches::fetched::Fetched;
use crate::launches::results::KeptResults;
use crate::memory::host::HostAllocations;
use crate::memory::host_guard::{HostGuard, host_access_message, is_host_visible};
use crate::memory::images::Images;
use crate::memory::registry::Live;
use crate::memory::shadow::Shadow;
use crate::memory::windows::WindowError;
use crate::memory::{Description, DeviceMemory, MemoryError};
use crate::modules::loaded::{Handle, Loaded};
use crate::modules::module::Member;
use crate::modules::module::{Module, Registered};
use crate::output::message;
use crate::output::printed::Printed;
use crate::real::emulation;
use crate::state::contexts::{self, Contexts};
use crate::state::failed_calls::{Call, FailedCalls};
use crate::state::failures::Failures;
use crate::state::outer::Outer;
use crate::state::pools::Pools;
use crate::state::streams::Streams;
use crate::state::without_effect::WithoutEffect;
use crate::trace::Trace;
use crate::trace::writer::Writer;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, OnceLock};
use warpline_format::budget::Sampler;
use warpline_format::carveout::CarveoutPreference;
use warpline_format::device::Device;
use warpline_format::event::{Allocation, AllocationId, AllocationKind, Event, HostAccess, PathId};
use warpline_format::options::{
    ENABLE_VARIABLE, FloatCheck, INTERLEAVE_VARIABLE, Options, Output, TRACE_VARIABLE, VARIABLE,
};
use warpline_format::rounding::Results;

/// The kernel that a host stub represents.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// Lowered code.
    Lowered(Member),
    /// Code that was not rebuilt; the value is its name.
    Foreign(String),
}

/// Device limits that a program can set.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The stack size per thread in bytes.
    pub stack: u64,
    /// The size of the `printf` buffer in bytes.
    pub printf: u64,
    /// Device-side synchronisation depth and pending launches, L2 granularity, persisting L2. These values are only
    /// stored and returned.
    pub other: [u64; 4],
}

impl Limits {
    /// CUDA's default limits.
    pub const DEFAULT: Limits = Limits { stack: 1024, printf: 1 << 20, other: [2, 2048, 64, 0] };
}

/// The complete state of the runtime.
#[derive(Debug)]
pub struct Runtime {
    /// The process that initialized the runtime.
    process: u32,
    /// Options of `warpline run`.
    pub options: Options,
    /// Whether the program was started without `warpline run`.
    pub by_hand: bool,
    /// Device memory.
    pub memory: DeviceMemory,
    /// Memory that the execution of launches uses.
    pub arena: Arena,
    /// The trace.
    pub trace: Trace,
    /// The floating-point check, if the run has it.
    pub floats: Option<Floats>,
    /// Tracks the values of accesses, if the run requests it.
    pub values: Option<Values>,
    /// Rounds elements of chosen allocations, if the run requests it.
    pub roundings: Option<Roundings>,
    /// The copies to the host of another run, or for another run.
    pub results: Option<KeptResults>,
    /// The states that continue after sections with their own traces; the section that was begun last is last.
    pub sections: Vec<Outer>,
    /// Modules, in order of registration.
    pub modules: Vec<Module>,
    /// For each handle, the registered module.
    pub registered: Vec<Registered>,
    /// Kernels, keyed by the address of their host stub.
    pub kernels: HashMap<usize, Kernel>,
    /// Modules that the program loaded, keyed by handle.
    pub loaded: HashMap<Handle, Loaded>,
    /// Variables, keyed by the address of their host shadow.
    pub variables: HashMap<usize, Member>,
    /// Host allocations.
    pub host: HostAllocations,
    /// Host memory that was copied from the device.
    pub fetched: Fetched,
    /// The accesses at which the program stops.
    pub stops: Option<Stops>,
    /// The device heap.
    pub heap: Heap,
    /// The launches of the running kernel.
    pub children: Children,
    /// The collected `printf` output.
    pub printed: Printed,
    /// The error that every call returns until the device is reset.
    pub sticky: Error,
    /// The error of a kernel that no call has returned yet.
    pub deferred: Error,
    /// Counts of kernels that ended early and of launches that did not start.
    pub failures: Failures,
    /// Calls that returned an error.
    pub failed_calls: FailedCalls,
    /// Settings without effect that the trace names.
    pub without_effect: WithoutEffect,
    /// The number of launches so far.
    pub launches: u64,
    /// The number of launches of kernels that the filter selects.
    pub chosen: u64,
    /// Selects among the launches that may be traced, if there is a budget.
    pub sampler: Option<Sampler>,
    /// Whether launches are recorded; this is false between `cudaProfilerStop` and `cudaProfilerStart`.
    pub profiling: bool,
    /// Whether launches that are not recorded also run with hooks, which check their accesses.
    pub always_check: bool,
    /// If not 0, the maximum number of blocks of a launch that run. The launch's results are then not used, only the
    /// model's prediction.
    pub most_blocks: u64,
    /// Whether a section is active that is only estimated. In such a section, everything is recorded, including
    /// launches that the run's filters exclude, because the program's behaviour (for example, the configuration that it
    /// selects by tuning) must not depend on the filters.
    pub estimating: bool,
    /// The kernel filter.
    pub filter: Option<regex_lite::Regex>,
    /// Limits.
    pub limits: Limits,
    /// The division of L1 and shared memory that the program prefers for kernels without a preference of their own.
    pub carveout: CarveoutPreference,
    /// Streams and events.
    pub streams: Streams,
    /// Memory pools.
    pub pools: Pools,
    /// Graphs.
    pub graphs: Graphs,
    /// Streams that are being captured.
    pub captures: Captures,
    /// The workspace of cooperative launches, after the first such launch.
    pub workspace: Option<u64>,
    /// Contexts of the driver API.
    pub contexts: Contexts,
    /// The virtual clock in nanoseconds.
    pub clock: u64,
    /// The flags that the program passed to `cudaSetDeviceFlags`.
    pub device_flags: u32,
}

static RUNTIME: OnceLock<Option<Mutex<Runtime>>> = OnceLock::new();

thread_local! {
    static LAST: Cell<Error> = const { Cell::new(error::SUCCESS) };
}

/// Returns the runtime, which is initialized at first use. Returns `None`, after an error message, if this is not
/// possible.
pub fn lock() -> Option<Locked> {
    lock_for(|| None)
}

/// The variant of [`lock`] that provides the architecture of the program for the first use.
pub fn lock_for(architecture: impl FnOnce() -> Option<u32>) -> Option<Locked> {
    let runtime = RUNTIME.get_or_init(|| match Runtime::new(architecture()) {
        Ok(runtime) => {
            extern "C" fn at_exit() {
                finish();
            }
            // SAFETY: the function that is registered has no arguments.
            unsafe { libc::atexit(at_exit) };
            Some(Mutex::new(runtime))
        }
        Err(error) => {
            message::note(&format!("the CPU device cannot start: {error}"));
            None
        }
    });
    let mut locked = lock_closed(runtime.as_ref()?);
    locked.memory.begin_call();
    Some(locked)
}

/// Locks the runtime without beginning a call: memory that host code has accessed since the last call stays open to it.
fn lock_closed(runtime: &'static Mutex<Runtime>) -> Locked {
    Locked(runtime.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// The runtime, while this thread holds its lock. Device memory is open during this time. Afterwards it is closed to host
/// code if the run checks host accesses.
#[derive(Debug)]
pub struct Locked(MutexGuard<'static, Runtime>);

impl Deref for Locked {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.0
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut Runtime {
        &mut self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let may_run = self.0.streams.order.is_unfinished();
        self.0.memory.end_call(may_run);
    }
}

/// Records that host code accessed a byte that is closed to it; `path` returns the call path of the access. The
/// allocation is then open to host code until the next call. Returns whether the byte is in the device's memory.
pub fn host_accessed(address: u64, is_store: bool, path: impl FnOnce() -> Frames) -> bool {
    let Some(Some(runtime)) = RUNTIME.get() else { return false };
    let mut runtime = lock_closed(runtime);
    let Some(opened) = runtime.memory.open_to_host(address) else { return false };
    if let Some(live) = opened {
        let path = path();
        runtime.report_host_access(&live, address, is_store, path);
    }
    true
}

/// Called at the end of the program: prints the collected output and completes the trace. In a forked child, the
/// collected output belongs to the parent; the writer tracks whether the child has its own trace.
fn finish() {
    if let Some(Some(runtime)) = RUNTIME.get()
        && let Ok(mut runtime) = runtime.try_lock()
    {
        runtime.memory.begin_call();
        if runtime.process == std::process::id() {
            runtime.printed.flush();
        }
        runtime.report_failures();
        let launches = runtime.launches;
        runtime.trace.finish(launches);
    }
}

/// Runs an API call and stores its error as the thread's last error.
pub fn call(body: impl FnOnce(&mut Runtime) -> Result<(), Error>) -> Error {
    call_any(|runtime| {
        runtime.settle()?;
        body(runtime)
    })
}

/// The variant of [`call`] for functions that the profile names if they fail. An error that an earlier kernel caused is
/// not a failure of the call, because the kernel is reported. `launches` is the number of launches that the function
/// makes; they are counted if an error prevents them.
pub fn call_as(call: Call, launches: u64, body: impl FnOnce(&mut Runtime) -> Result<(), Error>) -> Error {
    call_any(|runtime| {
        runtime.settle().inspect_err(|_| runtime.refused(launches))?;
        runtime.failed_calls.begin();
        body(runtime).inspect_err(|code| runtime.failed_call(call, *code))
    })
}

/// The variant of [`call`] for functions that also work after a sticky error.
pub fn call_any(body: impl FnOnce(&mut Runtime) -> Result<(), Error>) -> Error {
    contexts::runtime_used();
    let result = match lock() {
        Some(mut runtime) => body(&mut runtime),
        None => Err(error::INITIALIZATION_ERROR),
    };
    match result {
        Ok(()) => error::SUCCESS,
        Err(code) => {
            // "Not ready" is an answer, not an error.
            if code != error::NOT_READY {
                LAST.set(code);
            }
            code
        }
    }
}

/// Implements `cudaGetLastError` and `cudaPeekAtLastError`.
pub fn last_error(reset: bool) -> Error {
    let last = LAST.get();
    if reset {
        // A sticky error is not cleared.
        let sticky = lock().map_or(error::SUCCESS, |runtime| runtime.sticky);
        LAST.set(sticky);
    }
    last
}

/// Clears the thread's last error, as a device reset does.
pub fn clear_error() {
    LAST.set(error::SUCCESS);
}

impl Runtime {
    fn new(architecture: Option<u32>) -> Result<Runtime, WindowError> {
        // A program that was started without `warpline run` runs on a model of the GPU for which it was built.
        let by_hand = || Options { device: Device::for_architecture(architecture.unwrap_or(0)), ..Options::default() };
        let mut options = match std::env::var(VARIABLE) {
            Ok(text) => Options::decode(&text).unwrap_or_else(|error| {
                message::note(&error.to_string());
                by_hand()
            }),
            Err(_) => by_hand(),
        };
        if options.output == Output::Nowhere
            && let Some(place) = std::env::var(TRACE_VARIABLE).ok().filter(|place| !place.is_empty())
        {
            options.output =
                if std::path::Path::new(&place).is_dir() { Output::Folder(place) } else { Output::File(place) };
        }
        if let Some(device) = crate::real::found() {
            // Slots and SMs in the trace are those of the GPU on which the kernels run.
            options.device = device.clone();
        } else if crate::real::active() {
            options.device.name.push_str(" (emulated)");
        }
        options.interleave |= std::env::var(INTERLEAVE_VARIABLE).is_ok_and(|value| value == "1");
        // The program's copy of the runtime writes the trace.
        let enabled = options.output != Output::Nowhere
            && std::env::var(ENABLE_VARIABLE).map_or(true, |value| value != "0")
            && !emulation::is_the_gpu();
        let writer = if enabled { Writer::new(options.output.clone(), executable()) } else { Writer::off() };
        let filter = options.kernels.as_deref().and_then(|pattern| {
            regex_lite::Regex::new(pattern)
                .inspect_err(|error| message::note(&format!("--kernels {pattern}: {error}; all kernels are traced")))
                .ok()
        });
        let mut runtime = Runtime {
            process: std::process::id(),
            memory: DeviceMemory::new(options.device.memory_bytes)?,
            arena: Arena::new(emulation::is_the_gpu().then_some(options.device.shared_reserved_per_block.into()))?,
            children: Children::new(&options),
            stops: options.stop_at.take().map(Stops::new),
            sampler: options.budget.map(Sampler::new),
            options,
            by_hand: std::env::var_os(VARIABLE).is_none(),
            trace: Trace::new(writer),
            floats: None,
            values: None,
            roundings: None,
            results: None,
            sections: Vec::new(),
            modules: Vec::new(),
            registered: Vec::new(),
            kernels: HashMap::new(),
            loaded: HashMap::new(),
            variables: HashMap::new(),
            host: HostAllocations::default(),
            fetched: Fetched::default(),
            heap: Heap::new(),
            printed: Printed::default(),
            sticky: error::SUCCESS,
            deferred: error::SUCCESS,
            failures: Failures::default(),
            failed_calls: FailedCalls::default(),
            without_effect: WithoutEffect::default(),
            launches: 0,
            chosen: 0,
            profiling: true,
            always_check: false,
            most_blocks: 0,
            estimating: false,
            filter,
            limits: Limits::DEFAULT,
            carveout: CarveoutPreference::Default,
            streams: Streams::default(),
            pools: Pools::default(),
            graphs: Graphs::default(),
            captures: Captures::default(),
            workspace: None,
            contexts: Contexts::default(),
            clock: 0,
            device_flags: 8,
        };
        runtime.write_program();
        runtime.check_initialisation()?;
        runtime.check_host_accesses();
        runtime.check_floats();
        runtime.follow_values()?;
        runtime.round_elements();
        Ok(runtime)
    }

    /// Begins a trace: writes the program and its device.
    pub(crate) fn write_program(&mut self) {
        let arguments = std::fs::read("/proc/self/cmdline").unwrap_or_default();
        let arguments = arguments.strip_suffix(&[0]).unwrap_or(&arguments).split(|byte| *byte == 0).skip(1);
        let mut arguments: Vec<_> = arguments.map(|argument| String::from_utf8_lossy(argument).into_owned()).collect();
        // Warpline's Python package inserts these arguments before the user's script.
        if arguments.starts_with(&["-m".to_owned(), "warpline._script".to_owned()]) {
            arguments.drain(..2);
        }
        self.trace.event(Event::Program { executable: executable(), arguments, device: self.options.device.clone() });
        if crate::real::active() {
            self.trace.event(Event::OnGpu);
        } else {
            self.trace.event(Event::WarpOrder(self.options.device.order));
        }
    }

    /// Begins the floating-point check, if the run requests it.
    fn check_floats(&mut self) {
        if self.options.check_float != FloatCheck::Off && !crate::real::active() && !emulation::is_the_gpu() {
            self.floats = Some(Floats::new(self.options.check_float == FloatCheck::Stop));
            self.trace.event(Event::FloatsChecked);
        }
    }

    /// Begins the initialisation check, if the run requests it.
    fn check_initialisation(&mut self) -> Result<(), WindowError> {
        if self.options.check_init && !crate::real::active() && !emulation::is_the_gpu() {
            self.memory.shadow = Some(Shadow::new()?);
            self.memory.fills = true;
            self.trace.event(Event::InitialisationChecked);
        }
        Ok(())
    }

    /// Begins the check of host accesses, if the run requests it.
    fn check_host_accesses(&mut self) {
        if self.options.check_host && !crate::real::active() && !emulation::is_the_gpu() {
            self.memory.host_guard = Some(HostGuard::default());
            self.trace.event(Event::HostChecked);
        }
    }

    /// Records an access of host code, and reports it on standard error once for each allocation.
    fn report_host_access(&mut self, live: &Live, address: u64, is_store: bool, frames: Frames) {
        let is_of_device = !is_host_visible(live.kind);
        if is_of_device {
            message::note_once(host_access_message(live, address, is_store));
        }
        if !self.trace.is_on() {
            return;
        }
        let interpreted = interpreted::current();
        let path =
            if interpreted.is_empty() { self.trace.path(frames) } else { self.trace.interpreted_path(interpreted) };
        let waited = (!is_of_device).then(|| self.streams.order.waited());
        let address = live.address + (address - live.start());
        self.trace.event(Event::HostAccess(HostAccess { allocation: live.id, address, is_store, path, waited }));
    }

    /// Begins to track the values of accesses, if the run requests it.
    fn follow_values(&mut self) -> Result<(), WindowError> {
        if self.options.memory_values && !crate::real::active() && !emulation::is_the_gpu() {
            if self.memory.shadow.is_none() {
                self.memory.shadow = Some(Shadow::new()?);
            }
            self.values = Some(Values::default());
            self.trace.event(Event::ValuesFollowed);
        }
        Ok(())
    }

    /// Begins to round the elements of allocations, if the run requests it.
    fn round_elements(&mut self) {
        let wanted = std::mem::take(&mut self.options.rounded);
        if !wanted.is_empty() && !crate::real::active() && !emulation::is_the_gpu() {
            let compares = matches!(self.options.results, Results::Compared(_));
            self.roundings = Some(Roundings::new(wanted, compares));
        }
        if !crate::real::active() && !emulation::is_the_gpu() {
            self.results = KeptResults::open(&self.options.results);
        }
    }

    /// Frees the program's allocations on the device, and clears errors. Module variables keep their addresses but get
    /// their initial content again; streams and events are destroyed.
    pub fn reset(&mut self, entry: Entry) {
        let path = self.path(entry);
        let kinds = [
            AllocationKind::Malloc,
            AllocationKind::Managed,
            AllocationKind::Pitch,
            AllocationKind::Async,
            AllocationKind::Host,
            AllocationKind::DeviceHeap,
            AllocationKind::Array,
            AllocationKind::Tensor,
            AllocationKind::Mapped,
        ];
        let gone: Vec<u64> =
            self.memory.registry.iter().filter(|live| kinds.contains(&live.kind)).map(|live| live.start()).collect();
        for start in gone {
            if let Some(live) = self.memory.free(start) {
                self.trace.event(Event::Free { id: live.id, path });
            }
        }
        for module in &self.modules {
            crate::modules::variables::fill_globals(module);
        }
        self.memory.images = Images::default();
        self.heap = Heap::new();
        self.streams = Streams::default();
        self.captures = Captures::default();
        self.limits = Limits::DEFAULT;
        self.carveout = CarveoutPreference::Default;
        self.sticky = error::SUCCESS;
        self.deferred = error::SUCCESS;
        self.failures.reset();
    }

    /// Returns the error of an earlier kernel that no call has returned yet.
    pub fn settle(&mut self) -> Result<(), Error> {
        if self.deferred != error::SUCCESS {
            self.sticky = std::mem::replace(&mut self.deferred, error::SUCCESS);
        }
        if self.sticky == error::SUCCESS { Ok(()) } else { Err(self.sticky) }
    }

    /// Called when the program waits for the device: prints the output of kernels.
    pub fn synchronise(&mut self) {
        self.flush_output();
        self.streams.order.wait_for_all();
    }

    /// Prints the collected output of kernels.
    pub fn flush_output(&mut self) {
        self.printed.flush();
    }

    /// Writes the position of the next work in the order of the streams, if work of the program's streams can overlap.
    /// Work without a stream is a call in the default stream for which the host waits.
    pub fn order_work(&mut self, stream: Option<u32>) {
        if !self.trace.is_on() || !self.streams.can_overlap() && self.memory.host_guard.is_none() {
            return;
        }
        let number = stream.unwrap_or(0);
        let blocking = self.streams.is_blocking(number);
        let order = self.streams.order.enqueue(number, blocking);
        self.trace.event(Event::WorkOrder(order));
        if stream.is_none() {
            self.streams.order.wait_for_stream(0, true);
        }
    }

    /// Returns the number of the call path that leads to the API function.
    pub fn path(&mut self, entry: Entry) -> PathId {
        if !self.trace.is_on() {
            return 0;
        }
        let interpreted = interpreted::current();
        if interpreted.is_empty() { self.trace.path(capture(entry)) } else { self.trace.interpreted_path(interpreted) }
    }

    /// Returns the number of a path that was captured before.
    pub fn path_of(&mut self, frames: Frames) -> PathId {
        self.trace.path(frames)
    }

    /// Allocates memory that the device can access, with the name that was set for the thread.
    pub fn allocate(&mut self, bytes: u64, kind: AllocationKind, entry: Entry) -> Result<u64, Error> {
        let name = crate::modules::names::take_name();
        let path = self.path(entry);
        self.allocate_as(bytes, Description { kind, name, path }, None).map(|(_, address)| address)
    }

    /// Allocates memory and writes the event to the trace.
    pub fn allocate_as(
        &mut self,
        bytes: u64,
        what: Description,
        global: Option<(u32, u32)>,
    ) -> Result<(AllocationId, u64), Error> {
        let live = self.memory.allocate(bytes, what).map_err(memory_error)?;
        let event = Allocation {
            id: live.id,
            kind: live.kind,
            address: live.address,
            bytes,
            name: live.name.clone(),
            path: live.path,
            global,
        };
        let result = (live.id, live.address);
        self.trace.event(Event::Allocation(event));
        Ok(result)
    }

    /// Frees an allocation of one of `kinds` that starts at `address`.
    pub fn free(&mut self, address: u64, kinds: &[AllocationKind], entry: Entry) -> Result<(), Error> {
        let known = self.memory.registry.at(address).is_some_and(|live| kinds.contains(&live.kind));
        let live = known.then(|| self.memory.free(address)).flatten().ok_or(error::INVALID_VALUE)?;
        let path = self.path(entry);
        self.trace.event(Event::Free { id: live.id, path });
        Ok(())
    }
}

/// Returns the path of the running program.
pub(crate) fn executable() -> String {
    let path = std::fs::read_link("/proc/self/exe").map(|path| path.to_string_lossy().into_owned());
    path.unwrap_or_else(|_| "program".into())
}

/// Returns CUDA's error code for a failed allocation, and reports a cause outside the program.
pub fn memory_error(cause: MemoryError) -> Error {
    if let MemoryError::Window(cause) = cause {
        message::note(&cause.to_string());
    }
    error::MEMORY_ALLOCATION
}
