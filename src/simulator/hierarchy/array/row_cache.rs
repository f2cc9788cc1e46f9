//! A cache array with few ways and LRU replacement. Tags, states and order of a set are stored in one row, so a lookup
//! loads two cache lines of the host. Most L2 models use this form.

use super::finder::EMPTY;
use super::line_cache::{Evicted, LineCache, LookupOrAllocate, ResidentLine};
use super::order::{Order, WAYS};
use super::partial::Partial;
use super::policy::Replacement;
use crate::simd::processor;

#[derive(Clone, Debug)]
#[repr(C, align(32))]
struct Row {
    /// Keys by way; [`EMPTY`] if the way has no line.
    keys: [u32; WAYS as usize],
    /// Indexed by way: valid sectors in the low four bits, dirty sectors in the high four bits.
    lines: [u8; WAYS as usize],
    order: Order,
}

/// The array; see the module documentation.
#[derive(Clone, Debug)]
pub struct RowCache {
    ways: u32,
    rows: Vec<Row>,
    partial: Partial,
}

impl Row {
    fn new(ways: u32) -> Row {
        Row { keys: [EMPTY; WAYS as usize], lines: [0; WAYS as usize], order: Order::new(ways) }
    }

    #[inline(always)]
    fn find(&self, key: u32) -> Option<usize> {
        let found = processor::equal_of_16(&self.keys, key);
        if found == 0 { None } else { Some(found.trailing_zeros() as usize) }
    }
}

/// Entry numbers are `16 · set + way`.
impl RowCache {
    #[inline(always)]
    fn line(&mut self, entry: usize) -> &mut u8 {
        &mut self.rows[entry / WAYS as usize].lines[entry % WAYS as usize]
    }
}

impl LookupOrAllocate for RowCache {
    #[inline(always)]
    fn lookup_or_allocate(&mut self, set: u32, key: u32) -> ResidentLine<'_> {
        let row = &mut self.rows[set as usize];
        let (way, evicted) = match row.find(key) {
            Some(way) => {
                row.order.touch(way as u32);
                (way % WAYS as usize, EMPTY)
            }
            None => {
                let way = row.order.take_oldest(self.ways) as usize % WAYS as usize;
                row.lines[way] = 0;
                (way, std::mem::replace(&mut row.keys[way], key))
            }
        };
        ResidentLine { state: &mut row.lines[way], partial: &mut self.partial, evicted }
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
        row.order.touch(way as u32);
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
    fn valid(&self, entry: usize) -> u8 {
        self.rows[entry / WAYS as usize].lines[entry % WAYS as usize] & 15
    }

    #[inline(always)]
    fn allocate(&mut self, set: u32, key: u32) -> (usize, Option<Evicted>) {
        let row = &mut self.rows[set as usize];
        let way = row.order.take_oldest(self.ways);
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
    fn mark_dirty(&mut self, entry: usize, sectors: u8) -> u8 {
        let line = self.line(entry);
        let new = sectors & !(*line >> 4);
        *line |= sectors << 4;
        new
    }

    fn write_bytes(&mut self, _: u32, entry: usize, sector: u32, bytes: u32) -> bool {
        if self.valid(entry) >> sector & 1 == 1 {
            return true;
        }
        let key = self.rows[entry / WAYS as usize].keys[entry % WAYS as usize];
        let (known, whole) = self.partial.write(u64::from(key), sector, bytes);
        if whole {
            self.fill(entry, 1 << sector);
        }
        known
    }

    #[inline(always)]
    fn take_partial(&mut self, _: u32, key: u32, sectors: u8, f: impl FnMut(u32, u32)) -> u8 {
        self.partial.take(u64::from(key), sectors, f)
    }

    #[inline(always)]
    fn is_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    fn invalidate(&mut self, set: u32, key: u32, sectors: u8) {
        let Some(way) = self.rows[set as usize].find(key) else { return };
        let entry = set as usize * WAYS as usize + way;
        self.partial.take(u64::from(key), sectors, |_, _| ());
        let line = self.line(entry);
        *line &= !(sectors | sectors << 4);
        if *line == 0 {
            let ways = self.ways;
            let row = &mut self.rows[set as usize];
            row.keys[way] = EMPTY;
            row.order.retire(way as u32, ways);
        }
    }

    fn clear(&mut self) {
        let ways = self.ways;
        self.rows.fill_with(|| Row::new(ways));
        self.partial.clear();
    }
}
