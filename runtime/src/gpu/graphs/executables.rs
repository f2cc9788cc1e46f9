//! Executable graphs on a GPU. Each that has hooked kernels has a twin, made from a hooked copy of its graph;
//! a launch starts the twin. What changes the executable graph changes the twin too, and where that cannot be done the
//! twin is never started again.

use super::error::TwinError;
use super::functions::{ExecutableHandle, GraphFunctions, graph_functions};
use super::twin::{Draft, Maker, Run, kernels_of, slots};
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
use crate::paths::Entry;
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

/// Devices that nodes of graphs were made for, a bit each. A node's device cannot be queried.
static DEVICES: AtomicU64 = AtomicU64::new(0);

/// Streams that are being captured. Meanwhile an allocation could break the capture.
static CAPTURING: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);

type Shared = Arc<Mutex<ExecutableGraph>>;

/// Executable graphs by their handles; `None` is one that runs as it is.
static KNOWN: LazyLock<Mutex<HashMap<usize, Option<Shared>>>> = LazyLock::new(Mutex::default);

pub(in crate::gpu) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An executable graph of the program.
pub(in crate::gpu) struct ExecutableGraph {
    pub(in crate::gpu) gpu: Arc<Gpu>,
    pub(in crate::gpu) runs: Vec<Run>,
    pub(in crate::gpu) twin: Option<Twin>,
    /// A twin that is not started any more, and may still run.
    pub(in crate::gpu) retired: Option<Twin>,
}

pub(in crate::gpu) struct Twin {
    pub(in crate::gpu) executable: usize,
    pub(in crate::gpu) graph: usize,
    /// Nodes of its graph by those of the program's graph.
    pub(in crate::gpu) nodes: HashMap<usize, usize>,
    /// Behind its last launch.
    pub(in crate::gpu) event: usize,
    /// Updated from another graph, whose nodes are not those that the program names.
    pub(in crate::gpu) updated: bool,
}

/// Notes that a node was made for the calling thread's device.
pub fn node_made(real: &Real) {
    if let Ok(number) = current_number(real) {
        DEVICES.fetch_or(1 << (number & 63), Ordering::Relaxed);
    }
}

/// A capture has begun.
pub fn capture_begun(stream: StreamHandle) {
    locked(&CAPTURING).insert(stream as usize);
}

/// Returns whether some stream is being captured.
pub(in crate::gpu) fn is_anyone_capturing() -> bool {
    !locked(&CAPTURING).is_empty()
}

/// A capture was to end.
pub fn capture_ended(stream: StreamHandle, code: Error) {
    if code != WRONG_THREAD {
        locked(&CAPTURING).remove(&(stream as usize));
    }
}

pub(in crate::gpu) fn known(executable: ExecutableHandle) -> Option<Shared> {
    locked(&KNOWN).get(&(executable as usize)).cloned().flatten()
}

fn refuse(why: &str) {
    note_once(format!("a CUDA graph runs as it is, and its kernels have no records: {why}"));
}

pub(in crate::gpu) fn counted() -> bool {
    lock().is_some_and(|runtime| runtime.options.mode == Mode::Counters)
}

/// A graph was made executable.
pub fn instantiated(executable: ExecutableHandle, graph: GraphHandle, flags: c_ulonglong) {
    let made = match (real(), graph_functions()) {
        // Nothing is recorded (WARPLINE=0), so a graph may run as it is without a word.
        _ if !lock().is_some_and(|runtime| runtime.trace.is_on()) => Ok(None),
        (Some(real), Some(functions)) => make(real, functions, graph, flags),
        _ => Err(TwinError::OldRuntime),
    };
    let made = made.unwrap_or_else(|why| {
        refuse(&why.to_string());
        None
    });
    let old = locked(&KNOWN).insert(executable as usize, made.map(|made| Arc::new(Mutex::new(made))));
    // Destroyed without our knowledge.
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
            // SAFETY: no arguments; the copy is ours.
            unsafe { (real.last_error)() };
            unsafe { (functions.destroy)(draft.graph as GraphHandle) };
            gpu.session.let_go(draft.slots());
            Err(TwinError::Instantiate(code))
        }
    }
}

