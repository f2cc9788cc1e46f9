//! Records which sectors of memory are touched.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpline_format::access::Access;

use warpline_simulator::geometry::{LINE_BYTES, SECTOR_BYTES, Width};
use warpline_simulator::hierarchy::Piece;

/// Bytes of memory that one page of bits represents.
const PAGE_BYTES: u64 = 1 << 20;
const WORDS: usize = (PAGE_BYTES / SECTOR_BYTES / 64) as usize;
const SECTORS_OF_PAGE: u64 = PAGE_BYTES / SECTOR_BYTES;
const SECTORS_OF_LINE: u64 = LINE_BYTES / SECTOR_BYTES;
/// Number of cached page positions.
const RECENT: usize = 16;

/// Maximum number of parts in a map of an allocation.
const MOST_PARTS: u64 = 64;

/// Minimum number of sectors in a row that is partly touched.
const LEAST_PITCH: u64 = 16;
/// Minimum number of partly touched rows.
const LEAST_ROWS: u64 = 16;
/// Number of distinguished lengths of runs.
const MOST_LENGTHS: usize = 1 << 12;

/// Touched bytes of each part of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedMap {
    /// Bytes of a part, in whole sectors. The last part may be shorter.
    pub part_bytes: u64,
    /// Bytes of the touched sectors in each part, in address order.
    pub touched: Vec<u64>,
    /// Partly touched rows, if the touched sectors have this pattern.
    pub rows: Option<TouchedRows>,
}

impl TouchedMap {
    /// Creates the map of `bytes` bytes at `address`.
    pub fn new(touched: &Touched, address: u64, bytes: u64) -> TouchedMap {
        let part_bytes = bytes.div_ceil(SECTOR_BYTES).div_ceil(MOST_PARTS).max(1).saturating_mul(SECTOR_BYTES);
        let starts = (0..bytes.div_ceil(part_bytes)).map(|part| part * part_bytes);
        let of = |start: u64| touched.bytes_in(address.saturating_add(start), part_bytes.min(bytes - start));
        TouchedMap { part_bytes, touched: starts.map(of).collect(), rows: TouchedRows::new(touched, address, bytes) }
    }
}

/// Equidistant rows, each with one contiguous touched part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchedRows {
    /// Bytes from one row to the next, at the precision of sectors.
    pub pitch_bytes: u64,
    /// Whether the touched parts of all rows have the same length.
    pub equal: bool,
}

impl TouchedRows {
    /// Detects rows in `bytes` bytes at `address`; `None` if the touched sectors have another pattern.
    fn new(touched: &Touched, address: u64, bytes: u64) -> Option<TouchedRows> {
        let (mut apart, mut long) = (BTreeMap::<u64, u64>::new(), BTreeMap::<u64, u64>::new());
        let (mut begin, mut end) = (None, 0);
        touched.each_run(address, bytes, |from, to| {
            if apart.len().max(long.len()) > MOST_LENGTHS {
                return;
            }
            if let Some(begin) = begin {
                *apart.entry(from - begin).or_default() += 1;
                *long.entry(end - begin).or_default() += 1;
            }
            (begin, end) = (Some(from), to);
        });
        let runs: u64 = apart.values().sum();
        let (&pitch, _) = apart.iter().max_by_key(|&(apart, count)| (*count, std::cmp::Reverse(*apart)))?;
        // If a row is not a whole number of sectors, it may start in either of two sectors. If a whole row is touched,
        // no new run starts after it.
        let is_row = |apart: u64| (apart + 1) % pitch <= 2;
        let count = |is_meant: &dyn Fn(u64) -> bool| -> u64 {
            apart.iter().filter(|(apart, _)| is_meant(**apart)).map(|(_, count)| count).sum()
        };
        let are_rows = pitch >= LEAST_PITCH
            && runs >= LEAST_ROWS
            && apart.len().max(long.len()) <= MOST_LENGTHS
            && 2 * count(&|apart| apart.abs_diff(pitch) <= 1) >= runs
            && 20 * count(&is_row) >= 19 * runs;
        let (least, most) = (*long.keys().next()?, *long.keys().next_back()?);
        are_rows.then_some(TouchedRows { pitch_bytes: pitch * SECTOR_BYTES, equal: most - least <= 1 })
    }
}

