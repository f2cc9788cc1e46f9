//! Capturing streams into graphs.

use crate::api::{api, per_thread, put};
use crate::cuda::error;
use crate::cuda::types::StreamHandle;
use std::ffi::{c_int, c_ulonglong, c_void};

/// `cudaGraph_t`.
type GraphHandle = *mut c_void;

const STATUS: [c_int; 2] = [0, 1];

api! {
    /// Begins the capture of a stream's work into a graph. In CUDA, the mode selects which calls of other threads are
    /// refused during the capture; Warpline refuses none.
    fn cudaStreamBeginCapture(stream: StreamHandle, mode: c_int) |runtime, entry|
        => crate::gpu::graphs::calls::begin_capture {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        if !(0..=2).contains(&mode) {
            return Err(error::INVALID_VALUE);
        }
        runtime.captures.begin(&mut runtime.graphs, stream as usize)
    }

    /// Ends a capture.
    fn cudaStreamEndCapture(stream: StreamHandle, graph: *mut GraphHandle) |runtime, entry|
        => crate::gpu::graphs::calls::end_capture {
        let _ = entry;
        if graph.is_null() {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.captures.end(&mut runtime.graphs, stream as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(graph, handle as GraphHandle) }
    }

    /// Returns whether a stream is being captured.
    fn cudaStreamIsCapturing(stream: StreamHandle, status: *mut c_int) |runtime, entry| {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        let captured = runtime.captures.find(stream as usize).is_some();
        // SAFETY: by the contract of the API function.
        unsafe { put(status, STATUS[usize::from(captured)]) }
    }

    /// Returns the number and the graph of a stream's capture. The nodes on which the next node depends are not
    /// reported.
    fn cudaStreamGetCaptureInfo(
        stream: StreamHandle,
        status: *mut c_int,
        number: *mut c_ulonglong,
        graph: *mut GraphHandle,
        after: *mut *const c_void,
        edges: *mut *const c_void,
        count: *mut usize,
    ) |runtime, entry| {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        if !after.is_null() || !edges.is_null() || !count.is_null() {
            crate::output::message::note("cudaStreamGetCaptureInfo: dependencies are not supported");
            return Err(error::NOT_SUPPORTED);
        }
        let captured = runtime.captures.find(stream as usize);
        // SAFETY: by the contract of the API function.
        unsafe {
            if !number.is_null() {
                put(number, captured.map_or(0, |(number, _)| number))?;
            }
            if !graph.is_null() {
                put(graph, captured.map_or(0, |(_, graph)| graph) as GraphHandle)?;
            }
            put(status, STATUS[usize::from(captured.is_some())])
        }
    }

    /// Exchanges the thread's capture mode, which has no effect.
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        if mode.is_null() { Err(error::INVALID_VALUE) } else { Ok(()) }
    }
}

per_thread! {
    cudaStreamBeginCapture_ptsz = cudaStreamBeginCapture, (stream: StreamHandle, mode: c_int) [stream];
    cudaStreamEndCapture_ptsz = cudaStreamEndCapture, (stream: StreamHandle, graph: *mut GraphHandle) [stream];
    cudaStreamIsCapturing_ptsz = cudaStreamIsCapturing, (stream: StreamHandle, status: *mut c_int) [stream];
    cudaStreamGetCaptureInfo_ptsz = cudaStreamGetCaptureInfo, (stream: StreamHandle, status: *mut c_int,
        number: *mut c_ulonglong, graph: *mut GraphHandle, after: *mut *const c_void, edges: *mut *const c_void,
        count: *mut usize) [stream];
}
