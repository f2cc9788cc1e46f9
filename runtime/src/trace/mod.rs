//! The producer's side of the trace: it assigns numbers to call paths and defines the order of events.

pub mod sink;
pub mod writer;

use crate::call_paths::{Frames, Objects};
use std::collections::HashMap;
use warpline_format::event::{CallPathFrame, Event, INTERPRETED, InterpretedFrame, PathId};
use warpline_format::stop::HostPath;
use writer::Writer;

/// The trace of this process.
#[derive(Debug)]
pub struct Trace {
    writer: Writer,
    objects: Objects,
    announced: usize,
    /// The paths, keyed by raw return addresses, because this is cheaper than resolving the addresses each time.
    raw: HashMap<Frames, PathId>,
    paths: HashMap<Vec<CallPathFrame>, PathId>,
    /// The numbers of positions in interpreted programs.
    interpreted: HashMap<InterpretedFrame, u64>,
    recorded_bytes: u64,
}

impl Trace {
    /// Creates a trace that `writer` writes.
    pub fn new(writer: Writer) -> Trace {
        Trace {
            writer,
            objects: Objects::default(),
            announced: 0,
            raw: HashMap::new(),
            paths: HashMap::new(),
            interpreted: HashMap::new(),
            recorded_bytes: 0,
        }
    }

    /// Returns whether the trace is written.
    pub fn is_on(&self) -> bool {
        self.writer.is_on()
    }

    /// Writes an event.
    pub fn event(&mut self, event: Event) {
        self.writer.event(event);
    }

    /// Returns the number of bytes of items so far.
    pub fn recorded_bytes(&self) -> u64 {
        self.recorded_bytes
    }

    /// Writes a batch of items.
    pub fn batch(&mut self, launch: u64, items: &[u8]) {
        self.recorded_bytes += items.len() as u64;
        self.writer.batch(launch, items);
    }

    /// Ends the stream.
    pub fn finish(&mut self, launches: u64) {
        self.writer.finish(launches);
    }

    /// Returns a call path with all objects to which its frames refer; the result is empty for an unknown path.
    pub fn host_path(&self, id: PathId) -> HostPath {
        let path = self.paths.iter().find(|(_, known)| **known == id);
        let frames = path.map_or(Vec::new(), |(frames, _)| frames.clone());
        let objects = self.objects.known(0).into_iter().filter_map(|event| match event {
            Event::Object { id, path, build_id } => Some((id, path, build_id)),
            _ => None,
        });
        let refers = |object: u32, offset: Option<u64>| {
            frames.iter().any(|frame| frame.object == object && offset.is_none_or(|offset| frame.offset == offset))
        };
        let objects = objects.filter(|(id, ..)| refers(*id, None)).collect();
        let named = self.interpreted.iter().filter(|(_, number)| refers(INTERPRETED, Some(**number)));
        let interpreted = named.map(|(frame, number)| (*number, frame.clone())).collect();
        HostPath { frames, objects, interpreted }
    }

    /// Returns the number of a call path, and writes the path to the trace if it is new.
    pub fn path(&mut self, frames: Frames) -> PathId {
        if frames.is_empty() || !self.is_on() {
            return 0;
        }
        if let Some(&id) = self.raw.get(&frames) {
            return id;
        }
        let resolved: Vec<CallPathFrame> = frames.iter().map(|&address| self.objects.resolve(address)).collect();
        for object in self.objects.known(self.announced) {
            self.writer.event(object);
        }
        self.announced = self.objects.numbered();
        let id = self.announce(resolved);
        self.raw.insert(frames, id);
        id
    }

    /// Returns the number of an interpreted program's path, innermost frame first.
    pub fn interpreted_path(&mut self, frames: Vec<InterpretedFrame>) -> PathId {
        if frames.is_empty() || !self.is_on() {
            return 0;
        }
        let mut resolved = Vec::with_capacity(frames.len());
        for frame in frames {
            let next = self.interpreted.len() as u64;
            let id = *self.interpreted.entry(frame.clone()).or_insert(next);
            if id == next {
                self.writer.event(Event::InterpretedFrame { id, frame });
            }
            resolved.push(CallPathFrame { object: INTERPRETED, offset: id });
        }
        self.announce(resolved)
    }

    fn announce(&mut self, frames: Vec<CallPathFrame>) -> PathId {
        let next = self.paths.len() as PathId + 1;
        let id = *self.paths.entry(frames.clone()).or_insert(next);
        if id == next {
            self.writer.event(Event::Path { id, frames });
        }
        id
    }
}
