//! Pieces of lanes that lie anywhere, each within one sector.
//!
//! Sorting is what costs. With all numbers in 32 bits the place of each lane is how many others lie before it: 32 by 32
//! comparisons without a branch, eight at a time where the processor can.

use super::coalesce::Piece;
use super::dense::SECTOR_BYTES;
use super::processor;

const LANES: usize = 32;

/// Lanes by their distance from an address, at most [`FARTHEST`]. Lanes that take no part repeat others.
pub(super) struct Scattered<'a> {
    pub(super) base: u64,
    pub(super) distances: &'a [u32; LANES],
    /// Bytes of each lane, at most a sector.
    pub(super) bytes: u32,
    /// Where the pieces go, in rising order.
    pub(super) pieces: &'a mut Vec<Piece>,
}

/// The highest distance.
pub(super) const FARTHEST: u32 = i32::MAX as u32 - SECTOR_BYTES as u32;

impl processor::Job for Scattered<'_> {
    /// Whether all lanes lie within sectors. Else there are no pieces.
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let within_line = (self.base % 128) as u32;
        let first_line = self.base / 128;
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
        let (mut last, mut sector, mut here) = (0, sectors[0], 0u8);
        for &next in &sectors {
            // What is lower is a gap that lanes of one sector leave.
            let (before, line) = (sector >> 2, sector.max(next) >> 2);
            sector = sector.max(next);
            last += usize::from(line != before);
            here = if line != before { 0 } else { here } | 1 << (sector & 3);
            lines[last % LANES] = line;
            bits[last % LANES] = here;
        }
        let count = (last + 1).min(LANES);
        self.pieces.extend(lines[..count].iter().zip(&bits[..count]).map(|(&line, &sectors)| Piece {
            line: first_line.wrapping_add(line as u64) & (u64::MAX / 128),
            sectors,
            bytes: 0,
        }));
        true
    }
}

/// Sorts numbers that are not negative. Of equal ones a single one is left, with zeros behind it.
#[inline(always)]
fn sorted(numbers: &[i32; LANES]) -> [i32; LANES] {
    let mut places = [0i32; LANES];
    for other in numbers {
        for (place, number) in places.iter_mut().zip(numbers) {
            *place += i32::from(number > other);
        }
    }
    let mut sorted = [0; LANES];
    for (place, number) in places.iter().zip(numbers) {
        sorted[*place as usize % LANES] = *number;
    }
    sorted
}
