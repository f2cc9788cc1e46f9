//! Executable graphs. Their nodes run one after the other, in the same order in every run.

use super::nodes::{exchange, fill, host, kernel};
use crate::api::{api, per_thread, put};
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::graph_types::{
    ExecutableHandle, FillParameters, GraphHandle, HostParameters, InstantiateParameters, KernelParameters, NodeHandle,
    NodeParameters, UpdateResult,
};
use crate::cuda::types::{EventHandle, Memcpy3D, StreamHandle};
use crate::graphs::{CopyWork, Graph, Work};
use crate::state::failed_calls::{self, Call};
use crate::state::runtime::{Runtime, call_any, call_as};
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

/// `cudaGraphExecUpdateErrorTopologyChanged`.
const TOPOLOGY_CHANGED: c_int = 2;

fn instantiate(runtime: &mut Runtime, place: *mut ExecutableHandle, graph: GraphHandle) -> Result<(), Error> {
    if place.is_null() {
        return Err(error::INVALID_VALUE);
    }
    let handle = runtime.graphs.instantiate(graph as usize)?;
    // SAFETY: the pointer is not null, and it is valid by the contract of the calling API function.
    unsafe { put(place, handle as ExecutableHandle) }
}

fn node_work(runtime: &mut Runtime, executable: ExecutableHandle, node: NodeHandle) -> Result<&mut Work, Error> {
    Ok(&mut runtime.graphs.executable(executable as usize)?.node_mut(node as usize)?.work)
}

