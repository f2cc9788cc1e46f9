//! Events. The time between two events is the real time of the work between them.

use super::{api, per_thread, put};
use crate::cuda::error::{self, Error};
use crate::cuda::types::{EventHandle, StreamHandle};
use crate::state::runtime::Runtime;
use std::ffi::c_uint;
use std::time::Instant;

/// `cudaEventDisableTiming`.
pub(super) const DISABLE_TIMING: c_uint = 2;
/// The flags for blocking synchronization, disabled timing and interprocess events.
pub(super) const FLAGS: c_uint = 7;

/// Records an event. If the stream is being captured, the event becomes part of the capture.
pub(super) fn record(runtime: &mut Runtime, event: usize, stream: usize) -> Result<(), Error> {
    let queue = runtime.streams.get(stream)?;
    let event_state = runtime.streams.event(event)?;
    if !runtime.captures.record(stream, event) {
        event_state.recorded = Some(Instant::now());
        runtime.streams.order.record(event, queue.number, queue.is_blocking());
    }
    Ok(())
}

api! {
    /// Creates an event.
    fn cudaEventCreate(event: *mut EventHandle) |runtime, entry| {
        let _ = entry;
        let handle = runtime.streams.create_event(false);
        // SAFETY: by the contract of the API function.
        unsafe { put(event, handle as EventHandle) }
    }

    /// Creates an event with flags.
    fn cudaEventCreateWithFlags(event: *mut EventHandle, flags: c_uint) |runtime, entry| {
        let _ = entry;
        if flags & !FLAGS != 0 {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.streams.create_event(flags & DISABLE_TIMING != 0);
        // SAFETY: by the contract of the API function.
        unsafe { put(event, handle as EventHandle) }
    }

    /// Records an event with the current time.
    fn cudaEventRecord(event: EventHandle, stream: StreamHandle) |runtime, entry| {
        let _ = entry;
        record(runtime, event as usize, stream as usize)
    }

    /// Records an event with the current time.
    fn cudaEventRecordWithFlags(event: EventHandle, stream: StreamHandle, flags: c_uint) |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        record(runtime, event as usize, stream as usize)
    }

    /// Returns that the work before the event is done, which is always true.
    fn cudaEventQuery(event: EventHandle) |runtime, entry| {
        let _ = entry;
        runtime.streams.wait_for_event(event as usize)
    }

    /// Waits for the work before the event.
    fn cudaEventSynchronize(event: EventHandle) |runtime, entry| {
        let _ = entry;
        runtime.flush_output();
        runtime.streams.wait_for_event(event as usize)
    }

    /// Destroys an event.
    fn cudaEventDestroy(event: EventHandle) |runtime, entry| {
        let _ = entry;
        runtime.streams.destroy_event(event as usize)
    }

    /// Returns the milliseconds between two events.
    fn cudaEventElapsedTime(milliseconds: *mut f32, start: EventHandle, end: EventHandle) |runtime, entry| {
        let _ = entry;
        let elapsed = runtime.streams.elapsed(start as usize, end as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(milliseconds, elapsed) }
    }
}

per_thread! {
    cudaEventRecord_ptsz = cudaEventRecord, (event: EventHandle, stream: StreamHandle) [stream];
    cudaEventRecordWithFlags_ptsz = cudaEventRecordWithFlags, (event: EventHandle, stream: StreamHandle, flags: c_uint) [stream];
}
