//! Graphs made by hand: graphs, nodes and the dependencies between them.

use crate::api::{api, put};
use crate::cuda::error::{self, Error};
use crate::cuda::graph_types::{FillParameters, GraphHandle, HostParameters, KernelParameters, NodeHandle};
use crate::cuda::types::{EventHandle, Memcpy3D};
use crate::graphs::{CopyWork, FillWork, Graph, HostWork, Work};
use crate::memory::rows::Rows;
use crate::modules::configuration::Configuration;
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_uint, c_void};

/// Returns a kernel node's work.
///
/// # Safety
/// `parameters` is null or valid, and the arguments fulfil the requirements of a launch.
pub(in crate::api) unsafe fn kernel(runtime: &Runtime, parameters: *const KernelParameters) -> Result<Work, Error> {
    // SAFETY: by the contract of the API function.
    let p = unsafe { parameters.as_ref() }.ok_or(error::INVALID_VALUE)?;
    if !p.extra.is_null() {
        crate::output::message::note("kernel nodes with arguments in the \"extra\" form are not supported");
        return Err(error::NOT_SUPPORTED);
    }
    let configuration = Configuration {
        grid: p.grid.into(),
        block: p.block.into(),
        shared: u64::from(p.shared),
        stream: 0,
        cooperative: false,
        cluster: [0; 3],
    };
    // SAFETY: by the contract of the API function.
    unsafe { runtime.kernel_work(p.stub, configuration, p.arguments.cast_const().cast()) }
}

/// Returns a fill node's work.
///
/// # Safety
/// `parameters` is null or valid.
pub(in crate::api) unsafe fn fill(parameters: *const FillParameters) -> Result<Work, Error> {
    // SAFETY: by the contract of the API function.
    let p = unsafe { parameters.as_ref() }.ok_or(error::INVALID_VALUE)?;
    // If there is only one row, the pitch is not used.
    let pitch = if p.height > 1 { p.pitch } else { p.width * p.size as usize };
    let to = Rows { start: p.to as u64, pitch: pitch as u64 };
    FillWork::new(to, p.value, p.size, p.width as u64, p.height as u64).map(Work::Fill)
}

/// Returns a host node's work.
///
/// # Safety
/// `parameters` is null or valid.
pub(in crate::api) unsafe fn host(parameters: *const HostParameters) -> Result<Work, Error> {
    // SAFETY: by the contract of the API function.
    let p = unsafe { parameters.as_ref() }.ok_or(error::INVALID_VALUE)?;
    let function = p.function.ok_or(error::INVALID_VALUE)?;
    Ok(Work::Host(HostWork { function, data: p.data as usize }))
}

/// Adds a node and returns its handle.
///
/// # Safety
/// `place` is null or valid; `after` points to `count` nodes.
pub(in crate::api) unsafe fn add(
    runtime: &mut Runtime,
    place: *mut NodeHandle,
    graph: GraphHandle,
    after: *const NodeHandle,
    count: usize,
    work: Work,
) -> Result<(), Error> {
    if place.is_null() || (after.is_null() && count != 0) {
        return Err(error::INVALID_VALUE);
    }
    // SAFETY: by the contract of the API function.
    let after = (0..count).map(|index| unsafe { after.add(index).read() } as usize).collect();
    let handle = runtime.graphs.add_node(graph as usize, after, work)?;
    // SAFETY: by the contract of the API function.
    unsafe { put(place, handle as NodeHandle) }
}

/// Returns a list of handles: only their number if `places` is null, otherwise as many handles as the caller has room
/// for.
///
/// # Safety
/// `count` is null or valid; `places` is null or has room for `count` handles.
unsafe fn give(handles: &[usize], places: *mut NodeHandle, count: *mut usize) -> Result<(), Error> {
    if count.is_null() {
        return Err(error::INVALID_VALUE);
    }
    // SAFETY: by the contract of the API function.
    unsafe {
        if places.is_null() {
            return put(count, handles.len());
        }
        let room = count.read();
        for index in 0..room {
            places.add(index).write(handles.get(index).copied().unwrap_or(0) as NodeHandle);
        }
        put(count, handles.len().min(room))
    }
}

/// Functions that add a node, in the form `name(arguments) = its work`. The macro inserts the arguments that all
/// functions have before the listed arguments.
macro_rules! adding {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),*) |$runtime:ident|
        $(=> $handler:path)? = $work:expr;)*) => {
        api! {$(
            $(#[$meta])*
            fn $name(
                place: *mut NodeHandle,
                graph: GraphHandle,
                after: *const NodeHandle,
                count: usize,
                $($argument: $type),*
            ) |$runtime, entry| $(=> $handler)? {
                let _ = entry;
                // SAFETY: by the contract of the API function.
                unsafe {
                    let work = $work;
                    add($runtime, place, graph, after, count, work)
                }
            }
        )*}
    };
}

