//! Requests on their way to L1.
//!
//! Requests are queued and served some hundred pieces at a time. The serving loops then run long enough to keep their data
//! in the host's cache, and SMs can be served one after the other (see [`super::by_sm`]).

use super::request::Route;
use crate::geometry::sectors::bytes_of;
use crate::hierarchy::coalesce::Piece;

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedRequest {
    /// Its pieces.
    start: u32,
    end: u32,
    /// Where it is counted.
    pub(crate) cell: u32,
    /// Place of the request in the trace, see [`crate::hierarchy::Egress::place`].
    pub(crate) place: u32,
    /// SM that made it.
    pub(crate) sm: u16,
    /// Its way at L1.
    pub(crate) route: Route,
    /// Whether L1 may serve it out of order, see [`super::by_sm`].
    pub(crate) plain: bool,
}

impl QueuedRequest {
    /// Returns whether two requests are counted in one place and go the same way.
    #[inline(always)]
    pub(crate) fn is_like(&self, other: &QueuedRequest) -> bool {
        self.cell == other.cell && self.route == other.route
    }

    /// Where its pieces are.
    #[inline(always)]
    pub(crate) fn pieces(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A piece of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPiece {
    /// Address / 128.
    pub(crate) line: u64,
    /// The line's dense number.
    pub(crate) number: u32,
    /// Sectors.
    pub(crate) sectors: u8,
    /// Those of them that L1 did not have, after its lookup.
    pub(crate) missing: u8,
    /// Whether L1 had the line, with or without them.
    pub(crate) present: bool,
    /// Whether all bytes of the sectors are touched.
    whole: bool,
}

/// What is known of a request before its pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) sm: u16,
    pub(crate) cell: u32,
    pub(crate) place: u32,
    pub(crate) route: Route,
    /// Whether it is plain if all bytes of its sectors are touched, and if not.
    pub(crate) plain: [bool; 2],
}

/// Requests in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestQueue {
    requests: Vec<QueuedRequest>,
    parts: Vec<QueuedPiece>,
    /// Touched bytes of those pieces that do not touch all of their sectors, in order.
    masks: Vec<u128>,
}

impl RequestQueue {
    /// How many pieces are served together. The last request can add some.
    const MANY: usize = 512;

    /// Returns whether it is time to serve them.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.parts.len() >= Self::MANY
    }

    /// Appends a request with the dense numbers of its pieces' lines; those without one are left out.
    #[inline(always)]
    pub(crate) fn push(&mut self, from: Origin, pieces: &[Piece], mut number: impl FnMut(u64) -> Option<u32>) {
        let Origin { sm, cell, place, route, plain: [mut plain, plain_if_not_whole] } = from;
        let start = self.parts.len() as u32;
        for &Piece { line, sectors, bytes } in pieces {
            let Some(number) = number(line) else { continue };
            let whole = route.is_load() || bytes & bytes_of(sectors) == bytes_of(sectors);
            if !whole {
                self.masks.push(bytes);
                plain &= plain_if_not_whole;
            }
            self.parts.push(QueuedPiece { line, number, sectors, missing: sectors, present: false, whole });
        }
        let end = self.parts.len() as u32;
        self.requests.push(QueuedRequest { start, end, cell, place, sm, route, plain });
    }

    /// Returns the requests, their pieces, and the bytes of these.
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

/// Touched bytes of pieces, to be requested in their order.
pub(crate) struct Masks<'a>(&'a [u128]);

impl Masks<'_> {
    /// Those of the next piece.
    #[inline(always)]
    pub(crate) fn next(&mut self, part: &QueuedPiece) -> u128 {
        if part.whole {
            return bytes_of(part.sectors);
        }
        match self.0.split_first() {
            Some((bytes, rest)) => {
                self.0 = rest;
                *bytes
            }
            None => 0,
        }
    }
}