api! {
    /// Makes a graph executable.
    fn cudaGraphInstantiate(
        executable: *mut ExecutableHandle,
        graph: GraphHandle,
        flags: c_ulonglong,
    ) |runtime, entry| => crate::gpu::graphs::calls::instantiate {
        let _ = (entry, flags);
        instantiate(runtime, executable, graph)
    }

    /// Makes a graph executable.
    fn cudaGraphInstantiateWithFlags(
        executable: *mut ExecutableHandle,
        graph: GraphHandle,
        flags: c_ulonglong,
    ) |runtime, entry| => crate::gpu::graphs::calls::instantiate {
        let _ = (entry, flags);
        instantiate(runtime, executable, graph)
    }

    /// Makes a graph executable.
    fn cudaGraphInstantiateWithParams(
        executable: *mut ExecutableHandle,
        graph: GraphHandle,
        parameters: *mut InstantiateParameters,
    ) |runtime, entry| => crate::gpu::graphs::calls::instantiate_with {
        let _ = entry;
        let made = instantiate(runtime, executable, graph);
        // SAFETY: the pointer is null or valid by the contract.
        if let Some(parameters) = unsafe { parameters.as_mut() } {
            parameters.result = c_int::from(made.is_err());
            parameters.node = std::ptr::null_mut();
        }
        made
    }

    /// Destroys an executable graph.
    fn cudaGraphExecDestroy(executable: ExecutableHandle) |runtime, entry| => crate::gpu::graphs::executables::destroy {
        let _ = entry;
        runtime.graphs.remove_executable(executable as usize)
    }

    /// Uploads an executable graph. It does nothing, because the graph needs no upload.
    fn cudaGraphUpload(executable: ExecutableHandle, stream: StreamHandle) |runtime, entry| {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        runtime.graphs.executable(executable as usize).map(|_| ())
    }

    /// Updates an executable graph with the work of a graph that has the same structure.
    fn cudaGraphExecUpdate(
        executable: ExecutableHandle,
        graph: GraphHandle,
        result: *mut UpdateResult,
    ) |runtime, entry| => crate::gpu::graphs::calls::update {
        let _ = entry;
        let updated = runtime.graphs.update(executable as usize, graph as usize)?;
        let null = std::ptr::null_mut();
        let code = if updated { 0 } else { TOPOLOGY_CHANGED };
        // SAFETY: by the contract of the API function.
        unsafe { put(result, UpdateResult { result: code, node: null, from: null })? };
        if updated { Ok(()) } else { Err(error::GRAPH_EXEC_UPDATE_FAILURE) }
    }

    /// Enables or disables a node of an executable graph.
    fn cudaGraphNodeSetEnabled(
        executable: ExecutableHandle,
        node: NodeHandle,
        enabled: c_uint,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_enabled {
        let _ = entry;
        let node = runtime.graphs.executable(executable as usize)?.node_mut(node as usize)?;
        if !matches!(node.work, Work::Kernel(_) | Work::Copy(_) | Work::Fill(_)) {
            return Err(error::INVALID_VALUE);
        }
        node.enabled = enabled != 0;
        Ok(())
    }

    /// Returns whether a node of an executable graph is enabled.
    fn cudaGraphNodeGetEnabled(
        executable: ExecutableHandle,
        node: NodeHandle,
        enabled: *mut c_uint,
    ) |runtime, entry| {
        let _ = entry;
        let value = runtime.graphs.executable(executable as usize)?.node(node as usize)?.enabled;
        // SAFETY: by the contract of the API function.
        unsafe { put(enabled, c_uint::from(value)) }
    }

    /// Sets the parameters of a kernel node of an executable graph.
    fn cudaGraphExecKernelNodeSetParams(
        executable: ExecutableHandle,
        node: NodeHandle,
        parameters: *const KernelParameters,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_kernel {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = unsafe { kernel(runtime, parameters)? };
        exchange(node_work(runtime, executable, node)?, work)
    }

    /// Sets the parameters of a copy node of an executable graph.
    fn cudaGraphExecMemcpyNodeSetParams(
        executable: ExecutableHandle,
        node: NodeHandle,
        parameters: *const Memcpy3D,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_copy {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = Work::Copy(unsafe { crate::api::copies::copy::copy_3d(runtime, parameters)? });
        exchange(node_work(runtime, executable, node)?, work)
    }

    /// Sets the bytes that a copy node of an executable graph copies.
    fn cudaGraphExecMemcpyNodeSetParams1D(
        executable: ExecutableHandle,
        node: NodeHandle,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_flat_copy {
        let _ = entry;
        let work = Work::Copy(CopyWork::flat(to as u64, from as u64, bytes as u64, kind));
        exchange(node_work(runtime, executable, node)?, work)
    }

    /// Sets the bytes of a copy into a variable.
    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        executable: ExecutableHandle,
        node: NodeHandle,
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_copy_to_symbol {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = Work::Copy(crate::api::copies::symbols::to_symbol(runtime, symbol, from, bytes, offset, kind)?);
        exchange(node_work(runtime, executable, node)?, work)
    }

    /// Sets the bytes of a copy out of a variable.
    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        executable: ExecutableHandle,
        node: NodeHandle,
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_copy_from_symbol {
        let _ = entry;
        let work = Work::Copy(crate::api::copies::symbols::from_symbol(runtime, to, symbol, bytes, offset, kind)?);
        exchange(node_work(runtime, executable, node)?, work)
    }

    /// Sets the work of a child graph in an executable graph.
    fn cudaGraphExecChildGraphNodeSetParams(
        executable: ExecutableHandle,
        node: NodeHandle,
        child: GraphHandle,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_child {
        let _ = entry;
        let work = Work::Child(runtime.graphs.graph(child as usize)?.ordered()?);
        exchange(node_work(runtime, executable, node)?, work)
    }

    /// Sets the event that a node records.
    fn cudaGraphExecEventRecordNodeSetEvent(
        executable: ExecutableHandle,
        node: NodeHandle,
        event: EventHandle,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_recorded {
        let _ = entry;
        runtime.streams.event(event as usize)?;
        exchange(node_work(runtime, executable, node)?, Work::Record(event as usize))
    }

    /// Sets the event for which a node waits.
    fn cudaGraphExecEventWaitNodeSetEvent(
        executable: ExecutableHandle,
        node: NodeHandle,
        event: EventHandle,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_awaited {
        let _ = entry;
        runtime.streams.event(event as usize)?;
        exchange(node_work(runtime, executable, node)?, Work::Wait(event as usize))
    }

    /// Sets the parameters of a node of an executable graph; on the CPU device, the node must be a kernel node.
    fn cudaGraphExecNodeSetParams(
        executable: ExecutableHandle,
        node: NodeHandle,
        parameters: *mut NodeParameters,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_any {
        let _ = entry;
        // SAFETY: the pointer is null or valid by the contract.
        let given = unsafe { parameters.as_ref() }.ok_or(error::INVALID_VALUE)?;
        if given.kind != 0 {
            crate::output::message::note("cudaGraphExecNodeSetParams: on the CPU device only kernel nodes are supported");
            return Err(error::NOT_SUPPORTED);
        }
        // SAFETY: a kernel node's parameters begin like `cudaKernelNodeParams`.
        let work = unsafe { kernel(runtime, &raw const given.kernel)? };
        exchange(node_work(runtime, executable, node)?, work)
    }

    /// Sets the parameters of a fill node of an executable graph.
    fn cudaGraphExecMemsetNodeSetParams(
        executable: ExecutableHandle,
        node: NodeHandle,
        parameters: *const FillParameters,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_fill {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = unsafe { fill(parameters)? };
        exchange(node_work(runtime, executable, node)?, work)
    }

    /// Sets the function of a host node of an executable graph.
    fn cudaGraphExecHostNodeSetParams(
        executable: ExecutableHandle,
        node: NodeHandle,
        parameters: *const HostParameters,
    ) |runtime, entry| => crate::gpu::graphs::calls::set_host {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = unsafe { host(parameters)? };
        exchange(node_work(runtime, executable, node)?, work)
    }
}

/// Runs the nodes of a graph. The lock is released while host functions run, because they may run for any time.
///
/// # Safety
/// The requirements of [`Runtime::perform`] apply.
unsafe fn run(graph: &Graph, stream: StreamHandle, entry: Entry) -> Error {
    let mut left = graph.launches();
    for node in graph.nodes.iter().filter(|node| node.enabled) {
        left -= node.work.launches();
        let code = match &node.work {
            Work::Host(host) => {
                // SAFETY: by the contract of the API function.
                unsafe { (host.function)(host.data as *mut c_void) };
                error::SUCCESS
            }
            // SAFETY: the caller fulfils the contract.
            Work::Child(child) => unsafe { run(child, stream, entry) },
            work => call_as(graph_launch(entry), work.launches(), |runtime| {
                let number = runtime.streams.get(stream as usize)?.number;
                // SAFETY: the caller fulfils the contract.
                unsafe { runtime.perform(work, number, entry) }
            }),
        };
        if code != error::SUCCESS {
            return call_any(|runtime| {
                runtime.refused(left);
                Err(code)
            });
        }
    }
    error::SUCCESS
}

/// Returns the call for which a failing node of a graph is reported.
fn graph_launch(entry: Entry) -> Call {
    Call { function: "cudaGraphLaunch", entry }
}

/// Runs an executable graph to its end, or adds it to a capture.
///
/// # Safety
/// The host memory that its nodes name is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphLaunch(executable: ExecutableHandle, stream: StreamHandle) -> Error {
    let here = 0u8;
    let entry = Entry::new(std::hint::black_box(&here));
    if crate::real::active() {
        let code = crate::gpu::forward!(cudaGraphLaunch, (executable: ExecutableHandle, stream: StreamHandle), entry,
            crate::gpu::graphs::executables::launch);
        return failed_calls::returned(graph_launch(entry), code);
    }
    let mut graph = None;
    let launches =
        |runtime: &mut Runtime| runtime.graphs.executable(executable as usize).map_or(0, |graph| graph.launches());
    let stands = call_any(|runtime| {
        let launches = launches(runtime);
        runtime.settle().inspect_err(|_| runtime.refused(launches))
    });
    if stands != error::SUCCESS {
        return stands;
    }
    let known = call_as(graph_launch(entry), 0, |runtime| {
        runtime.streams.get(stream as usize)?;
        let found = runtime.graphs.executable(executable as usize)?.clone();
        if runtime.captures.find(stream as usize).is_some() {
            return runtime.captures.take(&mut runtime.graphs, stream as usize, Work::Child(found));
        }
        graph = Some(found);
        Ok(())
    });
    match graph {
        // SAFETY: by the contract of the API function.
        Some(graph) => unsafe { run(&graph, stream, entry) },
        None => known,
    }
}

per_thread! {
    cudaGraphLaunch_ptsz = cudaGraphLaunch, (executable: ExecutableHandle, stream: StreamHandle) [stream];
    cudaGraphUpload_ptsz = cudaGraphUpload, (executable: ExecutableHandle, stream: StreamHandle) [stream];
    cudaGraphInstantiateWithParams_ptsz = cudaGraphInstantiateWithParams, (executable: *mut ExecutableHandle,
        graph: GraphHandle, parameters: *mut InstantiateParameters);
}
