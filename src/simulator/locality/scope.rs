//! Computes the reuse distances of a thread block, an SM or a launch from queued requests.
//!
//! The requests of resident blocks are interleaved. When a block continues, the data of its distances has already left
//! the host's cache. The requests of each block are therefore queued, and served together when the queue is full or the
//! block ends. Blocks are independent of each other, and the requests of each block stay in order.

use warpline_format::access::{Access, Addresses, Space};
use warpline_format::site_table::Op;

use super::{Axis, EvictionTime, Reuse, ReuseCells, Stores};
use crate::geometry::Width;
use crate::hierarchy::{Coalescer, Groups};
use crate::simd::processor;

/// Maximum bytes of a request in a queue: a header and 32 addresses.
const LARGEST: usize = 40 + 8 * 32;

/// Requests in order, encoded as bytes.
#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
}

/// A queued request.
struct Waiting<'a> {
    access: Access<'a>,
    width: Width,
    op: Op,
    cell: u32,
}

impl Queue {
    fn push(&mut self, access: &Access<'_>, width: Width, op: Op, cell: u32) {
        let (form, base, more): (u8, u64, &[u8]) = match access.addresses {
            Addresses::Uniform(address) => (0, address, &[]),
            Addresses::Affine { bases: [low, _], .. } => (1, low, &[]),
            Addresses::Delta(base, deltas) => (2, base, deltas),
            Addresses::Full(addresses) => (3, 0, addresses),
        };
        let op = match op {
            Op::Load => 0,
            Op::Store => 1,
            Op::Atomic => 2,
        };
        let mut head = [0; 32];
        head[0] = form;
        head[1] = op;
        head[2] = u8::from(width.holes.is_some());
        head[4..8].copy_from_slice(&access.mask.to_le_bytes());
        head[8..12].copy_from_slice(&cell.to_le_bytes());
        head[12..16].copy_from_slice(&width.bytes.to_le_bytes());
        head[16..24].copy_from_slice(&width.holes.unwrap_or(0).to_le_bytes());
        head[24..32].copy_from_slice(&base.to_le_bytes());
        self.bytes.extend_from_slice(&head);
        if let Addresses::Affine { bases: [_, high], stride } = access.addresses {
            let mut rest = [0; 16];
            rest[..8].copy_from_slice(&high.to_le_bytes());
            rest[8..12].copy_from_slice(&stride.to_le_bytes());
            self.bytes.extend_from_slice(&rest);
        } else {
            self.bytes.extend_from_slice(more);
        }
    }

    /// Returns the request at byte `at`, and the position of the next one.
    fn read(&self, at: usize) -> Option<(Waiting<'_>, usize)> {
        let bytes = self.bytes.get(at..)?;
        let (head, rest) = bytes.split_first_chunk::<32>()?;
        let word = |at: usize| head[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let long = |bytes: &[u8]| bytes.first_chunk().map_or(0, |long| u64::from_le_bytes(*long));
        let (mask, base) = (word(4), long(&head[24..]));
        let lanes = mask.count_ones() as usize;
        let (addresses, length) = match head[0] {
            0 => (Addresses::Uniform(base), 0),
            1 => {
                let stride = rest.get(8..)?.first_chunk().map_or(0, |stride| i32::from_le_bytes(*stride));
                (Addresses::Affine { bases: [base, long(rest)], stride }, 16)
            }
            2 => {
                let length = (4 * lanes).next_multiple_of(8);
                (Addresses::Delta(base, rest.get(..length)?), length)
            }
            _ => (Addresses::Full(rest.get(..8 * lanes)?), 8 * lanes),
        };
        let op = [Op::Load, Op::Store, Op::Atomic][usize::from(head[1].min(2))];
        let width = Width { bytes: word(12), holes: (head[2] == 1).then(|| long(&head[16..])) };
        // The site is not needed any more.
        let access = Access { site: 0, space: Space::Global, mask, addresses };
        Some((Waiting { access, width, op, cell: word(8) }, at + 32 + length))
    }
}

/// How reuse distances are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    /// Exactly, by counting.
    #[default]
    Exact,
    /// Approximately, from reuse times ([`EvictionTime`]).
    Approximate,
}

#[derive(Debug)]
enum Engine {
    Exact(Reuse<Axis>),
    Approximate(Reuse<EvictionTime>),
}

/// The reuse distances of a scope.
#[derive(Debug)]
pub struct Scope {
    engine: Engine,
    queue: Queue,
}

/// Maximum number of lines that an approximate scope samples. The sample is halved when it exceeds this number.
pub const SAMPLED_LINES: usize = 512;

impl Scope {
    /// Creates an empty scope.
    pub fn new(distance: Distance, stores: Stores) -> Scope {
        let engine = match distance {
            Distance::Exact => Engine::Exact(Reuse::new(stores)),
            Distance::Approximate => Engine::Approximate(Reuse::of_at_most(SAMPLED_LINES, stores)),
        };
        Scope { engine, queue: Queue::default() }
    }

