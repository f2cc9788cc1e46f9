//! Executable graphs on a GPU. Each executable graph that contains hooked kernels has a twin, made from a hooked copy
//! of its graph; a launch starts the twin. Each change of the executable graph is also made to the twin. If this is not
//! possible, the twin is never started again.

use super::error::TwinError;
use super::functions::{ExecutableHandle, GraphFunctions, graph_functions};
use super::twin::{Draft, Maker, Run, kernels_of, slots};
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::graph_types::GraphHandle;
use crate::cuda::types::{EventHandle, StreamHandle};
use crate::gpu::capturing::is_capturing;
use crate::gpu::devices::{Gpu, current, current_number, returned};
use crate::gpu::drain::items::LaunchShape;
use crate::gpu::drain::session::{Begun, TicketPlace};
use crate::gpu::kernels::LaunchRequest;
use crate::gpu::noted::{end, note_launch};
use crate::output::message::note_once;
use crate::real::emulation::shared_bits;
use crate::real::functions::{Real, real};
use crate::state::runtime::lock;
use std::collections::{HashMap, HashSet};
use std::ffi::c_ulonglong;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use warpline_format::options::Mode;

/// `cudaGraphInstantiateFlagDeviceLaunch`, `…UseNodePriority`.
const DEVICE_LAUNCH: c_ulonglong = 4;
const NODE_PRIORITY: c_ulonglong = 8;
/// `cudaEventDisableTiming`.
const NO_TIMING: u32 = 2;
/// `cudaErrorStreamCaptureWrongThread`.
const WRONG_THREAD: Error = 908;

/// The devices for which nodes of graphs were created, with one bit for each device. CUDA has no function that returns
/// a node's device.
static DEVICES: AtomicU64 = AtomicU64::new(0);

/// The streams that are being captured. During a capture, an allocation could invalidate it.
static CAPTURING: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);

type Shared = Arc<Mutex<ExecutableGraph>>;

/// Executable graphs by their handles; `None` stands for a graph that runs unchanged.
static KNOWN: LazyLock<Mutex<HashMap<usize, Option<Shared>>>> = LazyLock::new(Mutex::default);

pub(in crate::gpu) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An executable graph of the program.
pub(in crate::gpu) struct ExecutableGraph {
    pub(in crate::gpu) gpu: Arc<Gpu>,
    pub(in crate::gpu) runs: Vec<Run>,
    pub(in crate::gpu) twin: Option<Twin>,
    /// A twin that is not started any more, but may still run.
    pub(in crate::gpu) retired: Option<Twin>,
}

pub(in crate::gpu) struct Twin {
    pub(in crate::gpu) executable: usize,
    pub(in crate::gpu) graph: usize,
    /// For each node of the program's graph, the node of the twin's graph.
    pub(in crate::gpu) nodes: HashMap<usize, usize>,
    /// The event that is recorded after the twin's last launch.
    pub(in crate::gpu) event: usize,
    /// Whether the twin was updated from another graph, whose nodes differ from those that the program names.
    pub(in crate::gpu) updated: bool,
}

/// Records that a node was created for the calling thread's device.
pub fn node_made(real: &Real) {
    if let Ok(number) = current_number(real) {
        DEVICES.fetch_or(1 << (number & 63), Ordering::Relaxed);
    }
}

/// Records that a capture has begun.
pub fn capture_begun(stream: StreamHandle) {
    locked(&CAPTURING).insert(stream as usize);
}

/// Returns whether any stream is being captured.
pub(in crate::gpu) fn is_anyone_capturing() -> bool {
    !locked(&CAPTURING).is_empty()
}

/// Records that the program has tried to end a capture.
pub fn capture_ended(stream: StreamHandle, code: Error) {
    if code != WRONG_THREAD {
        locked(&CAPTURING).remove(&(stream as usize));
    }
}

pub(in crate::gpu) fn known(executable: ExecutableHandle) -> Option<Shared> {
    locked(&KNOWN).get(&(executable as usize)).cloned().flatten()
}

fn refuse(why: &str) {
    note_once(format!("a CUDA graph runs without hooks, so its kernels have no records:  {why}"));
}

pub(in crate::gpu) fn counted() -> bool {
    lock().is_some_and(|runtime| runtime.options.mode == Mode::Counters)
}