fn executable_of(functions: &GraphFunctions, draft: &Draft, flags: c_ulonglong) -> Result<(usize, usize), Error> {
    let (mut executable, mut event): (ExecutableHandle, EventHandle) = (null_mut(), null_mut());
    // SAFETY: results through pointers to locals.
    let code = unsafe { (functions.create_event)(&raw mut event, NO_TIMING) };
    if code != error::SUCCESS {
        return Err(code);
    }
    // SAFETY: the copy is a graph.
    let code =
        unsafe { (functions.instantiate)(&raw mut executable, draft.graph as GraphHandle, flags & NODE_PRIORITY) };
    if code != error::SUCCESS {
        // SAFETY: our event.
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
    // Before the real one, which lets the next executable graph have this handle.
    let gone = locked(&KNOWN).remove(&(executable as usize));
    // SAFETY: handed through.
    let code = returned(unsafe { real(executable) });
    match gone {
        Some(gone) if code != error::SUCCESS => drop(locked(&KNOWN).insert(executable as usize, gone)),
        Some(Some(gone)) => dispose(&gone),
        _ => {}
    }
    code
}

/// Destroys a twin, which may still run as the program's own may.
fn dispose(gone: &Mutex<ExecutableGraph>) {
    let Some(functions) = graph_functions() else { return };
    let mut gone = locked(gone);
    gone.gpu.session.let_go(slots(&gone.runs));
    gone.runs.clear();
    for twin in [gone.twin.take(), gone.retired.take()].into_iter().flatten() {
        // SAFETY: all three were created here and are not used elsewhere.
        unsafe {
            (functions.destroy_executable)(twin.executable as ExecutableHandle);
            (functions.destroy)(twin.graph as GraphHandle);
            (functions.destroy_event)(twin.event as EventHandle);
        }
    }
}

impl ExecutableGraph {
    /// Never starts the twin again.
    pub(in crate::gpu) fn retire(&mut self, why: &str) {
        self.gpu.session.let_go(slots(&self.runs));
        self.runs.clear();
        if let Some(twin) = self.twin.take() {
            self.retired = Some(twin);
        }
        refuse(why);
    }

    /// Launches the program's own executable graph, after the twin's last launch: launches of one graph never overlap.
    fn original(&self, functions: &GraphFunctions, stream: StreamHandle, start: impl FnOnce() -> Error) -> Error {
        if let Some(twin) = self.twin.as_ref().or(self.retired.as_ref()) {
            // SAFETY: our event, the program's stream.
            unsafe { (functions.wait_event)(stream, twin.event as EventHandle, 0) };
        }
        returned(start())
    }

    /// Makes the slots of all hooked kernels busy, or none.
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

    /// Writes the first events of all kernels. The launches, and the slot of each that is hooked.
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
    // SAFETY: handed through.
    let plain = || unsafe { start(executable, stream) };
    let (Some(real), Some(functions), Some(known)) = (real(), graph_functions(), known(executable)) else {
        if !locked(&KNOWN).contains_key(&(executable as usize)) {
            note_once("the kernels of CUDA graphs that a library made run, and are not in the profile".into());
        }
        return returned(plain());
    };
    // In a capture it becomes a graph inside the captured one.
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
    // SAFETY: the twin is ours; the stream is the program's.
    let code = if all { unsafe { start(twin as ExecutableHandle, stream) } } else { error::NOT_READY };
    if code == error::SUCCESS {
        // SAFETY: our event.
        unsafe { (functions.record_event)(event as EventHandle, stream) };
        launches.iter().filter(|launch| launch.1.is_none()).for_each(|&(id, _)| end(id, code));
        return code;
    }
    // The hooks may have caused the error, so the program's own graph is launched.
    // SAFETY: no arguments.
    unsafe { (real.last_error)() };
    slots(&known.enabled()).for_each(|slot| known.gpu.session.release_unused(slot));
    let original = known.original(functions, stream, plain);
    if original == error::SUCCESS {
        known.retire(&format!("with hooks it cannot be launched (CUDA error {code})"));
    }
    launches.iter().for_each(|&(id, _)| end(id, original));
    original
}
