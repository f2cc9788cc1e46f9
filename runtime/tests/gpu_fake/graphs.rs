//! Graphs of kernels with the real runtime's interface: nodes run in the order in which they were created. All
//! arguments are 64-bit words.

use super::{__wlreal_cudaLaunchKernel, FUNCTIONS, status};
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};
use warpline_runtime::cuda::graph_types::KernelParameters;
use warpline_runtime::cuda::types::Dim3;

/// The error that `cudaGraphLaunch` returns instead of launching: for all graphs, and for copies.
pub static LAUNCH_ERROR: AtomicI32 = AtomicI32::new(0);
pub static COPY_LAUNCH_ERROR: AtomicI32 = AtomicI32::new(0);
/// The error that `cudaStreamEndCapture` returns instead of a graph.
pub static CAPTURE_ERROR: AtomicI32 = AtomicI32::new(0);
/// The number of executable graphs that exist, and the number of graphs.
pub static EXECUTABLES: AtomicUsize = AtomicUsize::new(0);
pub static GRAPHS: AtomicUsize = AtomicUsize::new(0);

/// How often a stream was made to wait for an event.
pub static WAITS: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone)]
struct Kernel {
    stub: usize,
    grid: Dim3,
    block: Dim3,
    words: Box<[u64]>,
    /// The addresses of the words.
    places: Box<[usize]>,
}

struct Node {
    kernel: Kernel,
    origin: usize,
}

struct ExecutableNode {
    node: usize,
    kernel: Kernel,
    enabled: bool,
}

#[derive(Default)]
struct State {
    graphs: HashMap<usize, (bool, Vec<usize>)>,
    nodes: HashMap<usize, Node>,
    executables: HashMap<usize, (bool, Vec<ExecutableNode>)>,
    captures: HashMap<usize, usize>,
    last: usize,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap()
}

impl State {
    fn handle(&mut self) -> usize {
        self.last += 16;
        0x10_0000 + self.last
    }

    fn graph(&mut self, copy: bool) -> usize {
        GRAPHS.fetch_add(1, Ordering::SeqCst);
        let handle = self.handle();
        self.graphs.insert(handle, (copy, Vec::new()));
        handle
    }

    fn add(&mut self, graph: usize, kernel: Kernel, origin: usize) -> usize {
        let handle = self.handle();
        self.nodes.insert(handle, Node { kernel, origin });
        self.graphs.get_mut(&graph).unwrap().1.push(handle);
        handle
    }
}

/// # Safety
/// One pointer per parameter, each to 64 bits.
unsafe fn kernel(stub: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void) -> Kernel {
    let name = FUNCTIONS.lock().unwrap()[&(stub as usize)].clone();
    let count = match name.as_str() {
        "__warpline_finish" => 6,
        name if name.contains("__warpline") => 5,
        _ => 1,
    };
    // SAFETY: by the contract.
    let words: Box<[u64]> = (0..count).map(|index| unsafe { (*arguments.add(index)).cast::<u64>().read() }).collect();
    let places = words.iter().map(|word| std::ptr::from_ref(word) as usize).collect();
    Kernel { stub: stub as usize, grid, block, words, places }
}

/// # Safety
/// The requirements of [`kernel`] apply.
unsafe fn given(parameters: *const KernelParameters) -> Kernel {
    // SAFETY: by the contract.
    unsafe {
        let KernelParameters { stub, grid, block, arguments, .. } = *parameters;
        kernel(stub, grid, block, arguments)
    }
}

pub fn is_capturing(stream: usize) -> bool {
    state().captures.contains_key(&stream)
}

