//! Computes the reuse distances of a thread block, an SM or a launch from queued requests.
//!
//! The requests of resident blocks are interleaved. When a block continues, the data of its distances has already left
//! the host's cache. The caller therefore queues the requests of each block, and serves them together when the queue is
//! full or the block ends. Blocks are independent of each other, and the requests of each block stay in order.

use warpline_format::access::{Access, Addresses, Space};
use warpline_format::site_table::Op;

use super::{Axis, EvictionTime, Reuse, ReuseCells, Stores, Timeline};
use crate::geometry::Width;
use crate::hierarchy::Piece;
use crate::simd::processor;

/// Maximum bytes of a request with usual widths in a queue: a header, 32 addresses, and 64 pieces with their bytes.
const LARGEST: usize = 40 + 8 * 32 + 24 * 64;
/// Number of bits for the sectors in an encoded piece.
const SECTOR_BITS: u32 = 4;

/// Requests of a scope in order, encoded as bytes.
#[derive(Debug, Default)]
pub struct ScopeQueue {
    bytes: Vec<u8>,
}

/// A queued request.
struct Waiting<'a> {
    access: Access<'a>,
    width: Width,
    op: Op,
    cell: u32,
}

impl ScopeQueue {
    /// Returns the size of the requests in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether there are no requests.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns whether the queue should be served because it may not have room for another request. `room` is its
    /// maximum size in bytes.
    #[inline]
    pub fn is_full(&self, room: usize) -> bool {
        self.bytes.len() + LARGEST > room
    }

    /// Discards all requests.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Appends a request.
    pub fn push(&mut self, request: &ScopeRequest<'_>) {
        let ScopeRequest { access, width, op, cell, pieces } = *request;
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
        head[12..14].copy_from_slice(&(width.bytes as u16).to_le_bytes());
        head[14..16].copy_from_slice(&(pieces.len() as u16).to_le_bytes());
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
        self.bytes.extend(
            pieces.iter().flat_map(|piece| (piece.line << SECTOR_BITS | u64::from(piece.sectors)).to_le_bytes()),
        );
        if op != 0 {
            self.bytes.extend(pieces.iter().flat_map(|piece| piece.bytes.to_le_bytes()));
        }
    }

    /// Returns the request at byte `at`, and the position of the next one. Its pieces are written to `pieces`.
    #[inline(always)]
    fn read(&self, at: usize, pieces: &mut Vec<Piece>) -> Option<(Waiting<'_>, usize)> {
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
        let rest = rest.get(length..)?;
        let count = (word(12) >> 16) as usize;
        let (lines, rest) = rest.split_at_checked(8 * count)?;
        pieces.clear();
        pieces.extend(lines.as_chunks::<8>().0.iter().map(|piece| {
            let piece = u64::from_le_bytes(*piece);
            Piece { line: piece >> SECTOR_BITS, sectors: piece as u8 & ((1 << SECTOR_BITS) - 1), bytes: 0 }
        }));
        let masks = if head[1] == 0 { 0 } else { 16 * count };
        for (piece, bytes) in pieces.iter_mut().zip(rest.get(..masks)?.as_chunks::<16>().0) {
            piece.bytes = u128::from_le_bytes(*bytes);
        }
        let width = Width { bytes: word(12) & 0xffff, holes: (head[2] == 1).then(|| long(&head[16..])) };
        // The site is not needed any more.
        let access = Access { site: 0, space: Space::Global, mask, addresses };
        Some((Waiting { access, width, op, cell: word(8) }, at + 32 + length + 8 * count + masks))
    }
}

/// A request to global memory.
#[derive(Clone, Copy, Debug)]
pub struct ScopeRequest<'a> {
    /// Lanes and addresses.
    pub access: &'a Access<'a>,
    /// Bytes per lane.
    pub width: Width,
    /// Operation.
    pub op: Op,
    /// Cell that counts the request.
    pub cell: u32,
    /// Pieces of the whole warp; with touched bytes unless the request is a load.
    pub pieces: &'a [Piece],
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
        Scope { engine }
    }

    /// Ends the scope and counts its requests in `cells`. Later requests belong to a new scope, which reuses the memory
    /// and has the salt `salt` ([`Reuse::clear`]).
    pub fn end(&mut self, salt: u64, cells: &mut ReuseCells) {
        match &mut self.engine {
            Engine::Exact(reuse) => {
                reuse.finish(cells);
                reuse.clear(salt);
            }
            Engine::Approximate(reuse) => {
                reuse.finish(cells);
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

    /// Serves queued requests. `pieces` is memory for the pieces of a request; `cells` receives the figures.
    pub fn serve(&mut self, queue: &ScopeQueue, pieces: &mut Vec<Piece>, cells: &mut ReuseCells) {
        match &mut self.engine {
            Engine::Exact(reuse) => processor::with_newer_instructions(ServeAll { reuse, queue, pieces, cells }),
            Engine::Approximate(reuse) => {
                processor::with_newer_instructions(ServeAll { reuse, queue, pieces, cells });
            }
        }
    }
}

struct ServeAll<'a, T: Timeline> {
    reuse: &'a mut Reuse<T>,
    queue: &'a ScopeQueue,
    pieces: &'a mut Vec<Piece>,
    cells: &'a mut ReuseCells,
}

impl<T: Timeline> processor::Job for ServeAll<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ServeAll { reuse, queue, pieces, cells } = self;
        let mut at = 0;
        while let Some((waiting, next)) = queue.read(at, pieces) {
            let Waiting { access, width, op, cell } = waiting;
            reuse.request(&access, width, op, pieces, cell, cells);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{Coalescer, Groups};
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
            let pieces = Coalescer::default().pieces(&access, width, Groups::WARP, op != Op::Load).to_vec();
            let mut queue = ScopeQueue::default();
            for _ in 0..2 {
                queue.push(&ScopeRequest { access: &access, width, op, cell, pieces: &pieces });
            }
            let mut got = Vec::new();
            let mut at = 0;
            for _ in 0..2 {
                let (waiting, next) = queue.read(at, &mut got).expect("two were pushed");
                prop_assert_eq!(&got, &pieces);
                prop_assert_eq!((waiting.access, waiting.width.bytes, waiting.width.holes), (access, bytes, holes));
                prop_assert_eq!((waiting.op, waiting.cell), (op, cell));
                at = next;
            }
            prop_assert!(queue.read(at, &mut got).is_none());
        }
    }
}
