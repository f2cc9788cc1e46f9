//! Streams and events. Every call finishes before it returns, so a stream never has unfinished work. The state consists
//! only of the handles, their attributes, and the times of events.

use super::stream_order::StreamOrder;
use crate::cuda::error::{self, Error};
use std::collections::HashMap;
use std::time::Instant;

/// `cudaStreamLegacy`.
const LEGACY: usize = 1;
/// `cudaStreamPerThread`.
const PER_THREAD: usize = 2;

/// `cudaLaunchAttributeValue`, a union.
pub type AttributeValue = [u64; 8];

/// `cudaLaunchAttributeAccessPolicyWindow`, `…SynchronizationPolicy`, `…Priority`, `…MemSyncDomainMap`, `…MemSyncDomain`:
/// the attributes that streams have.
const STREAM_ATTRIBUTES: [i32; 5] = [1, 3, 8, 9, 10];

/// A stream.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// The stream's number in the trace; 0 is the default stream.
    pub number: u32,
    /// The flags with which the stream was created.
    pub flags: u32,
    /// Priority.
    pub priority: i32,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Whether the event stores no time.
    pub disable_timing: bool,
    /// The time when the event was last recorded.
    pub recorded: Option<Instant>,
}

/// All handles of the process.
#[derive(Debug, Default)]
pub struct Streams {
    streams: HashMap<usize, Stream>,
    events: HashMap<usize, Event>,
    /// The attributes that the program has set, by stream.
    attributes: HashMap<(usize, i32), AttributeValue>,
    created: u32,
    /// Whether a stream was created that does not wait for the default stream.
    has_independent: bool,
    handle: usize,
    /// The order of the streams' work.
    pub order: StreamOrder,
}

/// The creation flag of a stream that does not wait for the default stream, and for which the default stream does not
/// wait.
const NON_BLOCKING: u32 = 1;

impl Stream {
    /// Returns whether the stream and the legacy default stream wait for each other.
    pub fn is_blocking(self) -> bool {
        self.flags & NON_BLOCKING == 0
    }
}

impl Streams {
    /// Returns whether work of two streams can overlap. This is not possible if only the default stream and one stream
    /// that waits for it exist.
    pub fn can_overlap(&self) -> bool {
        self.created > 1 || self.has_independent
    }

    /// Returns whether the stream with this number waits for the default stream; for destroyed streams, the result is
    /// true.
    pub fn is_blocking(&self, number: u32) -> bool {
        self.streams.values().find(|stream| stream.number == number).is_none_or(|stream| stream.is_blocking())
    }

    /// Records that the host has waited for the stream's work, or has found that it is done.
    pub fn wait_for(&mut self, handle: usize) -> Result<(), Error> {
        let stream = self.get(handle)?;
        self.order.wait_for_stream(stream.number, stream.is_blocking());
        Ok(())
    }

    /// Records that the host has waited for an event, or has found that it has happened.
    pub fn wait_for_event(&mut self, handle: usize) -> Result<(), Error> {
        self.event(handle)?;
        self.order.wait_for_event(handle);
        Ok(())
    }

    /// Records that later work of a stream waits for an event.
    pub fn order_after_event(&mut self, handle: usize, event: usize) -> Result<(), Error> {
        let stream = self.get(handle)?;
        self.event(event)?;
        self.order.wait(stream.number, stream.is_blocking(), event);
        Ok(())
    }

    /// Returns a new handle. Handles have the form of pointers, because programs test them for null and print them;
    /// they are never reused.
    fn new_handle(&mut self) -> usize {
        self.handle += 1;
        0x5770_0000_0000 + self.handle * 64
    }

    /// Creates a stream.
    pub fn create(&mut self, flags: u32, priority: i32) -> usize {
        self.created += 1;
        self.has_independent |= flags & NON_BLOCKING != 0;
        let handle = self.new_handle();
        self.streams.insert(handle, Stream { number: self.created, flags, priority });
        handle
    }

