//! A cache array of few ways with LRU replacement, a set to a row: tags, states and order lie side by side, so that a
//! lookup fetches two lines of the host's memory. What level 2 mostly is.

use super::cache::{Evicted, LineCache, Partial};
use super::finder::EMPTY;
use super::policy::Replacement;
use super::processor;

/// Most ways of a row.
pub(super) const WAYS: u32 = 16;

#[derive(Clone, Debug)]
#[repr(C, align(32))]
struct Row {
    /// Keys by way, [`EMPTY`] where there is none.
    keys: [u32; WAYS as usize],
    /// By way, in the low four bits the sectors that can be read, in the high ones those that are dirty.
    lines: [u8; WAYS as usize],
    /// Ways as nibbles, the most recently used lowest; ways that the cache does not have stand highest.
    order: u64,
}

/// See the module's page.
#[derive(Clone, Debug)]
pub struct RowCache {
    ways: u32,
    rows: Vec<Row>,
    partial: Partial,
}

impl Row {
    fn new(ways: u32) -> Row {
        // Way 0 is the oldest: empty ways are filled in order.
        let place = |way: u32| if way < ways { ways - 1 - way } else { way };
        let order = (0..WAYS).map(|way| u64::from(way) << (4 * place(way))).sum();
        Row { keys: [EMPTY; WAYS as usize], lines: [0; WAYS as usize], order }
    }

    #[inline(always)]
    fn find(&self, key: u32) -> Option<usize> {
        let (halves, _) = self.keys.as_chunks::<8>();
        let found = processor::equal(&halves[0], key) | processor::equal(&halves[1], key) << 8;
        if found == 0 { None } else { Some(found.trailing_zeros() as usize) }
    }

    #[inline(always)]
    fn touch(&mut self, way: u64) {
        const ONES: u64 = 0x1111_1111_1111_1111;
        if self.order & 15 == way {
            return;
        }
        let other = self.order ^ (way * ONES);
        // The lowest nibble that is zero; the borrow only disturbs higher ones.
        let shift = (other.wrapping_sub(ONES) & !other & (ONES << 3)).trailing_zeros() & !3;
        let below = self.order & ((1 << shift) - 1);
        let above = self.order & !(u64::MAX >> (60 - shift));
        self.order = above | below << 4 | way;
    }

    /// Moves a way to the end of the row: it is taken next.
    fn retire(&mut self, way: u64, ways: u32) {
        self.touch(way);
        let top = 4 * (ways - 1);
        let above = self.order & !(u64::MAX >> (60 - top));
        let rest = self.order & (u64::MAX >> (60 - top));
        self.order = above | rest >> 4 | way << top;
    }
}

/// Entries are `16 · set + way`.
impl RowCache {
    #[inline(always)]
    fn line(&mut self, entry: usize) -> &mut u8 {
        &mut self.rows[entry / WAYS as usize].lines[entry % WAYS as usize]
    }
}

impl LineCache for RowCache {
    fn new(sets: u32, ways: u32, _: &Replacement) -> RowCache {
        let ways = ways.clamp(1, WAYS);
        RowCache { ways, rows: vec![Row::new(ways); sets as usize], partial: Partial::default() }
    }

    #[inline(always)]
    fn touch(&mut self, set: u32, key: u32) -> Option<usize> {
        let row = &mut self.rows[set as usize];
        let way = row.find(key)?;
        row.touch(way as u64);
        Some(set as usize * WAYS as usize + way)
    }

    #[inline(always)]
    fn prefetch(&self, set: u32) {
        if let Some(row) = self.rows.get(set as usize) {
            processor::read(&row.keys, 0);
            processor::read(&row.lines, 0);
        }
    }

    #[inline(always)]
    fn peek(&self, set: u32, key: u32) -> Option<usize> {
        Some(set as usize * WAYS as usize + self.rows[set as usize].find(key)?)
    }

    #[inline(always)]
    fn valid(&self, entry: usize) -> u8 {
        self.rows[entry / WAYS as usize].lines[entry % WAYS as usize] & 15
    }

    #[inline(always)]
    fn allocate(&mut self, set: u32, key: u32) -> (usize, Option<Evicted>) {
        let top = 4 * (self.ways - 1);
        let row = &mut self.rows[set as usize];
        let way = row.order >> top & 15;
        let used = u64::MAX >> (60 - top);
        row.order = row.order & !used | (row.order << 4 | way) & used;
        let old = std::mem::replace(&mut row.keys[way as usize], key);
        let state = std::mem::take(&mut row.lines[way as usize]);
        let evicted = (old != EMPTY).then_some(Evicted { key: old, dirty: state >> 4 });
        (set as usize * WAYS as usize + way as usize, evicted)
    }

    #[inline(always)]
    fn fill(&mut self, entry: usize, sectors: u8) {
        *self.line(entry) |= sectors;
    }

    #[inline(always)]
    fn soil(&mut self, entry: usize, sectors: u8) -> u8 {
        let line = self.line(entry);
        let new = sectors & !(*line >> 4);
        *line |= sectors << 4;
        new
    }

    fn write_bytes(&mut self, entry: usize, sector: u32, bytes: u32) -> bool {
        if self.valid(entry) >> sector & 1 == 1 {
            return true;
        }
        let key = self.rows[entry / WAYS as usize].keys[entry % WAYS as usize];
        let (known, whole) = self.partial.write(key, sector, bytes);
        if whole {
            self.fill(entry, 1 << sector);
        }
        known
    }

    #[inline(always)]
    fn take_partial(&mut self, key: u32, sectors: u8, f: impl FnMut(u32, u32)) -> u8 {
        self.partial.take(key, sectors, f)
    }

    fn invalidate(&mut self, set: u32, key: u32, sectors: u8) {
        let Some(entry) = self.peek(set, key) else { return };
        self.partial.take(key, sectors, |_, _| ());
        let line = self.line(entry);
        *line &= !(sectors | sectors << 4);
        if *line == 0 {
            let way = entry % WAYS as usize;
            let ways = self.ways;
            let row = &mut self.rows[set as usize];
            row.keys[way] = EMPTY;
            row.retire(way as u64, ways);
        }
    }
}
