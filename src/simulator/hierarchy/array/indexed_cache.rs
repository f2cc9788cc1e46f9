//! A fully associative cache array of one SM for small key ranges. A table has an entry for each possible key.
//!
//! An entry contains the way in which the line was stored last. Entries are never cleared: a line is present only if
//! that way still contains its key. A lookup therefore needs two loads, and an eviction costs nothing. A whole run has
//! too many lines and SMs for such tables (it uses [`super::FullCache`]), but a few blocks of one SM do not.

use super::finder::EMPTY;
use super::line_cache::{Evicted, LineCache};
use super::partial::Partial;
use super::plru::TreePlru;
use super::policy::Replacement;
use super::recency::{OneRecency, Recencies, Recency, Rings};

/// A way of the cache.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Key of the line; [`EMPTY`] if there is none.
    key: u32,
    /// Valid sectors in the low four bits, dirty sectors in the high four bits.
    state: u8,
}

const NO_LINE: Slot = Slot { key: EMPTY, state: 0 };

/// The array of one SM, which is set 0; see the module documentation.
#[derive(Clone, Debug)]
pub struct IndexedCache {
    slots: Vec<Slot>,
    /// Indexed by key: the current or the last way of the line.
    ways: Vec<u16>,
    recencies: Recencies,
    /// Empty ways, the next one last. Used only if empty ways are filled before the replacement policy chooses.
    free: Vec<u16>,
    empty_first: bool,
    partial: Partial,
}

impl IndexedCache {
    const MOST: u32 = 1 << 13;

    /// Returns whether this form supports the number of ways and the policy.
    pub fn fits(ways: u32, replacement: &Replacement) -> bool {
        let known = matches!(replacement, Replacement::Lru | Replacement::TreePlru | Replacement::BlindTreePlru);
        known && (1..=Self::MOST).contains(&ways)
    }

    #[inline(always)]
    fn find(&self, key: u32) -> Option<usize> {
        let way = usize::from(*self.ways.get(key as usize)?);
        (self.slots[way].key == key).then_some(way)
    }

    /// Extends the table so that it contains a key.
    #[cold]
    fn lengthen(&mut self, key: u32) {
        self.ways.resize((key as usize + 1).next_power_of_two(), 0);
    }

    fn free(&self) -> Vec<u16> {
        if self.empty_first { (0..self.slots.len() as u16).rev().collect() } else { Vec::new() }
    }
}

impl LineCache for IndexedCache {
    fn new(_: u32, ways: u32, replacement: &Replacement) -> IndexedCache {
        let ways = ways.clamp(1, Self::MOST);
        let mut cache = IndexedCache {
            slots: vec![NO_LINE; ways as usize],
            ways: Vec::new(),
            recencies: match replacement {
                Replacement::Lru => Recencies::Rings(Rings::new(1, ways)),
                _ => Recencies::Trees(TreePlru::new(1, ways)),
            },
            free: Vec::new(),
            empty_first: replacement.empty_first(),
            partial: Partial::default(),
        };
        cache.free = cache.free();
        cache
    }

    #[inline(always)]
    fn touch(&mut self, _: u32, key: u32) -> Option<usize> {
        let way = self.find(key)?;
        self.recencies.one(0).touch(way as u16);
        Some(way)
    }

    #[inline(always)]
    fn prefetch(&self, _: u32) {}

    #[inline(always)]
    fn valid(&self, entry: usize) -> u8 {
        self.slots[entry].state & 15
    }

    #[inline(always)]
    fn allocate(&mut self, _: u32, key: u32) -> (usize, Option<Evicted>) {
        if key as usize >= self.ways.len() {
            self.lengthen(key);
        }
        let mut recency = self.recencies.one(0);
        let way = match self.free.pop() {
            Some(way) => {
                recency.touch(way);
                way
            }
            None => recency.take_victim(),
        };
        self.ways[key as usize] = way;
        let old = std::mem::replace(&mut self.slots[usize::from(way)], Slot { key, state: 0 });
        let evicted = (old.key != EMPTY).then_some(Evicted { key: old.key, dirty: old.state >> 4 });
        (usize::from(way), evicted)
    }

    #[inline(always)]
    fn fill(&mut self, entry: usize, sectors: u8) {
        self.slots[entry].state |= sectors;
    }

    fn mark_dirty(&mut self, entry: usize, sectors: u8) -> u8 {
        let state = &mut self.slots[entry].state;
        let new = sectors & !(*state >> 4);
        *state |= sectors << 4;
        new
    }

    #[inline(always)]
    fn write_bytes(&mut self, _: u32, entry: usize, sector: u32, bytes: u32) -> bool {
        let Slot { key, state } = self.slots[entry];
        if state >> sector & 1 == 1 {
            return true;
        }
        let (known, whole) = self.partial.write(key.into(), sector, bytes);
        if whole {
            self.fill(entry, 1 << sector);
        }
        known
    }

    #[inline(always)]
    fn take_partial(&mut self, _: u32, key: u32, sectors: u8, f: impl FnMut(u32, u32)) -> u8 {
        self.partial.take(key.into(), sectors, f)
    }

    #[inline(always)]
    fn is_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    fn invalidate(&mut self, _: u32, key: u32, sectors: u8) {
        let Some(way) = self.find(key) else { return };
        let slot = &mut self.slots[way];
        slot.state &= !(sectors | sectors << 4);
        if slot.state == 0 {
            *slot = NO_LINE;
            // An LRU policy selects this way next.
            if let OneRecency::Ring(mut ring) = self.recencies.one(0) {
                ring.retire(way as u16);
            } else if self.empty_first {
                self.free.push(way as u16);
            }
        }
        self.partial.take(key.into(), sectors, |_, _| ());
    }

    fn clear(&mut self) {
        self.slots.fill(NO_LINE);
        self.free = self.free();
        self.recencies.clear();
        self.partial.clear();
    }
}
