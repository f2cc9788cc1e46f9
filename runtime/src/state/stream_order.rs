//! The partial order of the program's work that results from streams, events and waits of the host. Each stream, each
//! event and the host have a vector clock (Mattern, "Virtual time and global states of distributed systems", 1989).
//!
//! The CPU device performs all work immediately, in the order of the calls. On a GPU, work of two streams may overlap
//! unless an event, the legacy default stream or the host orders it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use warpline_format::event::WorkOrder;

/// The number of the legacy default stream.
const DEFAULT: u32 = 0;

/// For each stream, the number of its last work that is ordered before.
type VectorClock = BTreeMap<u32, u64>;

fn join(clock: &mut VectorClock, other: &VectorClock) {
    for (&stream, &number) in other {
        let known = clock.entry(stream).or_default();
        *known = (*known).max(number);
    }
}

/// The work of one stream so far.
#[derive(Debug, Default)]
struct Queue {
    /// Whether the stream and the default stream wait for each other.
    blocking: bool,
    clock: VectorClock,
}

/// Clocks of streams, of events and of the host.
#[derive(Debug, Default)]
pub struct StreamOrder {
    /// The queues, keyed by the number of the stream; queues of destroyed streams remain.
    queues: BTreeMap<u32, Queue>,
    events: HashMap<usize, VectorClock>,
    host: VectorClock,
    /// The destroyed streams for whose work the host has not waited yet.
    destroyed: BTreeSet<u32>,
    /// The stream whose work is being performed, if any.
    pub current: Option<u32>,
}

impl StreamOrder {
    /// Returns the work that precedes everything that is added to a stream now.
    fn before(&self, stream: u32, blocking: bool) -> VectorClock {
        let mut clock = self.host.clone();
        for (&number, queue) in &self.queues {
            let waits = match (stream, number) {
                (one, other) if one == other => true,
                (DEFAULT, _) => queue.blocking,
                (_, DEFAULT) => blocking,
                _ => false,
            };
            if waits {
                join(&mut clock, &queue.clock);
            }
        }
        clock
    }

    /// Adds work to a stream and returns its position.
    pub fn enqueue(&mut self, stream: u32, blocking: bool) -> WorkOrder {
        let mut clock = self.before(stream, blocking);
        let after: Vec<(u32, u64)> = clock.iter().map(|(&stream, &number)| (stream, number)).collect();
        let number = clock.entry(stream).or_default();
        *number += 1;
        let number = *number;
        self.queues.insert(stream, Queue { blocking, clock });
        let finished = self.host.iter().map(|(&stream, &number)| (stream, number)).collect();
        self.forget_destroyed();
        WorkOrder { stream, number, after, finished }
    }

    /// Returns whether a stream has work for which the host has not waited.
    pub fn is_unfinished(&self) -> bool {
        let is_over = |(stream, queue): (&u32, &Queue)| {
            queue.clock.get(stream).is_none_or(|last| self.host.get(stream).is_some_and(|done| done >= last))
        };
        !self.queues.iter().all(is_over)
    }

    /// Returns, for each stream, the number of the last work for which the host has waited.
    pub fn waited(&self) -> Vec<(u32, u64)> {
        self.host.iter().map(|(&stream, &number)| (stream, number)).collect()
    }

    /// Records that the host waits for all work.
    pub fn wait_for_all(&mut self) {
        for queue in self.queues.values() {
            join(&mut self.host, &queue.clock);
        }
    }

    /// Records that the host waits for a stream, or finds that its work is done.
    pub fn wait_for_stream(&mut self, stream: u32, blocking: bool) {
        let clock = self.before(stream, blocking);
        join(&mut self.host, &clock);
    }

    /// Records that the host waits for an event, or finds that it has happened.
    pub fn wait_for_event(&mut self, event: usize) {
        if let Some(clock) = self.events.get(&event) {
            join(&mut self.host, clock);
        }
    }

    /// Records an event in a stream.
    pub fn record(&mut self, event: usize, stream: u32, blocking: bool) {
        let clock = self.before(stream, blocking);
        self.events.insert(event, clock);
    }

