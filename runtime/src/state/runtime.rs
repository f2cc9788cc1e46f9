//! State of the runtime in this process, behind one lock.

use crate::cuda::error::{self, Error};
use crate::device::children::queue::Children;
use crate::device::execution::arena::Arena;
use crate::device::execution::warp::Heap;
use crate::device::floats::Floats;
use crate::device::stops::Stops;
use crate::device::values::Values;
use crate::graphs::{Captures, Graphs};
use crate::launches::fetched::Fetched;
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
use crate::paths::{Entry, Frames, capture, interpreted};
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

/// What a host stub stands for.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// Lowered code.
    Lowered(Member),
    /// Code that was not rebuilt: its name.
    Foreign(String),
}

/// Device limits that a program can set.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of stack per thread.
    pub stack: u64,
    /// Bytes of the `printf` buffer.
    pub printf: u64,
    /// Device-side synchronisation depth and pending launches, L2 granularity, persisting L2: kept and given back.
    pub other: [u64; 4],
}

impl Limits {
    /// CUDA's own.
    pub const DEFAULT: Limits = Limits { stack: 1024, printf: 1 << 20, other: [2, 2048, 64, 0] };
}

/// Everything.
#[derive(Debug)]
pub struct Runtime {
    /// Process that the runtime was set up in.
    process: u32,
    /// Options of `warpline run`.
    pub options: Options,
    /// The program was not started by it.
    pub by_hand: bool,
    /// Device memory.
    pub memory: DeviceMemory,
    /// Execution memory.
    pub arena: Arena,
    /// The trace.
    pub trace: Trace,
    /// The floating-point check, if the run has it.
    pub floats: Option<Floats>,
    /// Follows the values of accesses, if the run does so.
    pub values: Option<Values>,
    /// What continues after sections with traces of their own, the last one begun last.
    pub sections: Vec<Outer>,
    /// Modules, in order of registration.
    pub modules: Vec<Module>,
    /// What each handle stands for.
    pub registered: Vec<Registered>,
    /// Kernels by the address of their host stub.
    pub kernels: HashMap<usize, Kernel>,
    /// Modules that the program loaded, by handle.
    pub loaded: HashMap<Handle, Loaded>,
    /// Variables by the address of their host shadow.
    pub variables: HashMap<usize, Member>,
    /// Host allocations.
    pub host: HostAllocations,
    /// Host memory that was copied from the device.
    pub fetched: Fetched,
    /// Accesses at which the program stops.
    pub stops: Option<Stops>,
    /// Device heap.
    pub heap: Heap,
    /// What the running kernel launches.
    pub children: Children,
    /// Collected `printf` output.
    pub printed: Printed,
    /// Error that every call returns until the device is reset.
    pub sticky: Error,
    /// Error of a kernel that no call has returned yet.
    pub deferred: Error,
    /// Kernels that ended early, launches that did not begin.
    pub failures: Failures,
    /// Calls that returned an error.
    pub failed_calls: FailedCalls,
    /// Settings without effect that the trace names.
    pub without_effect: WithoutEffect,
    /// Launches so far.
    pub launches: u64,
    /// Of these, of kernels that the filter chooses.
    pub chosen: u64,
    /// Chooses among those that may be traced, where there is a budget.
    pub sampler: Option<Sampler>,
    /// Between `cudaProfilerStop` and `cudaProfilerStart` it is not.
    pub profiling: bool,
    /// Launches that are not recorded run with hooks, too, which check their accesses.
    pub always_check: bool,
    /// Where not 0, no more blocks of a launch run than these: its results do not matter, only what the model makes of
    /// it.
    pub most_blocks: u64,
    /// In a section that is only estimated: all is recorded, also what the run's filters leave out, as what a program
    /// does (which configuration its tuning takes) must not depend on them.
    pub estimating: bool,
    /// Kernel filter.
    pub filter: Option<regex_lite::Regex>,
    /// Limits.
    pub limits: Limits,
    /// Division of L1 and shared memory that the program prefers for kernels without a preference of their own.
    pub carveout: CarveoutPreference,
    /// Streams and events.
    pub streams: Streams,
    /// Memory pools.
    pub pools: Pools,
    /// Graphs.
    pub graphs: Graphs,
    /// Streams that are being captured.
    pub captures: Captures,
    /// Workspace of cooperative launches, from the first of them on.
    pub workspace: Option<u64>,
    /// Contexts of the driver API.
    pub contexts: Contexts,
    /// Virtual clock, nanoseconds.
    pub clock: u64,
    /// Flags given to `cudaSetDeviceFlags`.
    pub device_flags: u32,
}