adding! {
    /// Adds a kernel.
    fn cudaGraphAddKernelNode(parameters: *const KernelParameters) |runtime|
        => crate::gpu::graphs::calls::add_kernel_node = kernel(runtime, parameters)?;
    /// Adds a three-dimensional copy.
    fn cudaGraphAddMemcpyNode(parameters: *const Memcpy3D) |runtime| =
        Work::Copy(crate::api::copies::copy::copy_3d(runtime, parameters)?);
    /// Adds a copy of bytes.
    fn cudaGraphAddMemcpyNode1D(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) |runtime| =
        Work::Copy(CopyWork::flat(to as u64, from as u64, bytes as u64, kind));
    /// Adds a copy into a variable.
    fn cudaGraphAddMemcpyNodeToSymbol(symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize,
        kind: c_int) |runtime| = Work::Copy(crate::api::copies::symbols::to_symbol(runtime, symbol, from, bytes, offset, kind)?);
    /// Adds a copy out of a variable.
    fn cudaGraphAddMemcpyNodeFromSymbol(to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize,
        kind: c_int) |runtime| = Work::Copy(crate::api::copies::symbols::from_symbol(runtime, to, symbol, bytes, offset, kind)?);
    /// Adds a fill.
    fn cudaGraphAddMemsetNode(parameters: *const FillParameters) |runtime| = fill(parameters)?;
    /// Adds a call of a host function.
    fn cudaGraphAddHostNode(parameters: *const HostParameters) |runtime| = host(parameters)?;
    /// Adds a node that does nothing.
    fn cudaGraphAddEmptyNode() |runtime| = Work::Empty;
    /// Adds a graph in its current state.
    fn cudaGraphAddChildGraphNode(child: GraphHandle) |runtime| =
        Work::Child(runtime.graphs.graph(child as usize)?.ordered()?);
    /// Adds the recording of an event.
    fn cudaGraphAddEventRecordNode(event: EventHandle) |runtime| = {
        runtime.streams.event(event as usize)?;
        Work::Record(event as usize)
    };
    /// Adds a wait for an event.
    fn cudaGraphAddEventWaitNode(event: EventHandle) |runtime| = {
        runtime.streams.event(event as usize)?;
        Work::Wait(event as usize)
    };
}