type Page = Box<[u64; WORDS]>;

/// A set of sectors.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    places: FxHashMap<u64, u32>,
    pages: Vec<Page>,
    /// Number of a page plus 1 (0 means none) and its position, indexed by the lowest bits of the number.
    recent: [(u64, u32); RECENT],
}

impl Touched {
    #[inline]
    fn page(&mut self, number: u64) -> &mut [u64; WORDS] {
        let slot = number as usize % RECENT;
        if self.recent[slot].0 != number + 1 {
            let next = self.pages.len() as u32;
            let place = *self.places.entry(number).or_insert(next);
            if place == next {
                self.pages.push(Box::new([0; WORDS]));
            }
            self.recent[slot] = (number + 1, place);
        }
        &mut self.pages[self.recent[slot].1 as usize]
    }

    /// Adds the sectors `first..=last`.
    #[inline]
    fn sectors(&mut self, first: u64, last: u64) {
        let word = first / 64;
        if word == last / 64 {
            let bits = u64::MAX >> (63 - (last - first)) << (first % 64);
            self.page(first / SECTORS_OF_PAGE)[word as usize % WORDS] |= bits;
            return;
        }
        for sector in first..=last {
            self.page(sector / SECTORS_OF_PAGE)[(sector / 64) as usize % WORDS] |= 1 << (sector % 64);
        }
    }

    /// Adds the sectors that a request touches. `pieces` are those of the whole warp; they may be absent.
    #[inline]
    pub(super) fn request(&mut self, access: &Access<'_>, width: Width, pieces: &[Piece]) {
        // Skipped bytes count as touched here, and pieces wrap at the end of the address space.
        let highest = u64::MAX / LINE_BYTES;
        match pieces.last() {
            Some(last) if last.line < highest && width.holes.is_none() => self.add_pieces(pieces),
            _ => self.lanes(access, width),
        }
    }

