//! Pieces of requests on their way to level 1.
//!
//! They are put off and served some hundred at a time: the loop that serves them then runs long enough to keep what it
//! needs at hand, and can ask for the host's memory ahead.

use super::coalesce::{Piece, bytes_of};
use super::level1::Route;

/// A piece of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Address / 128.
    pub(super) line: u64,
    /// The line's dense number.
    pub(super) number: u32,
    /// Where it is counted.
    pub(super) cell: u32,
    /// Place of the request in the trace, see [`super::Leaving::place`].
    pub(super) place: u32,
    /// Its entry in the list of byte masks; [`WHOLE`] where all bytes of its sectors are touched.
    mask: u32,
    /// SM that made it.
    pub(super) sm: u16,
    /// Sectors.
    pub(super) sectors: u8,
    /// Its way at level 1.
    pub(super) route: Route,
    /// Whether level 1 may serve it out of order, see [`super::by_sm`].
    pub(super) plain: bool,
}

impl Waiting {
    /// Whether two pieces are counted in one place and go the same way.
    #[inline(always)]
    pub(super) fn is_like(&self, other: &Waiting) -> bool {
        self.cell == other.cell && self.route == other.route
    }

    /// Whether all bytes of its sectors are touched.
    #[inline(always)]
    pub(super) fn is_whole(&self) -> bool {
        self.mask == WHOLE
    }
}

/// No mask: every byte of the sectors.
const WHOLE: u32 = u32::MAX;

/// What is the same for all pieces of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct From {
    pub(super) sm: u16,
    pub(super) cell: u32,
    pub(super) place: u32,
    pub(super) route: Route,
    /// Whether a piece is plain if all bytes of its sectors are touched, and if not.
    pub(super) plain: [bool; 2],
}

/// Pieces in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    waiting: Vec<Waiting>,
    masks: Vec<u128>,
}

impl Queue {
    /// How many pieces are served together. A request can add a few more.
    const MANY: usize = 2048;

    /// Whether it is time to serve them.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= Self::MANY
    }

    /// Appends a piece with the dense number `number`.
    #[inline(always)]
    pub(super) fn push(&mut self, from: From, piece: &Piece, number: u32) {
        let From { sm, cell, place, route, plain } = from;
        let Piece { line, sectors, bytes } = *piece;
        let (mut mask, mut plain_now) = (WHOLE, plain[0]);
        if !route.is_load() && bytes & bytes_of(sectors) != bytes_of(sectors) {
            mask = self.masks.len() as u32;
            self.masks.push(bytes);
            plain_now = plain[1];
        }
        self.waiting.push(Waiting { line, number, cell, place, mask, sm, sectors, route, plain: plain_now });
    }

    /// Appends a piece of a load.
    #[inline(always)]
    pub(super) fn push_load(&mut self, from: From, piece: &Piece, number: u32) {
        let From { sm, cell, place, route, plain } = from;
        let Piece { line, sectors, .. } = *piece;
        self.waiting.push(Waiting { line, number, cell, place, mask: WHOLE, sm, sectors, route, plain: plain[0] });
    }

    /// All of them.
    #[inline(always)]
    pub(super) fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    /// One of them as it was.
    #[inline(always)]
    pub(super) fn piece(&self, waiting: &Waiting) -> Piece {
        let Waiting { line, sectors, mask, .. } = *waiting;
        let bytes =
            if mask == WHOLE { bytes_of(sectors) } else { self.masks.get(mask as usize).copied().unwrap_or_default() };
        Piece { line, sectors, bytes }
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.masks.clear();
    }
}
