//! A queue of requests to L1.
//!
//! Requests are queued and served in batches of some hundred pieces. The serving loops then run long enough to keep
//! their data in the host's cache, and SMs can be served one after the other (see [`super::by_sm`]).

use super::request::Route;
use crate::geometry::sectors::bytes_of;
use crate::hierarchy::coalesce::Piece;

/// A queued request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedRequest {
    /// Start of its pieces.
    start: u32,
    end: u32,
    /// Cell that counts the request.
    pub(crate) cell: u32,
    /// Position of the request in the trace; see [`crate::hierarchy::Egress::place`].
    pub(crate) place: u32,
    /// SM that made the request.
    pub(crate) sm: u16,
    /// Route of the request through L1.
    pub(crate) route: Route,
    /// Whether L1 may serve it out of order, see [`super::by_sm`].
    pub(crate) plain: bool,
}

impl QueuedRequest {
    /// Returns whether two requests have the same cell and route.
    #[inline(always)]
    pub(crate) fn is_like(&self, other: &QueuedRequest) -> bool {
        self.cell == other.cell && self.route == other.route
    }

    /// Returns the range of its pieces.
    #[inline(always)]
    pub(crate) fn pieces(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A queued piece of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPiece {
    /// Address / 128.
    pub(crate) line: u64,
    /// The line's dense number.
    pub(crate) number: u32,
    /// Index of its touched bytes in the list of masks; [`WHOLE`] if all bytes of the sectors are touched.
    mask: u16,
    /// Touched sectors.
    pub(crate) sectors: u8,
    /// Sectors among these that L1 did not have, set by the lookup. [`PRESENT`] is set if L1 had the line.
    outcome: u8,
}

/// Marks a piece that touches all bytes of its sectors.
const WHOLE: u16 = u16::MAX;
/// Marks a line that L1 had, regardless of its sectors.
const PRESENT: u8 = 1 << 7;

impl QueuedPiece {
    /// Returns whether all bytes of the sectors are touched.
    #[inline(always)]
    pub(crate) fn is_whole(&self) -> bool {
        self.mask == WHOLE
    }

    /// Records the sectors that L1 did not have, and whether it had the line.
    #[inline(always)]
    pub(crate) fn found(&mut self, missing: u8, present: bool) {
        self.outcome = missing | if present { PRESENT } else { 0 };
    }

    /// Returns the sectors that L1 did not have; initially, all.
    #[inline(always)]
    pub(crate) fn missing(&self) -> u8 {
        self.outcome & 15
    }

    /// Returns whether L1 had the line, regardless of its sectors.
    #[inline(always)]
    pub(crate) fn is_present(&self) -> bool {
        self.outcome & PRESENT != 0
    }
}

/// The properties of a request except its pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) sm: u16,
    pub(crate) cell: u32,
    pub(crate) place: u32,
    pub(crate) route: Route,
    /// See [`QueuedRequest::plain`].
    pub(crate) plain: bool,
}

/// Requests in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestQueue {
    requests: Vec<QueuedRequest>,
    parts: Vec<QueuedPiece>,
    /// Touched bytes of the pieces that touch sectors partly, in order.
    masks: Vec<u128>,
}

impl RequestQueue {
    /// Number of pieces that are served together. The last request can exceed it, but has at most 32 lanes of 4096
    /// bytes, so that indices of pieces fit into 16 bits.
    const MANY: usize = 512;

    /// Returns whether the queue should be served.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.parts.len() >= Self::MANY
    }

    /// Appends a request with the dense numbers of its pieces' lines. Pieces whose lines have no number are omitted.
    #[inline(always)]
    pub(crate) fn push(&mut self, from: Origin, pieces: &[Piece], mut number: impl FnMut(u64) -> Option<u32>) {
        let Origin { sm, cell, place, route, plain } = from;
        let start = self.parts.len() as u32;
        for &Piece { line, sectors, bytes } in pieces {
            let Some(number) = number(line) else { continue };
            let whole = route.is_load() || bytes & bytes_of(sectors) == bytes_of(sectors);
            let mask = if whole { WHOLE } else { self.masks.len() as u16 };
            if !whole {
                self.masks.push(bytes);
            }
            self.parts.push(QueuedPiece { line, number, mask, sectors, outcome: sectors });
        }
        let end = self.parts.len() as u32;
        self.requests.push(QueuedRequest { start, end, cell, place, sm, route, plain });
    }

    /// Returns the requests, their pieces, and the touched bytes of the pieces.
    #[inline(always)]
    pub(crate) fn split(&mut self) -> (&[QueuedRequest], &mut [QueuedPiece], Masks<'_>) {
        (&self.requests, &mut self.parts, Masks(&self.masks))
    }

    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        self.parts.clear();
        self.masks.clear();
    }
}

/// Touched bytes of the pieces that touch sectors partly.
#[derive(Clone, Copy)]
pub(crate) struct Masks<'a>(&'a [u128]);

impl Masks<'_> {
    /// Returns whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the touched bytes of a piece.
    #[inline(always)]
    pub(crate) fn of(&self, part: &QueuedPiece) -> u128 {
        if part.is_whole() {
            return bytes_of(part.sectors);
        }
        self.0.get(usize::from(part.mask)).copied().unwrap_or_default()
    }
}
