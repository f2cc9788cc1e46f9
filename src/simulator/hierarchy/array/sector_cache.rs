//! The general form of a cache array: sets, ways, sector bits, any replacement policy.

use super::finder::{EMPTY, Ways};
use super::line_cache::{Evicted, LineCache, LookupOrAllocate, ResidentLine};
use super::partial::Partial;
use super::policy::{Policy, Replacement};
use crate::simd::processor;

/// State of one line: valid sectors in the low four bits; in the high four bits, sectors with bytes that the next level
/// does not have yet.
#[derive(Clone, Copy, Debug, Default)]
struct Line(u8);

impl Line {
    #[inline]
    fn valid(self) -> u8 {
        self.0 & 15
    }

    #[inline]
    fn dirty(self) -> u8 {
        self.0 >> 4
    }
}

/// Data sectors that the lines of a set share.
#[derive(Clone, Debug)]
struct Data {
    /// Capacity in sectors per set.
    room: u32,
    /// Number of sectors in use, per set.
    used: Vec<u32>,
}

/// A set-associative cache of sectored lines. A sector is 32 bytes; caches without sectors fill all
/// sectors of a line at once.
#[derive(Clone, Debug)]
pub struct SectorCache {
    ways_per_set: u32,
    ways: Ways,
    lines: Vec<Line>,
    policy: Policy,
    partial: Partial,
    /// Shared data sectors, if tags and data are separate.
    data: Option<Data>,
    /// Empty ways per set, if they are filled before the policy selects; otherwise empty.
    free: Vec<Vec<u32>>,
    /// Key and entry of the last use, because consecutive pieces often lie in one line.
    recent: (u32, usize),
}

impl SectorCache {
    /// Creates a streaming cache, in which tags and data are separate. Each set has one tag per way, and `sectors` data
    /// sectors that any of its lines may use. The least recently used lines are evicted when tags or data sectors run
    /// out.
    pub fn streaming(sets: u32, ways: u32, sectors: u32) -> SectorCache {
        let mut cache = SectorCache::new(sets, ways, &Replacement::Lru);
        cache.free = free_ways(sets, ways);
        cache.data = Some(Data { room: sectors.max(4), used: vec![0; sets as usize] });
        cache
    }

    #[inline(always)]
    fn way_for(&mut self, set: u32) -> u32 {
        if let Some(way) = self.free.get_mut(set as usize).and_then(Vec::pop) {
            self.policy.touch(set, way);
            return way;
        }
        self.policy.replace(set)
    }

    #[inline(always)]
    fn drop_line(&mut self, entry: usize) -> Option<Evicted> {
        let key = self.ways.key(entry);
        if key == EMPTY {
            return None;
        }
        let line = std::mem::take(&mut self.lines[entry]);
        if let Some(data) = &mut self.data {
            data.used[entry / self.ways_per_set as usize] -= line.valid().count_ones();
        }
        Some(Evicted { key, dirty: line.dirty() })
    }

    #[cold]
    fn make_room(&mut self, entry: usize, new: u8) {
        let set = entry / self.ways_per_set as usize;
        let Some(data) = &mut self.data else { return };
        data.used[set] += new.count_ones();
        // The capacity is at least one line, so another line exists as long as the capacity is exceeded.
        while self.data.as_ref().is_some_and(|data| data.used[set] > data.room) {
            let way = self.policy.victim(set as u32);
            // Moving an emptied way to the end of the order prevents it from being selected repeatedly.
            self.policy.touch(set as u32, way);
            let oldest = set * self.ways_per_set as usize + way as usize;
            if oldest != entry && self.drop_line(oldest).is_some() {
                self.release(set, way);
            }
        }
        self.policy.touch(set as u32, (entry % self.ways_per_set as usize) as u32);
    }

    /// Handles a way that lost its line.
    fn release(&mut self, set: usize, way: u32) {
        let entry = set * self.ways_per_set as usize + way as usize;
        self.ways.put(entry, EMPTY);
        self.lines[entry] = Line::default();
        match self.free.get_mut(set) {
            Some(free) => free.push(way),
            None => self.policy.forget(set as u32, way),
        }
    }
}