    /// Ends the scope: serves and counts all queued requests. Later requests belong to a new scope, which reuses the
    /// memory and has the salt `salt` ([`Reuse::clear`]).
    pub fn end(&mut self, salt: u64, serve: &mut Serve<'_>) {
        self.serve(serve);
        match &mut self.engine {
            Engine::Exact(reuse) => {
                reuse.finish(serve.cells);
                reuse.clear(salt);
            }
            Engine::Approximate(reuse) => {
                reuse.finish(serve.cells);
                reuse.clear(salt);
            }
        }
    }

    /// Starts the first scope.
    pub fn begin(&mut self, salt: u64, cache_bytes: [u64; 2]) {
        match &mut self.engine {
            Engine::Exact(reuse) => {
                reuse.clear(salt);
                reuse.set_cache_bytes(cache_bytes);
            }
            Engine::Approximate(reuse) => {
                reuse.clear(salt);
                reuse.set_cache_bytes(cache_bytes);
            }
        }
    }

    /// Adds a request to global memory. `room` is the maximum size of the queue in bytes.
    pub fn request(
        &mut self,
        access: &Access<'_>,
        width: Width,
        op: Op,
        cell: u32,
        room: usize,
        serve: &mut Serve<'_>,
    ) {
        match &mut self.engine {
            Engine::Exact(_) => {
                self.queue.push(access, width, op, cell);
                if self.queue.bytes.len() + LARGEST > room {
                    self.serve(serve);
                }
            }
            // Approximate scopes need no queue, because their state is small and they only count most requests.
            Engine::Approximate(reuse) => {
                processor::with_newer_instructions(ServeOne { reuse, access, width, op, cell, serve });
            }
        }
    }

    /// Serves all queued requests.
    fn serve(&mut self, serve: &mut Serve<'_>) {
        if let Engine::Exact(reuse) = &mut self.engine
            && !self.queue.bytes.is_empty()
        {
            processor::with_newer_instructions(ServeAll { reuse, queue: &mut self.queue, serve });
        }
    }
}

struct ServeOne<'a, 'b> {
    reuse: &'a mut Reuse<EvictionTime>,
    access: &'a Access<'a>,
    width: Width,
    op: Op,
    cell: u32,
    serve: &'a mut Serve<'b>,
}

impl processor::Job for ServeOne<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ServeOne { reuse, access, width, op, cell, serve: Serve { coalescer, cells } } = self;
        let pieces = coalescer.pieces(access, width, Groups::WARP, op != Op::Load);
        reuse.request(access, width, op, pieces, cell, cells);
    }
}

struct ServeAll<'a, 'b> {
    reuse: &'a mut Reuse<Axis>,
    queue: &'a mut Queue,
    serve: &'a mut Serve<'b>,
}

impl processor::Job for ServeAll<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ServeAll { reuse, queue, serve: Serve { coalescer, cells } } = self;
        let mut at = 0;
        while let Some((waiting, next)) = queue.read(at) {
            let Waiting { access, width, op, cell } = waiting;
            let pieces = coalescer.pieces(&access, width, Groups::WARP, op != Op::Load);
            reuse.request(&access, width, op, pieces, cell, cells);
            at = next;
        }
        queue.bytes.clear();
    }
}

/// Resources for serving requests.
pub struct Serve<'a> {
    /// Splits requests into pieces.
    pub coalescer: &'a mut Coalescer,
    /// Receives the figures.
    pub cells: &'a mut ReuseCells,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpline_format::access::{Item, Items, push_access};

    proptest! {
        #[test]
        fn what_waits_is_what_came(
            mask in 1u32.., base in 0u64..1 << 46, stride in -300i64..300, bytes in 1u32..64, holes in prop::option::of(1u64..),
            noise in prop::collection::vec(0u64..1 << 34, 32), form in 0..3, cell in any::<u32>(), op in 0usize..3,
        ) {
            let address = |lane: u32| match form {
                0 => base,
                1 => base.wrapping_add((stride * i64::from(lane)) as u64),
                _ => base + noise[lane as usize],
            };
            let addresses: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(address).collect();
            let mut items = Vec::new();
            push_access(&mut items, Space::Global, 0, mask, &addresses);
            let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!() };
            let width = Width { bytes, holes };
            let op = [Op::Load, Op::Store, Op::Atomic][op];
            let mut queue = Queue::default();
            for _ in 0..2 {
                queue.push(&access, width, op, cell);
            }
            let mut at = 0;
            for _ in 0..2 {
                let (waiting, next) = queue.read(at).expect("two were pushed");
                prop_assert_eq!((waiting.access, waiting.width.bytes, waiting.width.holes), (access, bytes, holes));
                prop_assert_eq!((waiting.op, waiting.cell), (op, cell));
                at = next;
            }
            prop_assert!(queue.read(at).is_none());
        }
    }
}
