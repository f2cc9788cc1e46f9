//! Streams.

use super::{api, per_thread, put};
use crate::cuda::error::{self, Error};
use crate::cuda::types::{EventHandle, StreamCallback, StreamHandle};
use crate::state::failed_calls::{self, Call};
use crate::state::runtime::call_as;
use crate::state::streams::AttributeValue;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

/// The least and the greatest stream priority.
pub const PRIORITIES: (c_int, c_int) = (0, -5);

api! {
    /// Creates a stream.
    fn cudaStreamCreate(stream: *mut StreamHandle) |runtime, entry| {
        let _ = entry;
        let handle = runtime.streams.create(0, 0);
        // SAFETY: by the contract of the API function.
        unsafe { put(stream, handle as StreamHandle) }
    }

    /// Creates a stream with flags.
    fn cudaStreamCreateWithFlags(stream: *mut StreamHandle, flags: c_uint) |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.streams.create(flags, 0);
        // SAFETY: by the contract of the API function.
        unsafe { put(stream, handle as StreamHandle) }
    }

    /// Creates a stream with a priority, which is clamped to the supported range.
    fn cudaStreamCreateWithPriority(stream: *mut StreamHandle, flags: c_uint, priority: c_int) |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.streams.create(flags, priority.clamp(PRIORITIES.1, PRIORITIES.0));
        // SAFETY: by the contract of the API function.
        unsafe { put(stream, handle as StreamHandle) }
    }

    /// Destroys a stream.
    fn cudaStreamDestroy(stream: StreamHandle) |runtime, entry| {
        let _ = entry;
        runtime.streams.destroy(stream as usize)
    }

    /// Waits for a stream.
    fn cudaStreamSynchronize(stream: StreamHandle) |runtime, entry| {
        let _ = entry;
        runtime.flush_output();
        runtime.streams.wait_for(stream as usize)
    }

    /// Returns that a stream is idle, which is always true.
    fn cudaStreamQuery(stream: StreamHandle) |runtime, entry| {
        let _ = entry;
        runtime.streams.wait_for(stream as usize)
    }

    /// Makes a stream wait for an event. The event has already happened, or it is a position in a capture, which the
    /// stream then joins.
    fn cudaStreamWaitEvent(stream: StreamHandle, event: EventHandle, flags: c_uint) |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        runtime.streams.order_after_event(stream as usize, event as usize)?;
        runtime.captures.wait(stream as usize, event as usize).map(|_| ())
    }

    /// Returns a stream's priority.
    fn cudaStreamGetPriority(stream: StreamHandle, priority: *mut c_int) |runtime, entry| {
        let _ = entry;
        let value = runtime.streams.get(stream as usize)?.priority;
        // SAFETY: by the contract of the API function.
        unsafe { put(priority, value) }
    }

    /// Returns a stream's flags.
    fn cudaStreamGetFlags(stream: StreamHandle, flags: *mut c_uint) |runtime, entry| {
        let _ = entry;
        let value = runtime.streams.get(stream as usize)?.flags;
        // SAFETY: by the contract of the API function.
        unsafe { put(flags, value) }
    }

    /// Returns a stream's number.
    fn cudaStreamGetId(stream: StreamHandle, id: *mut c_ulonglong) |runtime, entry| {
        let _ = entry;
        let value = runtime.streams.get(stream as usize)?.number;
        // SAFETY: by the contract of the API function.
        unsafe { put(id, c_ulonglong::from(value)) }
    }

    /// Returns a stream's device.
    fn cudaStreamGetDevice(stream: StreamHandle, device: *mut c_int) |runtime, entry| {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(device, 0) }
    }

    /// Sets an attribute of a stream. The values are hints about caches, synchronization and priority, which do not
    /// change any result.
    fn cudaStreamSetAttribute(stream: StreamHandle, which: c_int, value: *const c_void) |runtime, entry| {
        let _ = entry;
        if value.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract, a union of this size.
        let value = unsafe { value.cast::<AttributeValue>().read() };
        runtime.streams.set_attribute(stream as usize, which, value)?;
        runtime.note_attribute("cudaStreamSetAttribute", which, &value);
        Ok(())
    }

    /// Returns an attribute of a stream, as it was set.
    fn cudaStreamGetAttribute(stream: StreamHandle, which: c_int, value: *mut c_void) |runtime, entry| {
        let _ = entry;
        let found = runtime.streams.attribute(stream as usize, which)?;
        // SAFETY: by the contract, a union of this size.
        unsafe { put(value.cast(), found) }
    }

    /// Copies the attributes of a stream to another one.
    fn cudaStreamCopyAttributes(to: StreamHandle, from: StreamHandle) |runtime, entry| {
        let _ = entry;
        runtime.streams.copy_attributes(to as usize, from as usize)
    }
}

