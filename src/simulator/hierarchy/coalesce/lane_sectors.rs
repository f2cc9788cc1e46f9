//! Computes the pieces of lanes with arbitrary addresses, each within one sector. The combined footprint of all lanes
//! (`metrics::Scattered`) is not sufficient, because a model first groups lanes.
//!
//! Sorting is the expensive part; see [`crate::simd::sorted`].

use warpline_format::access::LANES;

use super::piece::Piece;
use crate::geometry::{LINE_BYTES, SECTOR_BYTES};
use crate::simd::{processor, sorted};

/// Lanes by their distance from an address, at most [`FARTHEST`]. Inactive lanes repeat another lane.
pub(crate) struct LaneSectors<'a> {
    pub(crate) base: u64,
    pub(crate) distances: &'a [u32; LANES],
    /// Bytes per lane, at most a sector.
    pub(crate) bytes: u32,
    /// Output: pieces in ascending order.
    pub(crate) pieces: &'a mut Vec<Piece>,
}

/// Sectors per line.
const SECTORS: i32 = (LINE_BYTES / SECTOR_BYTES) as i32;
/// Shift that converts a sector number to a line number.
const LINE_SHIFT: u32 = SECTORS.trailing_zeros();

/// The maximum distance.
pub(crate) const FARTHEST: u32 = i32::MAX as u32 - SECTOR_BYTES as u32;

impl processor::Job for LaneSectors<'_> {
    /// Whether each lane lies within one sector; otherwise, there is no output.
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
        // Each iteration extends or completes one piece. The last piece stays in registers, because reading it back
        // from memory would dominate the run time.
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