/// Adds a launch to a graph, if its stream is being captured.
///
/// # Safety
/// The requirements of [`kernel`] apply.
pub unsafe fn capture(
    stream: usize,
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
) -> bool {
    let Some(graph) = state().captures.get(&stream).copied() else { return false };
    // SAFETY: by the contract.
    let kernel = unsafe { kernel(stub, grid, block, arguments) };
    state().add(graph, kernel, 0);
    true
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaStreamBeginCapture(stream: *mut c_void, _mode: c_int) -> c_int {
    let mut state = state();
    let graph = state.graph(false);
    state.captures.insert(stream as usize, graph);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) -> c_int {
    let captured = state().captures.remove(&(stream as usize)).unwrap();
    let code = CAPTURE_ERROR.load(Ordering::SeqCst);
    unsafe { graph.write(if code == 0 { captured as _ } else { null_mut() }) };
    code
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphCreate(graph: *mut *mut c_void, _flags: c_uint) -> c_int {
    unsafe { graph.write(state().graph(false) as _) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphDestroy(graph: *mut c_void) -> c_int {
    let mut state = state();
    let (_, nodes) = state.graphs.remove(&(graph as usize)).unwrap();
    nodes.iter().for_each(|node| drop(state.nodes.remove(node).unwrap()));
    GRAPHS.fetch_sub(1, Ordering::SeqCst);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphClone(place: *mut *mut c_void, graph: *mut c_void) -> c_int {
    let mut state = state();
    let nodes = state.graphs[&(graph as usize)].1.clone();
    let copy = state.graph(true);
    for node in nodes {
        let Kernel { stub, grid, block, ref words, .. } = state.nodes[&node].kernel;
        let words = words.clone();
        let places = words.iter().map(|word| std::ptr::from_ref(word) as usize).collect();
        state.add(copy, Kernel { stub, grid, block, words, places }, node);
    }
    unsafe { place.write(copy as _) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphGetNodes(
    graph: *mut c_void,
    nodes: *mut *mut c_void,
    count: *mut usize,
) -> c_int {
    let all = state().graphs[&(graph as usize)].1.clone();
    unsafe {
        if !nodes.is_null() {
            assert!(count.read() >= all.len());
            all.iter().enumerate().for_each(|(index, &node)| nodes.add(index).write(node as _));
        }
        count.write(all.len());
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphNodeGetType(_node: *mut c_void, kind: *mut c_int) -> c_int {
    unsafe { kind.write(0) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphNodeFindInClone(
    place: *mut *mut c_void,
    node: *mut c_void,
    copy: *mut c_void,
) -> c_int {
    let state = state();
    let found = state.graphs[&(copy as usize)].1.iter().find(|one| state.nodes[one].origin == node as usize);
    unsafe { place.write(*found.unwrap() as _) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphKernelNodeGetParams(
    node: *mut c_void,
    parameters: *mut KernelParameters,
) -> c_int {
    let state = state();
    let Kernel { stub, grid, block, places, .. } = &state.nodes[&(node as usize)].kernel;
    let arguments = places.as_ptr() as *mut *mut c_void;
    let given =
        KernelParameters { stub: *stub as _, grid: *grid, block: *block, shared: 0, arguments, extra: null_mut() };
    unsafe { parameters.write(given) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphKernelNodeSetParams(
    node: *mut c_void,
    parameters: *const KernelParameters,
) -> c_int {
    let kernel = unsafe { given(parameters) };
    state().nodes.get_mut(&(node as usize)).unwrap().kernel = kernel;
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphAddKernelNode(
    place: *mut *mut c_void,
    graph: *mut c_void,
    _after: *const *mut c_void,
    _count: usize,
    parameters: *const KernelParameters,
) -> c_int {
    let kernel = unsafe { given(parameters) };
    unsafe { place.write(state().add(graph as usize, kernel, 0) as _) };
    0
}

fn executable_nodes(state: &State, graph: usize) -> Vec<ExecutableNode> {
    let part = |&node: &usize| ExecutableNode { node, kernel: state.nodes[&node].kernel.clone(), enabled: true };
    state.graphs[&graph].1.iter().map(part).collect()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphInstantiateWithFlags(
    place: *mut *mut c_void,
    graph: *mut c_void,
    _flags: c_ulonglong,
) -> c_int {
    let mut state = state();
    let made = (state.graphs[&(graph as usize)].0, executable_nodes(&state, graph as usize));
    let handle = state.handle();
    state.executables.insert(handle, made);
    EXECUTABLES.fetch_add(1, Ordering::SeqCst);
    unsafe { place.write(handle as _) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphInstantiate(
    place: *mut *mut c_void,
    graph: *mut c_void,
    flags: c_ulonglong,
) -> c_int {
    unsafe { __wlreal_cudaGraphInstantiateWithFlags(place, graph, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphExecDestroy(executable: *mut c_void) -> c_int {
    EXECUTABLES.fetch_sub(1, Ordering::SeqCst);
    state().executables.remove(&(executable as usize)).map_or(1, |_| 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphExecUpdate(
    executable: *mut c_void,
    graph: *mut c_void,
    _result: *mut c_void,
) -> c_int {
    let mut state = state();
    let new = executable_nodes(&state, graph as usize);
    let old = &mut state.executables.get_mut(&(executable as usize)).unwrap().1;
    if old.len() != new.len() {
        return 910;
    }
    old.iter_mut().zip(new).for_each(|(old, new)| old.kernel = new.kernel);
    0
}

fn change_node(executable: *mut c_void, node: *mut c_void, change: impl FnOnce(&mut ExecutableNode)) -> c_int {
    let mut state = state();
    let parts = &mut state.executables.get_mut(&(executable as usize)).unwrap().1;
    parts.iter_mut().find(|part| part.node == node as usize).map(change).map_or(1, |()| 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphNodeSetEnabled(
    executable: *mut c_void,
    node: *mut c_void,
    enabled: c_uint,
) -> c_int {
    change_node(executable, node, |part| part.enabled = enabled != 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphExecKernelNodeSetParams(
    executable: *mut c_void,
    node: *mut c_void,
    parameters: *const KernelParameters,
) -> c_int {
    let kernel = unsafe { given(parameters) };
    change_node(executable, node, |part| part.kernel = kernel)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGraphLaunch(executable: *mut c_void, stream: *mut c_void) -> c_int {
    if status() != 0 {
        return status();
    }
    let mut kernels: Vec<Kernel> = Vec::new();
    {
        let state = state();
        let Some((copy, parts)) = state.executables.get(&(executable as usize)) else { return 1 };
        let code = if *copy { COPY_LAUNCH_ERROR.load(Ordering::SeqCst) } else { 0 };
        let code = if code == 0 { LAUNCH_ERROR.load(Ordering::SeqCst) } else { code };
        if code != 0 {
            return code;
        }
        kernels.extend(parts.iter().filter(|part| part.enabled).map(|part| part.kernel.clone()));
    }
    for mut kernel in kernels {
        let mut places: Vec<*mut c_void> =
            kernel.words.iter_mut().map(|word| std::ptr::from_mut(word).cast::<c_void>()).collect();
        let stub = kernel.stub as *const c_void;
        let code =
            unsafe { __wlreal_cudaLaunchKernel(stub, kernel.grid, kernel.block, places.as_mut_ptr(), 0, stream) };
        assert_eq!(code, 0);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaEventCreateWithFlags(event: *mut *mut c_void, _flags: c_uint) -> c_int {
    unsafe { event.write(state().handle() as _) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaEventRecord(_event: *mut c_void, _stream: *mut c_void) -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaEventDestroy(_event: *mut c_void) -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaStreamWaitEvent(_stream: *mut c_void, event: *mut c_void, _flags: c_uint) -> c_int {
    assert!(!event.is_null());
    WAITS.fetch_add(1, Ordering::SeqCst);
    0
}
