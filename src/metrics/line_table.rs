//! The set of bytes a request touches, as 128-byte lines with one bit per byte.

use super::LINE_BYTES;
use std::collections::BTreeMap;

/// Places in the table. At most [`LIMIT`] are used, so that probing stays short.
const PLACES: usize = 512;
/// Lines kept in the table; more go to the slow map.
const LIMIT: usize = 256;

/// Collects bytes and counts lines, sectors and bytes of them. Emptying it costs nothing, so one
/// table serves all requests of a worker.
pub struct LineTable {
    /// Generation that wrote a place; other places are empty.
    stamps: Box<[u32; PLACES]>,
    lines: Box<[u64; PLACES]>,
    bytes: Box<[u128; PLACES]>,
    /// Places in use, in order of first touch.
    order: Vec<u16>,
    generation: u32,
    /// Lines beyond [`LIMIT`]; only very wide accesses come here.
    overflow: BTreeMap<u64, u128>,
}

impl Default for LineTable {
    fn default() -> Self {
        LineTable {
            stamps: Box::new([0; PLACES]),
            lines: Box::new([0; PLACES]),
            bytes: Box::new([0; PLACES]),
            order: Vec::with_capacity(LIMIT),
            generation: 0,
            overflow: BTreeMap::new(),
        }
    }
}

impl LineTable {
    /// Empties the table.
    pub fn clear(&mut self) {
        self.order.clear();
        self.overflow.clear();
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.stamps.fill(0);
            self.generation = 1;
        }
    }

    /// Adds the bytes of `mask` (bit 0 is the line's first byte) of line number `line`.
    #[inline]
    pub fn insert(&mut self, line: u64, mask: u128) {
        let mut place = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.trailing_zeros())) as usize;
        loop {
            if self.stamps[place] != self.generation {
                break;
            }
            if self.lines[place] == line {
                self.bytes[place] |= mask;
                return;
            }
            place = (place + 1) % PLACES;
        }
        if self.order.len() == LIMIT {
            *self.overflow.entry(line).or_default() |= mask;
            return;
        }
        self.stamps[place] = self.generation;
        self.lines[place] = line;
        self.bytes[place] = mask;
        self.order.push(place as u16);
    }

    /// Adds `width` bytes from `address` on; addresses wrap at 2^64.
    #[inline]
    pub fn insert_range(&mut self, address: u64, width: u32) {
        let mut line = address / LINE_BYTES;
        let mut offset = (address % LINE_BYTES) as u32;
        let mut rest = width;
        while rest > 0 {
            let here = rest.min(LINE_BYTES as u32 - offset);
            let mask = if here == 128 { u128::MAX } else { ((1u128 << here) - 1) << offset };
            self.insert(line, mask);
            rest -= here;
            offset = 0;
            line = (line + 1) & (u64::MAX / LINE_BYTES);
        }
    }

    /// Adds the bytes of `mask` (bit 0 is the byte at `address`).
    pub fn insert_masked(&mut self, address: u64, mask: u64) {
        let offset = address % LINE_BYTES;
        let line = address / LINE_BYTES;
        let low = u128::from(mask) << offset;
        if low != 0 {
            self.insert(line, low);
        }
        let high = if offset == 0 { 0 } else { u128::from(mask) >> (LINE_BYTES - offset) };
        if high != 0 {
            self.insert((line + 1) & (u64::MAX / LINE_BYTES), high);
        }
    }

    /// Counts what is in the table.
    pub fn footprint(&self) -> super::Footprint {
        let mut sum = super::Footprint::default();
        self.for_each(|_, bytes| {
            sum.lines += 1;
            sum.sectors += sectors_of(bytes).count_ones();
            sum.bytes += bytes.count_ones();
        });
        sum
    }

    /// Calls `f` with each line's number and bytes: in order of first touch, then those that the
    /// table did not hold, by rising number.
    pub fn for_each(&self, mut f: impl FnMut(u64, u128)) {
        for &place in &self.order {
            f(self.lines[place as usize], self.bytes[place as usize]);
        }
        for (&line, &bytes) in &self.overflow {
            f(line, bytes);
        }
    }
}

/// Sectors of a line that have a byte in `bytes`, as a mask of four bits.
#[inline]
pub(super) fn sectors_of(bytes: u128) -> u32 {
    let words = [bytes as u32, (bytes >> 32) as u32, (bytes >> 64) as u32, (bytes >> 96) as u32];
    words.iter().enumerate().map(|(index, &word)| u32::from(word != 0) << index).sum()
}