api! {
    /// Creates a graph.
    fn cudaGraphCreate(graph: *mut GraphHandle, flags: c_uint) |runtime, entry| {
        let _ = entry;
        if graph.is_null() || flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.graphs.add(Graph::default());
        // SAFETY: by the contract of the API function.
        unsafe { put(graph, handle as GraphHandle) }
    }

    /// Destroys a graph.
    fn cudaGraphDestroy(graph: GraphHandle) |runtime, entry| {
        let _ = entry;
        runtime.graphs.remove(graph as usize)
    }

    /// Copies a graph.
    fn cudaGraphClone(place: *mut GraphHandle, graph: GraphHandle) |runtime, entry| {
        let _ = entry;
        let copy = runtime.graphs.copy(graph as usize)?;
        let handle = runtime.graphs.add(copy);
        // SAFETY: by the contract of the API function.
        unsafe { put(place, handle as GraphHandle) }
    }

    /// Returns the node of a copied graph that corresponds to a node of the original.
    fn cudaGraphNodeFindInClone(place: *mut NodeHandle, node: NodeHandle, clone: GraphHandle) |runtime, entry| {
        let _ = entry;
        let graph = runtime.graphs.graph(clone as usize)?;
        let found = graph.nodes.iter().find(|one| one.origin == node as usize).ok_or(error::INVALID_VALUE)?.handle;
        // SAFETY: by the contract of the API function.
        unsafe { put(place, found as NodeHandle) }
    }

    /// Removes a node from its graph.
    fn cudaGraphDestroyNode(node: NodeHandle) |runtime, entry| {
        let _ = entry;
        runtime.graphs.remove_node(node as usize)
    }

    /// Returns the type of a node.
    fn cudaGraphNodeGetType(node: NodeHandle, kind: *mut c_int) |runtime, entry| {
        let _ = entry;
        let value = runtime.graphs.node(node as usize)?.work.kind();
        // SAFETY: by the contract of the API function.
        unsafe { put(kind, value) }
    }

    /// Returns the nodes of a graph.
    fn cudaGraphGetNodes(graph: GraphHandle, nodes: *mut NodeHandle, count: *mut usize) |runtime, entry| {
        let _ = entry;
        let all: Vec<usize> = runtime.graphs.graph(graph as usize)?.nodes.iter().map(|node| node.handle).collect();
        // SAFETY: by the contract of the API function.
        unsafe { give(&all, nodes, count) }
    }

    /// Returns the nodes of a graph that depend on no other node.
    fn cudaGraphGetRootNodes(graph: GraphHandle, nodes: *mut NodeHandle, count: *mut usize) |runtime, entry| {
        let _ = entry;
        let nodes_of = &runtime.graphs.graph(graph as usize)?.nodes;
        let roots: Vec<usize> =
            nodes_of.iter().filter(|node| node.after.is_empty()).map(|node| node.handle).collect();
        // SAFETY: by the contract of the API function.
        unsafe { give(&roots, nodes, count) }
    }

    /// Returns the dependencies of a graph. Their kind, which is always CUDA's default, is not reported.
    fn cudaGraphGetEdges(
        graph: GraphHandle,
        from: *mut NodeHandle,
        to: *mut NodeHandle,
        _data: *mut c_void,
        count: *mut usize,
    ) |runtime, entry| {
        let _ = entry;
        let nodes = &runtime.graphs.graph(graph as usize)?.nodes;
        let edges = nodes.iter().flat_map(|node| node.after.iter().map(|before| (*before, node.handle)));
        let (before, after): (Vec<usize>, Vec<usize>) = edges.unzip();
        if count.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe {
            let mut room = count.read();
            give(&before, from, &raw mut room)?;
            give(&after, to, count)
        }
    }

    /// Returns the nodes on which a node depends.
    fn cudaGraphNodeGetDependencies(
        node: NodeHandle,
        nodes: *mut NodeHandle,
        _data: *mut c_void,
        count: *mut usize,
    ) |runtime, entry| {
        let _ = entry;
        let after = runtime.graphs.node(node as usize)?.after.clone();
        // SAFETY: by the contract of the API function.
        unsafe { give(&after, nodes, count) }
    }

    /// Adds dependencies between nodes.
    fn cudaGraphAddDependencies(
        graph: GraphHandle,
        from: *const NodeHandle,
        to: *const NodeHandle,
        _data: *const c_void,
        count: usize,
    ) |runtime, entry| {
        let _ = entry;
        let graph = runtime.graphs.graph(graph as usize)?;
        for index in 0..count {
            // SAFETY: by the contract of the API function.
            let (before, after) = unsafe { (from.add(index).read() as usize, to.add(index).read() as usize) };
            graph.node(before)?;
            let after = graph.node_mut(after)?;
            if after.after.contains(&before) {
                return Err(error::INVALID_VALUE);
            }
            after.after.push(before);
        }
        Ok(())
    }

    /// Removes dependencies between nodes.
    fn cudaGraphRemoveDependencies(
        graph: GraphHandle,
        from: *const NodeHandle,
        to: *const NodeHandle,
        _data: *const c_void,
        count: usize,
    ) |runtime, entry| {
        let _ = entry;
        let graph = runtime.graphs.graph(graph as usize)?;
        for index in 0..count {
            // SAFETY: by the contract of the API function.
            let (before, after) = unsafe { (from.add(index).read() as usize, to.add(index).read() as usize) };
            graph.node_mut(after)?.after.retain(|one| *one != before);
        }
        Ok(())
    }

    /// Sets the parameters of a kernel node.
    fn cudaGraphKernelNodeSetParams(node: NodeHandle, parameters: *const KernelParameters) |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = unsafe { kernel(runtime, parameters)? };
        exchange(&mut runtime.graphs.node(node as usize)?.work, work)
    }

    /// Sets the parameters of a copy node.
    fn cudaGraphMemcpyNodeSetParams(node: NodeHandle, parameters: *const Memcpy3D) |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = Work::Copy(unsafe { crate::api::copies::copy::copy_3d(runtime, parameters)? });
        exchange(&mut runtime.graphs.node(node as usize)?.work, work)
    }

    /// Sets the bytes that a copy node copies.
    fn cudaGraphMemcpyNodeSetParams1D(
        node: NodeHandle,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
    ) |runtime, entry| {
        let _ = entry;
        let work = Work::Copy(CopyWork::flat(to as u64, from as u64, bytes as u64, kind));
        exchange(&mut runtime.graphs.node(node as usize)?.work, work)
    }

    /// Sets the parameters of a fill node.
    fn cudaGraphMemsetNodeSetParams(node: NodeHandle, parameters: *const FillParameters) |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = unsafe { fill(parameters)? };
        exchange(&mut runtime.graphs.node(node as usize)?.work, work)
    }

    /// Sets the function of a host node.
    fn cudaGraphHostNodeSetParams(node: NodeHandle, parameters: *const HostParameters) |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let work = unsafe { host(parameters)? };
        exchange(&mut runtime.graphs.node(node as usize)?.work, work)
    }
}

/// Replaces a node's work with work of the same kind.
pub(in crate::api) fn exchange(old: &mut Work, new: Work) -> Result<(), Error> {
    if old.kind() != new.kind() {
        return Err(error::INVALID_VALUE);
    }
    *old = new;
    Ok(())
}
