//! Memory that belongs to graphs.
//!
//! A graph's memory has the same address in all launches, so it is allocated when the node is created. It stays until
//! the program frees it or ends. Work that follows a freeing node in the stream must not use the memory; this is not
//! checked.

use crate::api::graphs::nodes::add;
use crate::api::{api, put};
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::graph_types::{GraphHandle, NodeHandle};
use crate::cuda::types::StreamHandle;
use crate::graphs::Work;
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_void};
use warpline_format::event::AllocationKind;

/// `cudaMemAllocNodeParams`.
#[repr(C)]
pub struct AllocationParameters {
    /// `cudaMemPoolProps`; with one device, none of its fields matters.
    pool: [u64; 11],
    access: *const c_void,
    accesses: usize,
    bytes: usize,
    /// The address of the memory, which is set when the node is added.
    address: *mut c_void,
}

/// `cudaMallocAsync` in a stream that is being captured.
///
/// # Safety
/// `place` is null or valid.
pub(in crate::api) unsafe fn capture_allocation(
    runtime: &mut Runtime,
    place: *mut *mut c_void,
    bytes: usize,
    stream: StreamHandle,
    entry: Entry,
) -> Result<(), Error> {
    super::allocations::allocate(runtime, place, bytes, AllocationKind::Async, entry)?;
    // SAFETY: the pointer is not null, and the value was just written.
    let address = unsafe { place.read() } as u64;
    runtime.captures.take(&mut runtime.graphs, stream as usize, Work::Allocate(address))
}

/// `cudaFreeAsync` in a stream that is being captured.
pub(in crate::api) fn capture_free(runtime: &mut Runtime, address: u64, stream: StreamHandle) -> Result<(), Error> {
    runtime.memory.registry.find(address).ok_or(error::INVALID_VALUE)?;
    runtime.captures.take(&mut runtime.graphs, stream as usize, Work::Free(address))
}

api! {
    /// Adds an allocation node; its address is available immediately.
    fn cudaGraphAddMemAllocNode(
        place: *mut NodeHandle,
        graph: GraphHandle,
        after: *const NodeHandle,
        count: usize,
        parameters: *mut AllocationParameters,
    ) |runtime, entry| {
        // SAFETY: by the contract of the API function.
        let given = unsafe { parameters.as_mut() }.ok_or(error::INVALID_VALUE)?;
        if given.bytes == 0 {
            return Err(error::INVALID_VALUE);
        }
        let mut address = std::ptr::null_mut();
        super::allocations::allocate(runtime, &raw mut address, given.bytes, AllocationKind::Async, entry)?;
        // SAFETY: by the contract of the API function.
        let added = unsafe { add(runtime, place, graph, after, count, Work::Allocate(address as u64)) };
        if added.is_err() {
            runtime.free(address as u64, &[AllocationKind::Async], entry)?;
        }
        added?;
        given.address = address;
        Ok(())
    }

    /// Adds a node that frees an allocation.
    fn cudaGraphAddMemFreeNode(
        place: *mut NodeHandle,
        graph: GraphHandle,
        after: *const NodeHandle,
        count: usize,
        address: *mut c_void,
    ) |runtime, entry| {
        let _ = entry;
        runtime.memory.registry.find(address as u64).ok_or(error::INVALID_VALUE)?;
        // SAFETY: by the contract of the API function.
        unsafe { add(runtime, place, graph, after, count, Work::Free(address as u64)) }
    }

    /// Returns the address that a freeing node frees.
    fn cudaGraphMemFreeNodeGetParams(node: NodeHandle, address: *mut *mut c_void) |runtime, entry| {
        let _ = entry;
        match &runtime.graphs.node(node as usize)?.work {
            // SAFETY: by the contract of the API function.
            Work::Free(freed) => unsafe { put(address, *freed as *mut c_void) },
            _ => Err(error::INVALID_VALUE),
        }
    }

    /// Frees the memory that graphs hold in reserve, of which there is none.
    fn cudaDeviceGraphMemTrim(device: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        crate::api::device::only_device(device)
    }
}