static RUNTIME: OnceLock<Option<Mutex<Runtime>>> = OnceLock::new();

thread_local! {
    static LAST: Cell<Error> = const { Cell::new(error::SUCCESS) };
}

/// Returns the runtime, set up at first use; `None` where that is impossible, which has been reported.
pub fn lock() -> Option<Locked> {
    lock_for(|| None)
}

/// [`lock`], with the architecture of the program for the first use.
pub fn lock_for(architecture: impl FnOnce() -> Option<u32>) -> Option<Locked> {
    let runtime = RUNTIME.get_or_init(|| match Runtime::new(architecture()) {
        Ok(runtime) => {
            extern "C" fn at_exit() {
                finish();
            }
            // SAFETY: registers a function without arguments.
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

/// Locks the runtime without beginning a call: what host code has accessed since the last call stays open to it.
fn lock_closed(runtime: &'static Mutex<Runtime>) -> Locked {
    Locked(runtime.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// The runtime, while this thread has it. Device memory is open for as long, and closed to host code afterwards if the run
/// checks host accesses.
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

/// Host code accessed a byte that is closed to it; `path` returns the call path of the access. The allocation is open to
/// host code from here to the next call. Returns whether the byte is one of the device's memory.
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

/// End of the program: what is collected goes out, and the trace is complete. What a forked child finds collected is
/// its parent's; the writer tracks whether it has a trace of its own.
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

/// Runs an API call; its error becomes the thread's last one.
pub fn call(body: impl FnOnce(&mut Runtime) -> Result<(), Error>) -> Error {
    call_any(|runtime| {
        runtime.settle()?;
        body(runtime)
    })
}

/// [`call`] for functions that the profile names if they fail. An error that an earlier kernel left is not a failure of
/// the call, as the kernel is reported. `launches` is the number of launches that the function makes, which are counted
/// where an error is in their way.
pub fn call_as(call: Call, launches: u64, body: impl FnOnce(&mut Runtime) -> Result<(), Error>) -> Error {
    call_any(|runtime| {
        runtime.settle().inspect_err(|_| runtime.refused(launches))?;
        runtime.failed_calls.begin();
        body(runtime).inspect_err(|code| runtime.failed_call(call, *code))
    })
}

/// [`call`] for functions that work after a sticky error, too.
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

/// `cudaGetLastError` and `cudaPeekAtLastError`.
pub fn last_error(reset: bool) -> Error {
    let last = LAST.get();
    if reset {
        // An error that no call survives stays.
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
        // Started by hand, a program finds a GPU of the kind that it was built for.
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
            // Slots and SMs in the trace are those of the GPU that the kernels run on.
            options.device = device.clone();
        } else if crate::real::active() {
            options.device.name.push_str(" (emulated)");
        }
        options.interleave |= std::env::var(INTERLEAVE_VARIABLE).is_ok_and(|value| value == "1");
        // The program's copy writes the trace.
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
        Ok(runtime)
    }

    /// Begins a trace: the program and its device.
    pub(crate) fn write_program(&mut self) {
        let arguments = std::fs::read("/proc/self/cmdline").unwrap_or_default();
        let arguments = arguments.strip_suffix(&[0]).unwrap_or(&arguments).split(|byte| *byte == 0).skip(1);
        let mut arguments: Vec<_> = arguments.map(|argument| String::from_utf8_lossy(argument).into_owned()).collect();
        // What Warpline's Python package puts in front of the user's script.
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

    /// Begins the floating-point check, if the run has it.
    fn check_floats(&mut self) {
        if self.options.check_float != FloatCheck::Off && !crate::real::active() && !emulation::is_the_gpu() {
            self.floats = Some(Floats::new(self.options.check_float == FloatCheck::Stop));
            self.trace.event(Event::FloatsChecked);
        }
    }

    /// Begins the initialisation check, if the run has it.
    fn check_initialisation(&mut self) -> Result<(), WindowError> {
        if self.options.check_init && !crate::real::active() && !emulation::is_the_gpu() {
            self.memory.shadow = Some(Shadow::new()?);
            self.memory.fills = true;
            self.trace.event(Event::InitialisationChecked);
        }
        Ok(())
    }

    /// Begins the check of host accesses, if the run has it.
    fn check_host_accesses(&mut self) {
        if self.options.check_host && !crate::real::active() && !emulation::is_the_gpu() {
            self.memory.host_guard = Some(HostGuard::default());
            self.trace.event(Event::HostChecked);
        }
    }

    /// Records an access of host code, and names it on the standard error once for each allocation.
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

    /// Begins to follow the values of accesses, if the run does so.
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

    /// Frees what the program allocated on the device, and clears errors. Module variables keep
    /// their places but get their initial content back; streams and events are gone.
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

    /// Returns the error that a kernel left behind.
    pub fn settle(&mut self) -> Result<(), Error> {
        if self.deferred != error::SUCCESS {
            self.sticky = std::mem::replace(&mut self.deferred, error::SUCCESS);
        }
        if self.sticky == error::SUCCESS { Ok(()) } else { Err(self.sticky) }
    }

    /// The program waits for the device: what kernels printed becomes visible.
    pub fn synchronise(&mut self) {
        self.flush_output();
        self.streams.order.wait_for_all();
    }

    /// Prints what kernels have printed.
    pub fn flush_output(&mut self) {
        self.printed.flush();
    }

    /// Writes the position of the work that comes next, if work of the program's streams can overlap. Work of no stream is a call that the host
    /// waits for, in the default stream.
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

    /// The number of the call path that leads to the API function.
    pub fn path(&mut self, entry: Entry) -> PathId {
        if !self.trace.is_on() {
            return 0;
        }
        let interpreted = interpreted::current();
        if interpreted.is_empty() { self.trace.path(capture(entry)) } else { self.trace.interpreted_path(interpreted) }
    }

    /// Returns the number of a path captured before.
    pub fn path_of(&mut self, frames: Frames) -> PathId {
        self.trace.path(frames)
    }

    /// Allocates device-reachable memory under the name that was set for the thread.
    pub fn allocate(&mut self, bytes: u64, kind: AllocationKind, entry: Entry) -> Result<u64, Error> {
        let name = crate::modules::names::take_name();
        let path = self.path(entry);
        self.allocate_as(bytes, Description { kind, name, path }, None).map(|(_, address)| address)
    }

    /// Allocates and writes the event to the trace.
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

    /// Ends an allocation of one of `kinds` that starts at `address`.
    pub fn free(&mut self, address: u64, kinds: &[AllocationKind], entry: Entry) -> Result<(), Error> {
        let known = self.memory.registry.at(address).is_some_and(|live| kinds.contains(&live.kind));
        let live = known.then(|| self.memory.free(address)).flatten().ok_or(error::INVALID_VALUE)?;
        let path = self.path(entry);
        self.trace.event(Event::Free { id: live.id, path });
        Ok(())
    }
}

/// Path of the running program.
pub(crate) fn executable() -> String {
    let path = std::fs::read_link("/proc/self/exe").map(|path| path.to_string_lossy().into_owned());
    path.unwrap_or_else(|_| "program".into())
}

/// CUDA's code for a failed allocation; a cause outside the program is reported.
pub fn memory_error(cause: MemoryError) -> Error {
    if let MemoryError::Window(cause) = cause {
        message::note(&cause.to_string());
    }
    error::MEMORY_ALLOCATION
}