impl LineCache for SectorCache {
    fn new(sets: u32, ways: u32, replacement: &Replacement) -> SectorCache {
        let entries = sets as usize * ways as usize;
        SectorCache {
            ways_per_set: ways,
            ways: Ways::new(sets, ways),
            lines: vec![Line::default(); entries],
            policy: Policy::new(replacement, sets, ways),
            partial: Partial::default(),
            data: None,
            free: if replacement.empty_first() { free_ways(sets, ways) } else { Vec::new() },
            recent: (EMPTY, 0),
        }
    }

    #[inline(always)]
    fn touch(&mut self, set: u32, key: u32) -> Option<usize> {
        if self.recent.0 == key {
            return Some(self.recent.1);
        }
        let entry = self.ways.find(set, key)?;
        self.policy.touch(set, (entry - set as usize * self.ways_per_set as usize) as u32);
        self.recent = (key, entry);
        Some(entry)
    }

    #[inline(always)]
    fn prefetch(&self, set: u32) {
        self.ways.prefetch(set);
        processor::read(&self.lines, set as usize * self.ways_per_set as usize);
        self.policy.prefetch(set);
    }

    #[inline(always)]
    fn valid(&self, entry: usize) -> u8 {
        self.lines[entry].valid()
    }

    #[inline(always)]
    fn allocate(&mut self, set: u32, key: u32) -> (usize, Option<Evicted>) {
        let first = set as usize * self.ways_per_set as usize;
        let entry = first + self.way_for(set) as usize;
        let evicted = self.drop_line(entry);
        self.ways.put(entry, key);
        self.recent = (key, entry);
        (entry, evicted)
    }

    #[inline(always)]
    fn fill(&mut self, entry: usize, sectors: u8) {
        let new = sectors & !self.lines[entry].valid();
        self.lines[entry].0 |= sectors;
        if self.data.is_some() {
            self.make_room(entry, new);
        }
    }

    #[inline(always)]
    fn mark_dirty(&mut self, entry: usize, sectors: u8) -> u8 {
        let line = &mut self.lines[entry];
        let new = sectors & !line.dirty();
        line.0 |= sectors << 4;
        new
    }

    fn write_bytes(&mut self, _: u32, entry: usize, sector: u32, bytes: u32) -> bool {
        if self.lines[entry].valid() >> sector & 1 == 1 {
            return true;
        }
        let (known, whole) = self.partial.write(u64::from(self.ways.key(entry)), sector, bytes);
        if whole {
            self.fill(entry, 1 << sector);
        }
        known
    }

    #[inline(always)]
    fn take_partial(&mut self, _: u32, key: u32, sectors: u8, f: impl FnMut(u32, u32)) -> u8 {
        self.partial.take(u64::from(key), sectors, f)
    }

    fn invalidate(&mut self, set: u32, key: u32, sectors: u8) {
        let Some(entry) = self.ways.find(set, key) else { return };
        self.take_partial(set, key, sectors, |_, _| ());
        if let Some(data) = &mut self.data {
            data.used[set as usize] -= (self.lines[entry].valid() & sectors).count_ones();
        }
        let line = &mut self.lines[entry];
        line.0 &= !(sectors | sectors << 4);
        let empty = line.0 == 0;
        if empty {
            self.recent.0 = EMPTY;
            self.release(set as usize, (entry % self.ways_per_set as usize) as u32);
        }
    }

    #[inline(always)]
    fn is_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    fn clear(&mut self) {
        self.ways.clear();
        self.lines.fill(Line::default());
        self.policy.clear();
        self.partial.clear();
        self.recent.0 = EMPTY;
        if !self.free.is_empty() {
            self.free = free_ways(self.free.len() as u32, self.ways_per_set);
        }
        if let Some(data) = &mut self.data {
            data.used.fill(0);
        }
    }
}

impl LookupOrAllocate for SectorCache {
    #[inline(always)]
    fn lookup_or_allocate(&mut self, set: u32, key: u32) -> ResidentLine<'_> {
        let (entry, evicted) = match self.touch(set, key) {
            Some(entry) => (entry, None),
            None => self.allocate(set, key),
        };
        let evicted = evicted.map_or(EMPTY, |evicted| evicted.key);
        ResidentLine { state: &mut self.lines[entry].0, partial: &mut self.partial, evicted }
    }
}

/// Returns all ways of all sets; the lowest way is taken first.
fn free_ways(sets: u32, ways: u32) -> Vec<Vec<u32>> {
    vec![(0..ways).rev().collect(); sets as usize]
}
