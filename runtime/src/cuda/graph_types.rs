//! Types of graphs: handles, parameters of nodes, results of updates.

use super::types::{Dim3, HostFunction, StreamHandle};
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

/// `cudaGraph_t`.
pub type GraphHandle = *mut c_void;
/// `cudaGraphNode_t`.
pub type NodeHandle = *mut c_void;

/// `cudaKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelParameters {
    /// Host stub of the kernel.
    pub stub: *mut c_void,
    /// The number of blocks.
    pub grid: Dim3,
    /// The number of threads per block.
    pub block: Dim3,
    /// Dynamic shared memory in bytes.
    pub shared: c_uint,
    /// One pointer per parameter.
    pub arguments: *mut *mut c_void,
    /// A buffer with all parameters, as an alternative to `arguments`.
    pub extra: *mut *mut c_void,
}

impl Default for KernelParameters {
    fn default() -> KernelParameters {
        let (size, none) = (Dim3 { x: 1, y: 1, z: 1 }, std::ptr::null_mut::<*mut c_void>());
        KernelParameters { stub: none.cast(), grid: size, block: size, shared: 0, arguments: none, extra: none }
    }
}

/// `cudaMemsetParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FillParameters {
    pub(crate) to: *mut c_void,
    pub(crate) pitch: usize,
    pub(crate) value: c_uint,
    pub(crate) size: c_uint,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// `cudaHostNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostParameters {
    pub(crate) function: Option<HostFunction>,
    pub(crate) data: *mut c_void,
}

/// `cudaGraphExec_t`.
pub type ExecutableHandle = *mut c_void;

/// `cudaGraphExecUpdateResultInfo`.
#[repr(C)]
pub struct UpdateResult {
    /// `cudaGraphExecUpdateResult`.
    pub(crate) result: c_int,
    pub(crate) node: NodeHandle,
    pub(crate) from: NodeHandle,
}

/// `cudaGraphNodeParams` of a kernel node, without the fields that CUDA has after the parameters. For other nodes, only
/// the kind is valid.
#[repr(C)]
pub struct NodeParameters {
    /// `cudaGraphNodeType`.
    pub kind: c_int,
    pub(crate) reserved: [c_int; 3],
    pub(crate) kernel: KernelParameters,
}

/// `cudaGraphInstantiateParams`.
#[repr(C)]
pub struct InstantiateParameters {
    /// `cudaGraphInstantiateFlags`.
    pub flags: c_ulonglong,
    pub(crate) stream: StreamHandle,
    pub(crate) node: NodeHandle,
    pub(crate) result: c_int,
}
