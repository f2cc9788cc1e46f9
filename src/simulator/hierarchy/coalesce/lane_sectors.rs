//! Pieces of lanes that lie anywhere, each within one sector. What all lanes of a request touch together
//! (`metrics::Scattered`) is not enough: a model groups lanes on its own first.
//!
//! Sorting is what costs, see [`crate::simd::sorted`].

use warpline_format::access::LANES;

use super::piece::Piece;
use crate::geometry::{LINE_BYTES, SECTOR_BYTES};
use crate::simd::{processor, sorted};

/// Lanes by their distance from an address, at most [`FARTHEST`]. Lanes that take no part repeat others.
pub(crate) struct LaneSectors<'a> {
    pub(crate) base: u64,
    pub(crate) distances: &'a [u32; LANES],
    /// Bytes of each lane, at most a sector.
    pub(crate) bytes: u32,
    /// Where the pieces go, in rising order.
    pub(crate) pieces: &'a mut Vec<Piece>,
}

/// Sectors of a line.
const SECTORS: i32 = (LINE_BYTES / SECTOR_BYTES) as i32;
/// From a sector to its line.
const LINE_SHIFT: u32 = SECTORS.trailing_zeros();

/// The highest distance.
pub(crate) const FARTHEST: u32 = i32::MAX as u32 - SECTOR_BYTES as u32;

impl processor::Job for LaneSectors<'_> {
    /// Whether all lanes lie within sectors. Else there are no pieces.
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let within_line = (self.base % LINE_BYTES) as u32;
        let first_line = self.base / LINE_BYTES;
        let mut crossing = 0;
        let mut sectors = [0i32; LANES];
        for (sector, distance) in sectors.iter_mut().zip(self.distances) {
            let place = distance + within_line;
            crossing |= (place % SECTOR_BYTES as u32 + (self.bytes - 1)) & SECTOR_BYTES as u32;
            *sector = (place / SECTOR_BYTES as u32).cast_signed();
        }
        if crossing != 0 {
            return false;
        }
        let descents: u32 = (1..LANES).map(|lane| u32::from(sectors[lane - 1] > sectors[lane])).sum();
        if descents != 0 {
            sectors = sorted(&sectors);
        }
        // By piece. What is known of the last one stays in registers: reading it back would take longer than all else.
        let (mut lines, mut bits) = ([0; LANES], [0u8; LANES]);
        let (mut last, mut before, mut here) = (0, sectors[0] >> LINE_SHIFT, 0u8);
        for sector in sectors {
            let line = sector >> LINE_SHIFT;
            last += usize::from(line != before);
            here = if line != before { 0 } else { here } | 1 << (sector & (SECTORS - 1));
            before = line;
            lines[last % LANES] = line;
            bits[last % LANES] = here;
        }
        let count = (last + 1).min(LANES);
        self.pieces.extend(lines[..count].iter().zip(&bits[..count]).map(|(&line, &sectors)| Piece {
            line: first_line.wrapping_add(line as u64) & (u64::MAX / LINE_BYTES),
            sectors,
            bytes: 0,
        }));
        true
    }
}