    /// Returns the stream with a handle.
    pub fn get(&self, handle: usize) -> Result<Stream, Error> {
        match handle {
            0 | LEGACY | PER_THREAD => Ok(Stream { number: 0, flags: 0, priority: 0 }),
            _ => self.streams.get(&handle).copied().ok_or(error::INVALID_RESOURCE_HANDLE),
        }
    }

    /// Destroys a stream that the program created.
    pub fn destroy(&mut self, handle: usize) -> Result<(), Error> {
        self.attributes.retain(|(stream, _), _| *stream != handle);
        let stream = self.streams.remove(&handle).ok_or(error::INVALID_RESOURCE_HANDLE)?;
        self.order.destroy(stream.number);
        Ok(())
    }

    /// Sets an attribute.
    pub fn set_attribute(&mut self, handle: usize, which: i32, value: AttributeValue) -> Result<(), Error> {
        self.get(handle)?;
        if !STREAM_ATTRIBUTES.contains(&which) {
            return Err(error::INVALID_VALUE);
        }
        self.attributes.insert((handle, which), value);
        Ok(())
    }

    /// Returns an attribute, which is zero if it was not set.
    pub fn attribute(&self, handle: usize, which: i32) -> Result<AttributeValue, Error> {
        self.get(handle)?;
        if !STREAM_ATTRIBUTES.contains(&which) {
            return Err(error::INVALID_VALUE);
        }
        Ok(self.attributes.get(&(handle, which)).copied().unwrap_or_default())
    }

    /// Copies all attributes.
    pub fn copy_attributes(&mut self, to: usize, from: usize) -> Result<(), Error> {
        self.get(to)?;
        for which in STREAM_ATTRIBUTES {
            let value = self.attribute(from, which)?;
            self.attributes.insert((to, which), value);
        }
        Ok(())
    }

    /// Creates an event.
    pub fn create_event(&mut self, disable_timing: bool) -> usize {
        let handle = self.new_handle();
        self.events.insert(handle, Event { disable_timing, recorded: None });
        handle
    }

    /// Returns the event with a handle.
    pub fn event(&mut self, handle: usize) -> Result<&mut Event, Error> {
        self.events.get_mut(&handle).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Destroys an event.
    pub fn destroy_event(&mut self, handle: usize) -> Result<(), Error> {
        self.order.forget(handle);
        self.events.remove(&handle).map(|_| ()).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Returns the milliseconds between two events.
    pub fn elapsed(&mut self, start: usize, end: usize) -> Result<f32, Error> {
        let (start, end) = (*self.event(start)?, *self.event(end)?);
        if start.disable_timing || end.disable_timing {
            return Err(error::INVALID_RESOURCE_HANDLE);
        }
        let (Some(from), Some(to)) = (start.recorded, end.recorded) else {
            return Err(error::INVALID_RESOURCE_HANDLE);
        };
        let milliseconds = |from: Instant, to: Instant| to.duration_since(from).as_secs_f64() * 1e3;
        Ok((if to >= from { milliseconds(from, to) } else { -milliseconds(to, from) }) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_known_until_destroyed() {
        let mut streams = Streams::default();
        let first = streams.create(1, -2);
        let second = streams.create(0, 0);
        assert_ne!(first, second);
        assert_eq!(streams.get(first).unwrap().number, 1);
        assert_eq!(streams.get(0).unwrap().number, 0);
        assert!(streams.destroy(first).is_ok());
        assert_eq!(streams.destroy(first), Err(error::INVALID_RESOURCE_HANDLE));
        assert!(streams.get(first).is_err());
        assert!(streams.destroy(0).is_err());
    }

    #[test]
    fn time_needs_two_records() {
        let mut streams = Streams::default();
        let (start, end) = (streams.create_event(false), streams.create_event(false));
        assert!(streams.elapsed(start, end).is_err());
        streams.event(start).unwrap().recorded = Some(Instant::now());
        streams.event(end).unwrap().recorded = Some(Instant::now());
        assert!(streams.elapsed(start, end).unwrap() >= 0.0);
        assert!(streams.elapsed(end, start).unwrap() <= 0.0);
        let silent = streams.create_event(true);
        streams.event(silent).unwrap().recorded = Some(Instant::now());
        assert!(streams.elapsed(start, silent).is_err());
    }
}
