//! The set of bytes that a request touches, as 128-byte lines with one bit per byte.

use super::Footprint;
use crate::geometry::LINE_BYTES;
use std::collections::BTreeMap;

/// Slots of the table. At most [`LIMIT`] are used, so that probing stays short.
const PLACES: usize = 512;
/// Maximum number of lines in the table; further lines go to a slower map.
const LIMIT: usize = 256;

/// Collects bytes, and counts their lines, sectors and bytes. Clearing costs nothing, so one table serves all requests
/// of a worker.
pub struct LineBytes {
    /// Generation that wrote each slot; slots of other generations are empty.
    stamps: Box<[u32; PLACES]>,
    lines: Box<[u64; PLACES]>,
    bytes: Box<[u128; PLACES]>,
    /// Sectors of the line; bit 0 is the lowest.
    sectors: Box<[u8; PLACES]>,
    generation: u32,
    counts: Footprint,
    /// Lines beyond [`LIMIT`], which only very wide accesses need.
    overflow: BTreeMap<u64, u128>,
}

impl Default for LineBytes {
    fn default() -> Self {
        LineBytes {
            stamps: Box::new([0; PLACES]),
            lines: Box::new([0; PLACES]),
            bytes: Box::new([0; PLACES]),
            sectors: Box::new([0; PLACES]),
            generation: 0,
            counts: Footprint::default(),
            overflow: BTreeMap::new(),
        }
    }
}

impl LineBytes {
    /// Empties the table.
    pub fn clear(&mut self) {
        self.counts = Footprint::default();
        if !self.overflow.is_empty() {
            self.overflow.clear();
        }
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.stamps.fill(0);
            self.generation = 1;
        }
    }

    /// Returns the counts of the table's contents.
    #[inline]
    pub fn footprint(&self) -> Footprint {
        self.counts
    }

    /// Adds the bytes of `mask` to line `line`. Bit 0 is the line's first byte, `count` is the number of bits, and
    /// `sectors` are the sectors with a byte in `mask`.
    #[inline]
    fn insert(&mut self, line: u64, mask: u128, sectors: u8, count: u32) {
        let mut place = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.trailing_zeros())) as usize % PLACES;
        while self.stamps[place] == self.generation {
            if self.lines[place] == line {
                let again = self.bytes[place] & mask;
                // Except for broadcasts, lanes rarely share bytes. Counting bits is slow on processors without an
                // instruction for it.
                self.counts.bytes += if again == 0 {
                    count
                } else if again == mask {
                    0
                } else {
                    count - again.count_ones()
                };
                self.counts.sectors += SECTOR_COUNT[usize::from(sectors & !self.sectors[place] & 15)];
                self.bytes[place] |= mask;
                self.sectors[place] |= sectors;
                return;
            }
            place = (place + 1) % PLACES;
        }
        if self.counts.lines as usize >= LIMIT {
            self.insert_overflow(line, mask);
            return;
        }
        self.stamps[place] = self.generation;
        self.lines[place] = line;
        self.bytes[place] = mask;
        self.sectors[place] = sectors;
        self.counts.lines += 1;
        self.counts.sectors += SECTOR_COUNT[usize::from(sectors & 15)];
        self.counts.bytes += count;
    }

    #[cold]
    fn insert_overflow(&mut self, line: u64, mask: u128) {
        let before = self.overflow.get(&line).copied();
        let (old, new) = (before.unwrap_or(0), before.unwrap_or(0) | mask);
        self.counts.lines += u32::from(before.is_none());
        self.counts.sectors += sectors_of(new).count_ones() - sectors_of(old).count_ones();
        self.counts.bytes += new.count_ones() - old.count_ones();
        self.overflow.insert(line, new);
    }

    /// Adds `width` bytes that start at `address`; addresses wrap at 2^64.
    #[inline]
    pub fn insert_range(&mut self, address: u64, width: u32) {
        let mut line = address / LINE_BYTES;
        let mut offset = (address % LINE_BYTES) as u32;
        let mut rest = width;
        while rest > 0 {
            let here = rest.min(LINE_BYTES as u32 - offset);
            let mask = if here == 128 { u128::MAX } else { ((1u128 << here) - 1) << offset };
            let sectors = (2u8 << ((offset + here - 1) / 32)).wrapping_sub(1 << (offset / 32));
            self.insert(line, mask, sectors, here);
            rest -= here;
            offset = 0;
            line = (line + 1) & (u64::MAX / LINE_BYTES);
        }
    }

    /// Adds the bytes of `mask`; bit 0 is the byte at `address`.
    pub fn insert_masked(&mut self, address: u64, mask: u64) {
        let offset = address % LINE_BYTES;
        let line = address / LINE_BYTES;
        let low = u128::from(mask) << offset;
        if low != 0 {
            self.insert(line, low, sectors_of(low), low.count_ones());
        }
        let high = if offset == 0 { 0 } else { u128::from(mask) >> (LINE_BYTES - offset) };
        if high != 0 {
            self.insert((line + 1) & (u64::MAX / LINE_BYTES), high, sectors_of(high), high.count_ones());
        }
    }
}

/// Returns the sectors of a line with a byte in `bytes`; bit 0 is the lowest.
fn sectors_of(bytes: u128) -> u8 {
    (0..4).map(|sector| u8::from((bytes >> (32 * sector)) as u32 != 0) << sector).sum()
}

/// Number of bits in a number of four bits.
const SECTOR_COUNT: [u32; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];