    #[inline]
    fn add_pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            let sector = piece.line * SECTORS_OF_LINE;
            let word = &mut self.page(sector / SECTORS_OF_PAGE)[(sector / 64) as usize % WORDS];
            *word |= u64::from(piece.sectors) << (sector % 64);
        }
    }

    fn lanes(&mut self, access: &Access<'_>, width: Width) {
        let last_byte = u64::from(width.bytes.max(1) - 1);
        let (mut first, mut last) = (u64::MAX, 0);
        access.for_each_lane(|_, address| {
            let (low, high) = (address / SECTOR_BYTES, address.saturating_add(last_byte) / SECTOR_BYTES);
            if first == u64::MAX {
                (first, last) = (low, high);
            } else if low >= first && low <= last + 1 {
                last = last.max(high);
            } else {
                self.sectors(first, last);
                (first, last) = (low, high);
            }
        });
        if first != u64::MAX {
            self.sectors(first, last);
        }
    }

    /// Adds another set.
    pub fn add(&mut self, other: &Touched) {
        for (&number, &place) in &other.places {
            let page = self.page(number);
            for (word, more) in page.iter_mut().zip(other.pages[place as usize].iter()) {
                *word |= more;
            }
        }
    }

    /// Returns the bytes of the touched sectors among `bytes` bytes at `address`. For sectors that exceed the range,
    /// only the part inside counts.
    pub fn bytes_in(&self, address: u64, bytes: u64) -> u64 {
        let Some(end) = address.checked_add(bytes).filter(|_| bytes != 0) else { return 0 };
        let mut sectors = 0;
        self.each_word(address, bytes, |page, word, mask, _| {
            sectors += u64::from((self.pages[page][word] & mask).count_ones())
        });
        let before = if self.has(address / SECTOR_BYTES) { address % SECTOR_BYTES } else { 0 };
        let behind = if self.has((end - 1) / SECTOR_BYTES) { end.wrapping_neg() % SECTOR_BYTES } else { 0 };
        sectors * SECTOR_BYTES - before - behind
    }

    /// Calls `f` with the start and the end of each run of touched sectors among `bytes` bytes at `address`, in order.
    fn each_run(&self, address: u64, bytes: u64, mut f: impl FnMut(u64, u64)) {
        let mut open: Option<(u64, u64)> = None;
        self.each_word(address, bytes, |page, word, mask, number| {
            let mut bits = self.pages[page][word] & mask;
            let first = number * SECTORS_OF_PAGE + word as u64 * 64;
            while bits != 0 {
                let from = bits.trailing_zeros();
                let length = (bits >> from).trailing_ones();
                let (begin, end) = (first + u64::from(from), first + u64::from(from + length));
                open = match open {
                    Some((start, last)) if last == begin => Some((start, end)),
                    Some((start, last)) => {
                        f(start, last);
                        Some((begin, end))
                    }
                    None => Some((begin, end)),
                };
                bits &= u64::MAX.checked_shl(from + length).unwrap_or(0);
            }
        });
        if let Some((start, last)) = open {
            f(start, last);
        }
    }

    fn has(&self, sector: u64) -> bool {
        let page = self.places.get(&(sector / SECTORS_OF_PAGE)).map(|&place| &self.pages[place as usize]);
        page.is_some_and(|page| page[(sector / 64) as usize % WORDS] >> (sector % 64) & 1 != 0)
    }

    /// Clears the touched sectors of `bytes` bytes at `address`, because another allocation starts there.
    pub fn clear(&mut self, address: u64, bytes: u64) {
        let mut words = Vec::new();
        self.each_word(address, bytes, |page, word, mask, _| words.push((page, word, mask)));
        for (page, word, mask) in words {
            self.pages[page][word] &= !mask;
        }
    }

    /// Calls `f` with the page, the word, the mask of the range's bits, and the page's number, for each word that may
    /// have set bits.
    fn each_word(&self, address: u64, bytes: u64, mut f: impl FnMut(usize, usize, u64, u64)) {
        let Some(end) = address.checked_add(bytes).filter(|_| bytes != 0) else { return };
        let (first, last) = (address / SECTOR_BYTES, (end - 1) / SECTOR_BYTES);
        let pages = first / SECTORS_OF_PAGE..=last / SECTORS_OF_PAGE;
        // Allocations may be much larger than their touched part.
        let mut numbers: Vec<(u64, u32)> = if pages.end() - pages.start() > self.places.len() as u64 {
            self.places
                .iter()
                .filter(|(number, _)| pages.contains(number))
                .map(|(&number, &place)| (number, place))
                .collect()
        } else {
            pages.filter_map(|number| Some((number, *self.places.get(&number)?))).collect()
        };
        numbers.sort_unstable();
        for (number, place) in numbers {
            let begin = number * SECTORS_OF_PAGE;
            let (low, high) = (first.max(begin) - begin, last.min(begin + SECTORS_OF_PAGE - 1) - begin);
            for word in low / 64..=high / 64 {
                let from = if word == low / 64 { low % 64 } else { 0 };
                let to = if word == high / 64 { high % 64 } else { 63 };
                f(place as usize, word as usize, u64::MAX >> (63 - (to - from)) << from, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use warpline_format::access::{Addresses, Space};
    use warpline_simulator::hierarchy::{Coalescer, Groups};

    use super::*;

    /// Returns the rows for sectors of which the first ones of each row are touched.
    fn rows(lengths: &[u64], pitch: u64) -> Option<TouchedRows> {
        let mut touched = Touched::default();
        for (row, length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
            touched.sectors(row as u64 * pitch, row as u64 * pitch + length - 1);
        }
        TouchedRows::new(&touched, 0, lengths.len() as u64 * pitch * SECTOR_BYTES)
    }

    #[test]
    fn rows_of_which_a_part_is_touched_are_seen() {
        let lengths = |of: fn(u64) -> u64| (0..500).map(of).collect::<Vec<u64>>();
        let some = |equal| Some(TouchedRows { pitch_bytes: 128 * SECTOR_BYTES, equal });
        assert_eq!(rows(&lengths(|_| 32), 128), some(true));
        assert_eq!(rows(&lengths(|row| 8 + row * 37 % 60), 128), some(false));
        // Some rows are completely touched, so they form one run with the next row.
        assert_eq!(rows(&lengths(|row| if row % 7 == 0 { 128 } else { 8 + row % 5 }), 128), some(false));
        // Some complete rows, as in a table that is indexed by data, are not partly touched rows.
        assert_eq!(rows(&lengths(|row| if row * row * 7919 % 97 < 12 { 128 } else { 0 }), 128), None);
        // Single elements of a sample are not rows.
        assert_eq!(rows(&lengths(|_| 1), 4), None);
        assert_eq!(rows(&lengths(|_| 0), 128), None);
    }

    proptest! {
        /// Compares the result with a set of single sectors.
        #[test]
        fn sectors_are_those_of_a_set(
            requests in prop::collection::vec((0u64..1 << 22, -300i32..300, 1u32..40, any::<u32>()), 1..60),
            ranges in prop::collection::vec((0u64..1 << 22, 0u64..1 << 21), 1..5), cut in 0usize..60,
        ) {
            let (mut one, mut two, mut slow) = (Touched::default(), Touched::default(), BTreeSet::new());
            for (index, (base, stride, bytes, mask)) in requests.into_iter().enumerate() {
                let base = base + (1 << 16);
                let bases = [base, base.wrapping_add_signed(16 * i64::from(stride) + if bytes % 2 == 0 { 64 } else { 0 })];
                let access = Access { site: 0, space: Space::Global, mask, addresses: Addresses::Affine { bases, stride } };
                access.for_each_lane(|_, address| slow.extend((address..address + u64::from(bytes)).map(|byte| byte / SECTOR_BYTES)));
                let (width, mut coalescer) = (Width::solid(bytes), Coalescer::default());
                let known = mask != 0 && index % 2 == 0;
                let pieces = if known { coalescer.pieces(&access, width, Groups::WARP, false) } else { &[] };
                if index < cut { &mut one } else { &mut two }.request(&access, width, pieces);
            }
            one.add(&two);
            let sectors_of = |address: u64, bytes: u64| {
                if bytes == 0 { 0..0 } else { address / SECTOR_BYTES..(address + bytes - 1) / SECTOR_BYTES + 1 }
            };
            for (address, bytes) in ranges {
                let overlap = |sector: &u64| {
                    let (start, end) = (sector * SECTOR_BYTES, (sector + 1) * SECTOR_BYTES);
                    end.min(address + bytes) - start.max(address)
                };
                let want: u64 = slow.range(sectors_of(address, bytes)).map(overlap).sum();
                prop_assert_eq!(one.bytes_in(address, bytes), want);
                let address = address / SECTOR_BYTES * SECTOR_BYTES;
                let map = TouchedMap::new(&one, address, bytes);
                prop_assert!(map.touched.len() as u64 <= MOST_PARTS);
                prop_assert_eq!(map.touched.iter().sum::<u64>(), one.bytes_in(address, bytes));
                for (part, touched) in map.touched.iter().enumerate() {
                    let start = part as u64 * map.part_bytes;
                    prop_assert_eq!(*touched, one.bytes_in(address + start, map.part_bytes.min(bytes - start)));
                }
                one.clear(address, bytes);
                let sectors = sectors_of(address, bytes);
                slow.retain(|sector| !sectors.contains(sector));
                prop_assert_eq!(one.bytes_in(0, 1 << 40), slow.len() as u64 * SECTOR_BYTES);
            }
        }
    }
}