/// Records that a graph was made executable.
pub fn instantiated(executable: ExecutableHandle, graph: GraphHandle, flags: c_ulonglong) {
    let made = match (real(), graph_functions()) {
        // Nothing is recorded (WARPLINE=0), so the graph runs unchanged and no message is needed.
        _ if !lock().is_some_and(|runtime| runtime.trace.is_on()) => Ok(None),
        (Some(real), Some(functions)) => make(real, functions, graph, flags),
        _ => Err(TwinError::OldRuntime),
    };
    let made = made.unwrap_or_else(|why| {
        refuse(&why.to_string());
        None
    });
    let old = locked(&KNOWN).insert(executable as usize, made.map(|made| Arc::new(Mutex::new(made))));
    // The old graph was destroyed without a call of this file.
    old.flatten().into_iter().for_each(|old| dispose(&old));
}

fn make(
    real: &Real,
    functions: &GraphFunctions,
    graph: GraphHandle,
    flags: c_ulonglong,
) -> Result<Option<ExecutableGraph>, TwinError> {
    let (found, nodes) = kernels_of(real, functions, graph)?;
    if found.is_empty() {
        return Ok(None);
    }
    if flags & DEVICE_LAUNCH != 0 {
        return Err(TwinError::LaunchedByKernels);
    }
    if is_anyone_capturing() {
        return Err(TwinError::Capturing);
    }
    node_made(real);
    if DEVICES.load(Ordering::Relaxed).count_ones() != 1 {
        return Err(TwinError::SeveralGpus);
    }
    let gpu = current(real).map_err(|code| TwinError::Cuda { what: "the current GPU", code })?;
    let draft =
        Maker { real, functions, gpu: &gpu, counted: counted(), spare: Vec::new() }.draft(graph, &found, &nodes)?;
    if draft.graph == 0 {
        return Ok(Some(ExecutableGraph { gpu, runs: draft.runs, twin: None, retired: None }));
    }
    match executable_of(functions, &draft, flags) {
        Ok((executable, event)) => {
            let Draft { graph, nodes, runs } = draft;
            let twin = Some(Twin { executable, graph, nodes, event, updated: false });
            Ok(Some(ExecutableGraph { gpu, runs, twin, retired: None }))
        }
        Err(code) => {
            // SAFETY: the function has no arguments; this file owns the copy.
            unsafe { (real.last_error)() };
            unsafe { (functions.destroy)(draft.graph as GraphHandle) };
            gpu.session.let_go(draft.slots());
            Err(TwinError::Instantiate(code))
        }
    }
}

fn executable_of(functions: &GraphFunctions, draft: &Draft, flags: c_ulonglong) -> Result<(usize, usize), Error> {
    let (mut executable, mut event): (ExecutableHandle, EventHandle) = (null_mut(), null_mut());
    // SAFETY: the results go to local variables.
    let code = unsafe { (functions.create_event)(&raw mut event, NO_TIMING) };
    if code != error::SUCCESS {
        return Err(code);
    }
    // SAFETY: the copy is a graph.
    let code =
        unsafe { (functions.instantiate)(&raw mut executable, draft.graph as GraphHandle, flags & NODE_PRIORITY) };
    if code != error::SUCCESS {
        // SAFETY: this file created the event.
        unsafe { (functions.destroy_event)(event) };
        return Err(code);
    }
    Ok((executable as usize, event as usize))
}

/// `cudaGraphExecDestroy`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn destroy(
    real: unsafe extern "C" fn(ExecutableHandle) -> Error,
    executable: ExecutableHandle,
    _entry: Entry,
) -> Error {
    // The entry is removed before the real call, because afterwards the next executable graph may get the same handle.
    let gone = locked(&KNOWN).remove(&(executable as usize));
    // SAFETY: the caller fulfils the contract.
    let code = returned(unsafe { real(executable) });
    match gone {
        Some(gone) if code != error::SUCCESS => drop(locked(&KNOWN).insert(executable as usize, gone)),
        Some(Some(gone)) => dispose(&gone),
        _ => {}
    }
    code
}

/// Destroys a twin, which may still run, as CUDA allows for the program's own graph.
fn dispose(gone: &Mutex<ExecutableGraph>) {
    let Some(functions) = graph_functions() else { return };
    let mut gone = locked(gone);
    gone.gpu.session.let_go(slots(&gone.runs));
    gone.runs.clear();
    for twin in [gone.twin.take(), gone.retired.take()].into_iter().flatten() {
        // SAFETY: this file created all three; they are not used elsewhere.
        unsafe {
            (functions.destroy_executable)(twin.executable as ExecutableHandle);
            (functions.destroy)(twin.graph as GraphHandle);
            (functions.destroy_event)(twin.event as EventHandle);
        }
    }
}

impl ExecutableGraph {
    /// Retires the twin: it is never started again.
    pub(in crate::gpu) fn retire(&mut self, why: &str) {
        self.gpu.session.let_go(slots(&self.runs));
        self.runs.clear();
        if let Some(twin) = self.twin.take() {
            self.retired = Some(twin);
        }
        refuse(why);
    }