/// Calls a host function after the stream's earlier work. This work is already complete, so the function is called
/// immediately.
///
/// # Safety
/// The callback accepts the pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamAddCallback(
    stream: StreamHandle,
    callback: Option<StreamCallback>,
    data: *mut c_void,
    flags: c_uint,
) -> Error {
    let here = 0u8;
    let call =
        Call { function: "cudaStreamAddCallback", entry: crate::call_paths::Entry::new(std::hint::black_box(&here)) };
    if crate::real::active() {
        let code = crate::gpu::forward!(cudaStreamAddCallback, (stream: StreamHandle, callback: Option<StreamCallback>,
            data: *mut c_void, flags: c_uint));
        return failed_calls::returned(call, code);
    }
    let known = call_as(call, 0, |runtime| {
        runtime.streams.get(stream as usize)?;
        if runtime.captures.find(stream as usize).is_some() {
            return Err(error::STREAM_CAPTURE_UNSUPPORTED);
        }
        // The callback may release work for which the host waits.
        runtime.streams.wait_for(stream as usize)?;
        if callback.is_some() && flags == 0 { Ok(()) } else { Err(error::INVALID_VALUE) }
    });
    if known == error::SUCCESS
        && let Some(callback) = callback
    {
        // SAFETY: by the contract of the API function.
        unsafe { callback(stream, error::SUCCESS, data) };
    }
    known
}

per_thread! {
    cudaStreamSetAttribute_ptsz = cudaStreamSetAttribute, (stream: StreamHandle, which: c_int, value: *const c_void) [stream];
    cudaStreamGetAttribute_ptsz = cudaStreamGetAttribute, (stream: StreamHandle, which: c_int, value: *mut c_void) [stream];
    cudaStreamCopyAttributes_ptsz = cudaStreamCopyAttributes, (to: StreamHandle, from: StreamHandle) [to, from];
    cudaStreamSynchronize_ptsz = cudaStreamSynchronize, (stream: StreamHandle) [stream];
    cudaStreamQuery_ptsz = cudaStreamQuery, (stream: StreamHandle) [stream];
    cudaStreamWaitEvent_ptsz = cudaStreamWaitEvent, (stream: StreamHandle, event: EventHandle, flags: c_uint) [stream];
    cudaStreamGetPriority_ptsz = cudaStreamGetPriority, (stream: StreamHandle, priority: *mut c_int) [stream];
    cudaStreamGetFlags_ptsz = cudaStreamGetFlags, (stream: StreamHandle, flags: *mut c_uint) [stream];
    cudaStreamGetId_ptsz = cudaStreamGetId, (stream: StreamHandle, id: *mut c_ulonglong) [stream];
    cudaStreamGetDevice_ptsz = cudaStreamGetDevice, (stream: StreamHandle, device: *mut c_int) [stream];
    cudaStreamAddCallback_ptsz = cudaStreamAddCallback, (stream: StreamHandle, callback: Option<StreamCallback>,
        data: *mut c_void, flags: c_uint) [stream];
}
