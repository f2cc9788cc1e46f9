//! Streams and events of the driver API: their handles are the runtime's.

use super::driver_api;
use crate::api::events::{DISABLE_TIMING, FLAGS as EVENT_FLAGS, record};
use crate::api::streams::PRIORITIES;
use crate::api::{per_thread, put};
use crate::cuda::error;
use crate::cuda::types::{EventHandle, StreamHandle};
use crate::state::contexts;
use std::ffi::{c_int, c_uint};

driver_api! {
    /// Creates a stream.
    fn cuStreamCreate(stream: *mut StreamHandle, flags: c_uint) needs Context |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.streams.create(flags, 0);
        // SAFETY: by the contract of the API function.
        unsafe { put(stream, handle as StreamHandle) }
    }

    /// Returns a stream's priority.
    fn cuStreamGetPriority(stream: StreamHandle, priority: *mut c_int) needs Context |runtime, entry| {
        let _ = entry;
        let value = runtime.streams.get(stream as usize)?.priority;
        // SAFETY: by the contract of the API function.
        unsafe { put(priority, value) }
    }

    /// Returns a stream's flags.
    fn cuStreamGetFlags(stream: StreamHandle, flags: *mut c_uint) needs Context |runtime, entry| {
        let _ = entry;
        let value = runtime.streams.get(stream as usize)?.flags;
        // SAFETY: by the contract of the API function.
        unsafe { put(flags, value) }
    }

    /// Returns a stream's context.
    fn cuStreamGetCtx(stream: StreamHandle, context: *mut usize) needs Context |runtime, entry| {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(context, contexts::current()) }
    }

    /// Creates a stream with a priority, which is clamped to the supported range.
    fn cuStreamCreateWithPriority(stream: *mut StreamHandle, flags: c_uint, priority: c_int) needs Context |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.streams.create(flags, priority.clamp(PRIORITIES.1, PRIORITIES.0));
        // SAFETY: by the contract of the API function.
        unsafe { put(stream, handle as StreamHandle) }
    }

    /// Destroys a stream.
    fn cuStreamDestroy_v2(stream: StreamHandle) needs Context |runtime, entry| {
        let _ = entry;
        runtime.streams.destroy(stream as usize)
    }

    /// Waits for a stream.
    fn cuStreamSynchronize(stream: StreamHandle) needs Context |runtime, entry| {
        let _ = entry;
        runtime.flush_output();
        runtime.streams.wait_for(stream as usize)
    }

    /// Returns that a stream is idle, which is always true.
    fn cuStreamQuery(stream: StreamHandle) needs Context |runtime, entry| {
        let _ = entry;
        runtime.streams.wait_for(stream as usize)
    }

    /// Makes a stream wait for an event. The event has already happened, or it is a position in a capture, which the
    /// stream then joins.
    fn cuStreamWaitEvent(stream: StreamHandle, event: EventHandle, flags: c_uint) needs Context |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        runtime.streams.order_after_event(stream as usize, event as usize)?;
        runtime.captures.wait(stream as usize, event as usize).map(|_| ())
    }

    /// Creates an event.
    fn cuEventCreate(event: *mut EventHandle, flags: c_uint) needs Context |runtime, entry| {
        let _ = entry;
        if flags & !EVENT_FLAGS != 0 {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.streams.create_event(flags & DISABLE_TIMING != 0);
        // SAFETY: by the contract of the API function.
        unsafe { put(event, handle as EventHandle) }
    }

    /// Records an event with the current time.
    fn cuEventRecord(event: EventHandle, stream: StreamHandle) needs Context |runtime, entry| {
        let _ = entry;
        record(runtime, event as usize, stream as usize)
    }

    /// Records an event with the current time; the flags only affect graphs.
    fn cuEventRecordWithFlags(event: EventHandle, stream: StreamHandle, flags: c_uint) needs Context |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        record(runtime, event as usize, stream as usize)
    }

    /// Returns that the work before the event is done, which is always true.
    fn cuEventQuery(event: EventHandle) needs Context |runtime, entry| {
        let _ = entry;
        runtime.streams.wait_for_event(event as usize)
    }

    /// Waits for the work before the event.
    fn cuEventSynchronize(event: EventHandle) needs Context |runtime, entry| {
        let _ = entry;
        runtime.flush_output();
        runtime.streams.wait_for_event(event as usize)
    }

    /// Destroys an event.
    fn cuEventDestroy_v2(event: EventHandle) needs Context |runtime, entry| {
        let _ = entry;
        runtime.streams.destroy_event(event as usize)
    }

    /// Returns the milliseconds between two events.
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: EventHandle, end: EventHandle) needs Context |runtime, entry| {
        let _ = entry;
        let elapsed = runtime.streams.elapsed(start as usize, end as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(milliseconds, elapsed) }
    }
}

per_thread! {
    cuStreamSynchronize_ptsz = cuStreamSynchronize, (stream: StreamHandle) [stream];
    cuStreamQuery_ptsz = cuStreamQuery, (stream: StreamHandle) [stream];
    cuStreamWaitEvent_ptsz = cuStreamWaitEvent, (stream: StreamHandle, event: EventHandle, flags: c_uint) [stream];
    cuEventRecord_ptsz = cuEventRecord, (event: EventHandle, stream: StreamHandle) [stream];
}
