//! Graph functions of the real runtime. If the runtime does not have one of these functions, graphs run unchanged.

use crate::cuda::error::Error;
use crate::cuda::graph_types::{GraphHandle, KernelParameters, NodeHandle};
use crate::cuda::types::{EventHandle, StreamHandle};
use crate::real::functions::functions;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

/// `cudaGraphExec_t`.
pub type ExecutableHandle = *mut c_void;

functions! {
    /// The graph functions.
    GraphFunctions;
    /// `cudaGraphClone`
    clone_graph = "cudaGraphClone": fn(*mut GraphHandle, GraphHandle) -> Error;
    /// `cudaGraphDestroy`
    destroy = "cudaGraphDestroy": fn(GraphHandle) -> Error;
    /// `cudaGraphGetNodes`
    nodes = "cudaGraphGetNodes": fn(GraphHandle, *mut NodeHandle, *mut usize) -> Error;
    /// `cudaGraphNodeGetType`
    kind = "cudaGraphNodeGetType": fn(NodeHandle, *mut c_int) -> Error;
    /// `cudaGraphNodeFindInClone`
    find = "cudaGraphNodeFindInClone": fn(*mut NodeHandle, NodeHandle, GraphHandle) -> Error;
    /// `cudaGraphKernelNodeGetParams`
    kernel = "cudaGraphKernelNodeGetParams": fn(NodeHandle, *mut KernelParameters) -> Error;
    /// `cudaGraphKernelNodeSetParams`
    set_kernel = "cudaGraphKernelNodeSetParams": fn(NodeHandle, *const KernelParameters) -> Error;
    /// `cudaGraphAddKernelNode`
    add_kernel = "cudaGraphAddKernelNode": fn(*mut NodeHandle, GraphHandle, *const NodeHandle, usize,
        *const KernelParameters) -> Error;
    /// `cudaGraphInstantiateWithFlags`
    instantiate = "cudaGraphInstantiateWithFlags": fn(*mut ExecutableHandle, GraphHandle, c_ulonglong) -> Error;
    /// `cudaGraphExecDestroy`
    destroy_executable = "cudaGraphExecDestroy": fn(ExecutableHandle) -> Error;
    /// `cudaGraphNodeSetEnabled`
    set_enabled = "cudaGraphNodeSetEnabled": fn(ExecutableHandle, NodeHandle, c_uint) -> Error;
    /// `cudaEventCreateWithFlags`
    create_event = "cudaEventCreateWithFlags": fn(*mut EventHandle, c_uint) -> Error;
    /// `cudaEventRecord`
    record_event = "cudaEventRecord": fn(EventHandle, StreamHandle) -> Error;
    /// `cudaEventDestroy`
    destroy_event = "cudaEventDestroy": fn(EventHandle) -> Error;
    /// `cudaStreamWaitEvent`
    wait_event = "cudaStreamWaitEvent": fn(StreamHandle, EventHandle, c_uint) -> Error;
}

/// Returns the functions if the executable contains all of them.
pub fn graph_functions() -> Option<&'static GraphFunctions> {
    static FUNCTIONS: OnceLock<Option<GraphFunctions>> = OnceLock::new();
    FUNCTIONS.get_or_init(GraphFunctions::load).as_ref()
}
