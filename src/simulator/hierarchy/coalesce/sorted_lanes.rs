//! Computes the pieces of a request whose elements are sorted already.

use super::piece::Piece;
use crate::geometry::{LINE_BYTES, SECTOR_BYTES};
use crate::metrics::Scattered;
use crate::simd::processor;

/// Joins sorted elements to pieces.
pub(crate) struct SortedLanes<'a> {
    pub(crate) elements: &'a Scattered,
    /// Whether touched bytes are computed.
    pub(crate) exact_bytes: bool,
    /// Output: pieces in ascending order.
    pub(crate) pieces: &'a mut Vec<Piece>,
}

/// Shifts that convert a distance to a line and to a sector.
const LINE_SHIFT: u32 = LINE_BYTES.trailing_zeros();
const SECTOR_SHIFT: u32 = SECTOR_BYTES.trailing_zeros();

impl processor::Job for SortedLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let SortedLanes { elements, exact_bytes, pieces } = self;
        let first_line = elements.start() / LINE_BYTES;
        let lines = elements.lines() as usize;
        let piece = |line: u32| Piece { line: first_line + u64::from(line), sectors: 0, bytes: 0 };
        let keys = elements.keys().map(i32::cast_unsigned);
        let mut line = keys[0] >> LINE_SHIFT;
        let mut last = piece(line);
        let start = pieces.len();
        pieces.resize(start + lines, last);
        let Some(out) = pieces.get_mut(start..start + lines) else { return };
        // The last piece stays in registers, because reading it back from memory would dominate the run time.
        let element = u128::MAX >> (LINE_BYTES as u32 - elements.element_bytes());
        let mut at = 0;
        for key in keys {
            let here = key >> LINE_SHIFT;
            if here != line {
                at += 1;
                line = here;
                last = piece(here);
            }
            last.sectors |= 1 << (key >> SECTOR_SHIFT & 3);
            if exact_bytes {
                last.bytes |= element << (key % LINE_BYTES as u32);
            }
            if let Some(slot) = out.get_mut(at) {
                *slot = last;
            }
        }
    }
}
