//! Calls of the graph API. The real function works on the program's graph; then the same change is made to the hooked
//! twins of executable graphs.

use super::changes::{changed, kernel_changed, switched, updated};
use super::executables::{capture_begun, capture_ended, instantiated, node_made};
use super::functions::ExecutableHandle;
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::graph_types::{FillParameters, GraphHandle, HostParameters, KernelParameters, NodeHandle};
use crate::cuda::graph_types::{InstantiateParameters, NodeParameters, UpdateResult};
use crate::cuda::types::{EventHandle, Memcpy3D, StreamHandle};
use crate::gpu::devices::returned;
use crate::real::functions::real;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

/// Functions that record what the real function did, in the form `name(arguments) |code| action after success`.
macro_rules! following {
    ($($(#[$meta:meta])* $name:ident($($argument:ident: $type:ty),*) |$real:ident| $then:expr;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// The requirements of CUDA's function apply.
        #[allow(clippy::too_many_arguments, reason = "the signature is CUDA's")]
        pub unsafe fn $name(
            $real: unsafe extern "C" fn($($type),*) -> Error,
            $($argument: $type,)*
            _entry: Entry,
        ) -> Error {
            // SAFETY: the caller fulfils the contract.
            let code = returned(unsafe { $real($($argument),*) });
            if code == error::SUCCESS {
                $then;
            }
            code
        }
    )*};
}

following! {
    /// `cudaStreamBeginCapture`
    begin_capture(stream: StreamHandle, mode: c_int) |real| capture_begun(stream);
    /// `cudaGraphAddKernelNode`
    add_kernel_node(place: *mut NodeHandle, graph: GraphHandle, after: *const NodeHandle, count: usize,
        parameters: *const KernelParameters) |real_add| real().into_iter().for_each(node_made);
    /// `cudaGraphInstantiate`, `cudaGraphInstantiateWithFlags`
    instantiate(place: *mut ExecutableHandle, graph: GraphHandle, flags: c_ulonglong) |real|
        // SAFETY: the real function has written the handle.
        instantiated(unsafe { place.read() }, graph, flags);
    /// `cudaGraphInstantiateWithParams`
    instantiate_with(place: *mut ExecutableHandle, graph: GraphHandle, parameters: *mut InstantiateParameters) |real| {
        // SAFETY: the real function has read the parameters and written the handle.
        let (flags, executable) = unsafe { ((*parameters).flags, place.read()) };
        instantiated(executable, graph, flags)
    };
    /// `cudaGraphExecUpdate`
    update(executable: ExecutableHandle, graph: GraphHandle, result: *mut UpdateResult) |real|
        // SAFETY: `real` is the real function, which has succeeded.
        unsafe { updated(real, executable, graph) };
    /// `cudaGraphNodeSetEnabled`
    set_enabled(executable: ExecutableHandle, node: NodeHandle, enabled: c_uint) |real|
        switched(executable, node, enabled);
    /// `cudaGraphExecKernelNodeSetParams`
    set_kernel(executable: ExecutableHandle, node: NodeHandle, parameters: *const KernelParameters) |real|
        // SAFETY: the real function has accepted the parameters.
        unsafe { kernel_changed(real, executable, node, parameters) };
}

/// `cudaStreamEndCapture`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn end_capture(
    real: unsafe extern "C" fn(StreamHandle, *mut GraphHandle) -> Error,
    stream: StreamHandle,
    graph: *mut GraphHandle,
    _entry: Entry,
) -> Error {
    // SAFETY: the caller fulfils the contract.
    let code = returned(unsafe { real(stream, graph) });
    capture_ended(stream, code);
    code
}

/// `cudaGraphExecNodeSetParams`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn set_any(
    real: unsafe extern "C" fn(ExecutableHandle, NodeHandle, *mut NodeParameters) -> Error,
    executable: ExecutableHandle,
    node: NodeHandle,
    parameters: *mut NodeParameters,
    _entry: Entry,
) -> Error {
    // SAFETY: the caller fulfils the contract.
    let code = returned(unsafe { real(executable, node, parameters) });
    if code == error::SUCCESS {
        changed(executable, node, |twin, own| {
            // SAFETY: the real function has accepted the parameters. A kernel's parameters differ from those of the
            // hooked kernel.
            unsafe { if (*parameters).kind == 0 { error::NOT_SUPPORTED } else { real(twin, own, parameters) } }
        });
    }
    code
}

/// Functions that change a node without hooks, in the form `name(arguments after the node)`.
macro_rules! setting {
    ($($(#[$meta:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {
        following! {$(
            $(#[$meta])*
            $name(executable: ExecutableHandle, node: NodeHandle $(, $argument: $type)*) |real|
                // SAFETY: the real function has accepted the arguments.
                changed(executable, node, |twin, own| unsafe { real(twin, own $(, $argument)*) });
        )*}
    };
}

setting! {
    /// `cudaGraphExecMemcpyNodeSetParams`
    set_copy(parameters: *const Memcpy3D);
    /// `cudaGraphExecMemcpyNodeSetParams1D`
    set_flat_copy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int);
    /// `cudaGraphExecMemcpyNodeSetParamsToSymbol`
    set_copy_to_symbol(symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: c_int);
    /// `cudaGraphExecMemcpyNodeSetParamsFromSymbol`
    set_copy_from_symbol(to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int);
    /// `cudaGraphExecMemsetNodeSetParams`
    set_fill(parameters: *const FillParameters);
    /// `cudaGraphExecHostNodeSetParams`
    set_host(parameters: *const HostParameters);
    /// `cudaGraphExecChildGraphNodeSetParams`
    set_child(child: GraphHandle);
    /// `cudaGraphExecEventRecordNodeSetEvent`
    set_recorded(event: EventHandle);
    /// `cudaGraphExecEventWaitNodeSetEvent`
    set_awaited(event: EventHandle);
}
