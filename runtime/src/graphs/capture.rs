//! Streams that are being captured: work on them becomes nodes of a graph.

use super::graph::Graphs;
use super::work::Work;
use crate::cuda::error::{self, Error};
use std::collections::HashMap;

/// The position of a stream or an event in a capture.
#[derive(Clone, Debug)]
struct CapturePoint {
    /// The number of the capture.
    capture: u64,
    /// The nodes on which the next node depends.
    last: Vec<usize>,
}

/// The active captures.
#[derive(Debug, Default)]
pub struct Captures {
    /// For each capture, by number, the graph and the stream in which it began.
    begun: HashMap<u64, (usize, usize)>,
    streams: HashMap<usize, CapturePoint>,
    events: HashMap<usize, CapturePoint>,
    number: u64,
}

/// The default stream and `cudaStreamLegacy`, which cannot be captured.
const LEGACY: [usize; 2] = [0, 1];

impl Captures {
    /// Returns the number and the graph of a stream's capture, if the stream is being captured.
    pub fn find(&self, stream: usize) -> Option<(u64, usize)> {
        let part = self.streams.get(&stream)?;
        Some((part.capture, self.begun.get(&part.capture)?.0))
    }

    /// Begins a capture.
    pub fn begin(&mut self, graphs: &mut Graphs, stream: usize) -> Result<(), Error> {
        if LEGACY.contains(&stream) {
            return Err(error::STREAM_CAPTURE_UNSUPPORTED);
        }
        if self.streams.contains_key(&stream) {
            return Err(error::ILLEGAL_STATE);
        }
        self.number += 1;
        let graph = graphs.add(super::graph::Graph::default());
        self.begun.insert(self.number, (graph, stream));
        self.streams.insert(stream, CapturePoint { capture: self.number, last: Vec::new() });
        Ok(())
    }

    /// Ends a capture in the stream in which it began, and returns the graph.
    pub fn end(&mut self, graphs: &mut Graphs, stream: usize) -> Result<usize, Error> {
        let part = self.streams.get(&stream).ok_or(error::ILLEGAL_STATE)?.clone();
        let &(graph, origin) = self.begun.get(&part.capture).ok_or(error::ILLEGAL_STATE)?;
        if origin != stream {
            return Err(error::STREAM_CAPTURE_UNMATCHED);
        }
        // Work of other streams must be joined into this stream: every node must have a successor in this stream.
        let nodes = &graphs.graph(graph)?.nodes;
        let mut reached = part.last.clone();
        let mut at = 0;
        while at < reached.len() {
            if let Some(node) = nodes.iter().find(|node| node.handle == reached[at]) {
                let new: Vec<usize> = node.after.iter().copied().filter(|before| !reached.contains(before)).collect();
                reached.extend(new);
            }
            at += 1;
        }
        let joined = nodes.len() == reached.len();
        self.streams.retain(|_, other| other.capture != part.capture);
        self.events.retain(|_, other| other.capture != part.capture);
        self.begun.remove(&part.capture);
        if joined {
            Ok(graph)
        } else {
            graphs.remove(graph)?;
            Err(error::STREAM_CAPTURE_UNJOINED)
        }
    }

    /// Adds work to the capture of a stream.
    pub fn take(&mut self, graphs: &mut Graphs, stream: usize, work: Work) -> Result<(), Error> {
        let part = self.streams.get_mut(&stream).ok_or(error::ILLEGAL_STATE)?;
        let &(graph, _) = self.begun.get(&part.capture).ok_or(error::ILLEGAL_STATE)?;
        let node = graphs.add_node(graph, std::mem::take(&mut part.last), work)?;
        part.last.push(node);
        Ok(())
    }

    /// Records an event in a stream. Returns `true` if the stream is being captured.
    pub fn record(&mut self, stream: usize, event: usize) -> bool {
        match self.streams.get(&stream) {
            Some(part) => {
                self.events.insert(event, part.clone());
                true
            }
            None => {
                self.events.remove(&event);
                false
            }
        }
    }

    /// Makes a stream wait for an event. If the event was recorded in a capture, the stream joins the capture. Returns
    /// `true` if the stream is in a capture.
    pub fn wait(&mut self, stream: usize, event: usize) -> Result<bool, Error> {
        let Some(event) = self.events.get(&event) else {
            let captured = self.streams.contains_key(&stream);
            // A stream in a capture cannot wait for work outside the capture.
            return if captured { Err(error::STREAM_CAPTURE_ISOLATION) } else { Ok(false) };
        };
        if LEGACY.contains(&stream) {
            return Err(error::STREAM_CAPTURE_IMPLICIT);
        }
        let part =
            self.streams.entry(stream).or_insert_with(|| CapturePoint { capture: event.capture, last: Vec::new() });
        if part.capture != event.capture {
            return Err(error::STREAM_CAPTURE_MERGE);
        }
        for node in &event.last {
            if !part.last.contains(node) {
                part.last.push(*node);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_fork_and_join_by_events() {
        let (mut graphs, mut captures) = (Graphs::default(), Captures::default());
        captures.begin(&mut graphs, 10).unwrap();
        captures.take(&mut graphs, 10, Work::Empty).unwrap();
        assert!(captures.record(10, 1));
        assert_eq!(captures.wait(20, 1), Ok(true));
        captures.take(&mut graphs, 20, Work::Empty).unwrap();
        captures.take(&mut graphs, 10, Work::Empty).unwrap();
        captures.record(20, 2);
        assert_eq!(captures.wait(10, 2), Ok(true));
        captures.take(&mut graphs, 10, Work::Empty).unwrap();
        assert_eq!(captures.end(&mut graphs, 20), Err(error::STREAM_CAPTURE_UNMATCHED));
        let graph = captures.end(&mut graphs, 10).unwrap();
        let nodes = &graphs.graph(graph).unwrap().nodes;
        let after: Vec<usize> = nodes.iter().map(|node| node.after.len()).collect();
        assert_eq!(after, [0, 1, 1, 2]);
        assert!(captures.find(10).is_none() && captures.find(20).is_none());
    }

    #[test]
    fn what_is_not_joined_is_an_error() {
        let (mut graphs, mut captures) = (Graphs::default(), Captures::default());
        captures.begin(&mut graphs, 10).unwrap();
        captures.record(10, 1);
        captures.wait(20, 1).unwrap();
        captures.take(&mut graphs, 20, Work::Empty).unwrap();
        assert_eq!(captures.end(&mut graphs, 10), Err(error::STREAM_CAPTURE_UNJOINED));
        assert_eq!(captures.begin(&mut graphs, 0), Err(error::STREAM_CAPTURE_UNSUPPORTED));
        assert_eq!(captures.end(&mut graphs, 10), Err(error::ILLEGAL_STATE));
    }
}