    /// Records that a stream is destroyed; its work remains.
    pub fn destroy(&mut self, stream: u32) {
        self.destroyed.insert(stream);
    }

    /// Removes destroyed streams for whose work the host has waited. This matters because a program may use a new
    /// stream for each of many tasks.
    fn forget_destroyed(&mut self) {
        let last = |queue: &Queue, stream| queue.clock.get(&stream).copied().unwrap_or(0);
        let is_over = |stream: &u32| {
            self.queues
                .get(stream)
                .is_none_or(|queue| self.host.get(stream).is_some_and(|done| *done >= last(queue, *stream)))
        };
        let over: Vec<u32> = self.destroyed.iter().copied().filter(is_over).collect();
        for stream in over {
            self.destroyed.remove(&stream);
            self.queues.remove(&stream);
            let clocks = self.queues.values_mut().map(|queue| &mut queue.clock).chain(self.events.values_mut());
            clocks.chain([&mut self.host]).for_each(|clock| _ = clock.remove(&stream));
        }
    }

    /// Removes an event.
    pub fn forget(&mut self, event: usize) {
        self.events.remove(&event);
    }

    /// Records that later work of a stream waits for an event.
    pub fn wait(&mut self, stream: u32, blocking: bool, event: usize) {
        let Some(clock) = self.events.get(&event) else { return };
        let queue = self.queues.entry(stream).or_default();
        queue.blocking = blocking;
        join(&mut queue.clock, clock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the later work is ordered after the earlier work.
    fn is_ordered(earlier: &WorkOrder, later: &WorkOrder) -> bool {
        later.after.iter().any(|&(stream, number)| stream == earlier.stream && number >= earlier.number)
    }

    #[test]
    fn streams_are_ordered_by_events_and_the_host() {
        let mut order = StreamOrder::default();
        let first = order.enqueue(1, false);
        let other = order.enqueue(2, false);
        assert!(!is_ordered(&first, &other));
        order.record(7, 1, false);
        order.wait(2, false, 7);
        let waited = order.enqueue(2, false);
        assert!(is_ordered(&first, &waited) && is_ordered(&other, &waited));
        let behind = order.enqueue(1, false);
        let unordered = order.enqueue(2, false);
        assert!(!is_ordered(&behind, &unordered));
        order.wait_for_stream(1, false);
        let after_host = order.enqueue(2, false);
        assert!(is_ordered(&behind, &after_host));
        assert!(after_host.finished.contains(&(1, 2)));
    }

    #[test]
    fn streams_that_are_over_take_no_room() {
        let mut order = StreamOrder::default();
        for stream in 1..1000 {
            let work = order.enqueue(stream, false);
            assert!(work.after.len() <= 3 && work.finished.len() <= 3, "{work:?}");
            order.record(stream as usize, stream, false);
            order.destroy(stream);
            order.wait_for_stream(stream, false);
            order.forget(stream as usize);
        }
        // If the host does not wait, the work remains.
        order.enqueue(2000, false);
        order.destroy(2000);
        let later = order.enqueue(DEFAULT, true);
        assert!(order.queues.contains_key(&2000) && !later.finished.iter().any(|(stream, _)| *stream == 2000));
        order.wait_for_all();
        assert!(order.enqueue(DEFAULT, true).finished.contains(&(2000, 1)));
        assert!(!order.queues.contains_key(&2000));
    }

    #[test]
    fn the_default_stream_waits_for_blocking_streams_and_they_for_it() {
        let mut order = StreamOrder::default();
        let (blocking, independent) = (order.enqueue(1, true), order.enqueue(2, false));
        let default = order.enqueue(DEFAULT, true);
        assert!(is_ordered(&blocking, &default) && !is_ordered(&independent, &default));
        let later = [order.enqueue(3, true), order.enqueue(4, false)];
        assert_eq!(later.each_ref().map(|work| is_ordered(&default, work)), [true, false]);
        assert!(is_ordered(&blocking, &later[0]));
        order.wait_for_all();
        assert!(is_ordered(&independent, &order.enqueue(1, true)));
    }
}