    /// Launches the program's own executable graph after the twin's last launch, because launches of one graph never
    /// overlap.
    fn original(&self, functions: &GraphFunctions, stream: StreamHandle, start: impl FnOnce() -> Error) -> Error {
        if let Some(twin) = self.twin.as_ref().or(self.retired.as_ref()) {
            // SAFETY: this file created the event; the stream is the program's.
            unsafe { (functions.wait_event)(stream, twin.event as EventHandle, 0) };
        }
        returned(start())
    }

    /// Marks the slots of all hooked kernels as busy, or none of them.
    fn occupy(&self) -> bool {
        let session = &self.gpu.session;
        let mine: Vec<u32> = slots(&self.enabled()).collect();
        for (index, &slot) in mine.iter().enumerate() {
            if !session.occupy(slot) {
                mine[..index].iter().for_each(|&slot| session.release_unused(slot));
                return false;
            }
        }
        true
    }

    fn enabled(&self) -> Vec<Run> {
        self.runs.iter().filter(|run| run.enabled).cloned().collect()
    }

    /// Writes the first events of all kernels. Returns the launches, and the slot of each hooked launch.
    fn note(&self, stream: StreamHandle, entry: Entry) -> Vec<(u64, Option<u32>)> {
        let mut launches = Vec::new();
        for run in self.enabled() {
            let wanted = LaunchRequest {
                stub: null(),
                grid: run.grid,
                block: run.block,
                arguments: null_mut(),
                shared: run.shared,
                stream,
            };
            let resident = run.resident.max(1);
            let noted = note_launch(&wanted, run.kernel, run.hook.is_some(), |_| resident, entry);
            let (Some(noted), hook) = (noted, run.hook) else { continue };
            launches.push((noted.id, hook.as_ref().map(|hook| hook.slot)));
            let Some(hook) = hook else { continue };
            let shape = LaunchShape {
                id: noted.id,
                threads: run.block.x * run.block.y * run.block.z,
                resident,
                sms: self.gpu.sms,
                shared_reserved: self.gpu.shared_reserved,
                shared_bits: shared_bits(),
                block_share: noted.share,
            };
            let ticket = TicketPlace(hook.memory.ticket as *mut u64);
            let begun = Begun { shape, layout: hook.layout, counted: noted.counted, discarded: !noted.traced, ticket };
            self.gpu.session.begin(hook.slot, begun);
        }
        launches
    }
}

/// `cudaGraphLaunch`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn launch(
    start: unsafe extern "C" fn(ExecutableHandle, StreamHandle) -> Error,
    executable: ExecutableHandle,
    stream: StreamHandle,
    entry: Entry,
) -> Error {
    // SAFETY: the caller fulfils the contract.
    let plain = || unsafe { start(executable, stream) };
    let (Some(real), Some(functions), Some(known)) = (real(), graph_functions(), known(executable)) else {
        if !locked(&KNOWN).contains_key(&(executable as usize)) {
            note_once("the kernels of CUDA graphs that a library made run, and are not in the profile".into());
        }
        return returned(plain());
    };
    // In a capture, the launch becomes a child graph of the captured graph.
    if is_capturing(real, stream) {
        return returned(plain());
    }
    let mut known = locked(&known);
    if known.twin.is_some() && !known.occupy() {
        known.retire("a kernel of it has been running for too long, or the device has stopped with an error");
    }
    let Some((twin, event)) = known.twin.as_ref().map(|twin| (twin.executable, twin.event)) else {
        let launches = known.note(stream, entry);
        let code = known.original(functions, stream, plain);
        launches.iter().for_each(|&(id, _)| end(id, code));
        return code;
    };
    let launches = known.note(stream, entry);
    // The records of a launch that is not in the trace would not be read.
    let all = launches.len() == known.enabled().len();
    // SAFETY: this file owns the twin; the stream is the program's.
    let code = if all { unsafe { start(twin as ExecutableHandle, stream) } } else { error::NOT_READY };
    if code == error::SUCCESS {
        // SAFETY: this file created the event.
        unsafe { (functions.record_event)(event as EventHandle, stream) };
        launches.iter().filter(|launch| launch.1.is_none()).for_each(|&(id, _)| end(id, code));
        return code;
    }
    // The hooks may have caused the error, so the program's own graph is launched. SAFETY: the function has no
    // arguments.
    unsafe { (real.last_error)() };
    slots(&known.enabled()).for_each(|slot| known.gpu.session.release_unused(slot));
    let original = known.original(functions, stream, plain);
    if original == error::SUCCESS {
        known.retire(&format!("with hooks it cannot be launched (CUDA error {code})"));
    }
    launches.iter().for_each(|&(id, _)| end(id, original));
    original
}
