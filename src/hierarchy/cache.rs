//! One cache array: sets, ways, sector bits, replacement. Levels 1 and 2 are both built on it.

use super::finder::{EMPTY, Ways};
use super::policy::{Policy, Replacement};
use super::processor;
use rustc_hash::FxHashMap;

/// What left the cache to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// The line's key.
    pub key: u32,
    /// Its sectors that have to be written back.
    pub dirty: u8,
}

/// State of one line: in the low four bits the sectors all of whose bytes are here, in the high ones
/// those with bytes that the next level has not.
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
    /// Sectors per set.
    room: u32,
    /// Sectors in use, per set.
    used: Vec<u32>,
}

/// Bytes written to sectors that are not whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Partial(FxHashMap<u64, u32>);

impl Partial {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes bytes written to a sector of a line that cannot be read. Whether some of them were known before, and
    /// whether all of the sector's are now; what is whole is forgotten here.
    pub(super) fn write(&mut self, key: u64, sector: u32, bytes: u32) -> (bool, bool) {
        let place = key << 2 | u64::from(sector);
        if bytes == u32::MAX {
            return (!self.0.is_empty() && self.0.remove(&place).is_some(), true);
        }
        let known = self.0.entry(place).or_default();
        let before = *known != 0;
        *known |= bytes;
        let whole = *known == u32::MAX;
        if whole {
            self.0.remove(&place);
        }
        (before, whole)
    }

    /// Takes out what is known of some sectors of a line: which, and calls `f` with each one's bytes.
    #[inline(always)]
    pub(super) fn take(&mut self, key: u64, sectors: u8, mut f: impl FnMut(u32, u32)) -> u8 {
        if self.0.is_empty() { 0 } else { self.take_slowly(key, sectors, &mut f) }
    }

    #[inline(never)]
    fn take_slowly(&mut self, key: u64, sectors: u8, f: &mut dyn FnMut(u32, u32)) -> u8 {
        let mut taken = 0;
        for sector in 0..4 {
            if sectors >> sector & 1 == 1
                && let Some(bytes) = self.0.remove(&(key << 2 | u64::from(sector)))
            {
                taken |= 1 << sector;
                f(sector, bytes);
            }
        }
        taken
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// An array of sectored lines: sets, ways, replacement. A sector is 32 bytes; caches without sectors fill all sectors of
/// a line at once. Lines are found by key, and used by entry, which stays valid until the next allocation.
pub(super) trait LineCache {
    /// An empty cache.
    fn new(sets: u32, ways: u32, replacement: &Replacement) -> Self;
    /// Finds a line and notes the use.
    fn touch(&mut self, set: u32, key: u32) -> Option<usize>;
    /// Asks for the memory of a set.
    fn prefetch(&self, set: u32);
    /// Sectors of an entry that can be read.
    fn valid(&self, entry: usize) -> u8;
    /// Makes room for a line that is not present, and notes the use.
    fn allocate(&mut self, set: u32, key: u32) -> (usize, Option<Evicted>);
    /// Adds readable sectors to an entry.
    fn fill(&mut self, entry: usize, sectors: u8);
    /// Marks sectors as written; returns those that were not so before.
    fn soil(&mut self, entry: usize, sectors: u8) -> u8;
    /// Notes bytes written to a sector; the sector becomes readable when all 32 are known. Returns whether some of them
    /// were known before.
    fn write_bytes(&mut self, set: u32, entry: usize, sector: u32, bytes: u32) -> bool;
    /// Takes out what is known of the partly written sectors among `sectors` of a line of a set that is being completed
    /// or has left: which, and calls `f` with each one's bytes.
    fn take_partial(&mut self, set: u32, key: u32, sectors: u8, f: impl FnMut(u32, u32)) -> u8;
    /// Whether any sector is partly written.
    fn is_partial(&self) -> bool;
    /// Drops sectors of a line; the whole line where none is left. Dirty data is lost.
    fn invalidate(&mut self, set: u32, key: u32, sectors: u8);
    /// Empties the cache; nothing is written back.
    fn clear(&mut self);
}

/// A line as level 2 works on it.
pub(super) struct Brought<'a> {
    /// In the low four bits the sectors that can be read, in the high ones those that are dirty.
    pub(super) state: &'a mut u8,
    /// Sectors of the whole cache that are not whole.
    pub(super) partial: &'a mut Partial,
    /// The line that left to make room, or [`EMPTY`].
    pub(super) evicted: u32,
}

/// An array without shared data sectors, for level 2.
pub(super) trait Bring: LineCache {
    /// Finds a line, or makes room for it where it is not there, and notes the use.
    fn bring(&mut self, set: u32, key: u32) -> Brought<'_>;
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
    /// Where tags and data are apart.
    data: Option<Data>,
    /// Ways without a line, per set, where they are taken before the policy is asked; else empty.
    free: Vec<Vec<u32>>,
    /// The entry used last and its key: neighbouring pieces often lie in one line.
    recent: (u32, usize),
}

impl SectorCache {
    /// A streaming cache: tags apart from data. It has a tag per way, and room for `sectors` sectors
    /// of data per set that any line may use; the least recently used lines leave when either runs out.
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
        // The room is at least one line, so a line other than this one is left while there is too much.
        while self.data.as_ref().is_some_and(|data| data.used[set] > data.room) {
            let way = self.policy.victim(set as u32);
            // An emptied way goes to the end of the row, so that it is not offered over and over.
            self.policy.touch(set as u32, way);
            let oldest = set * self.ways_per_set as usize + way as usize;
            if oldest != entry && self.drop_line(oldest).is_some() {
                self.release(set, way);
            }
        }
        self.policy.touch(set as u32, (entry % self.ways_per_set as usize) as u32);
    }

    /// A way has lost its line.
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
    fn soil(&mut self, entry: usize, sectors: u8) -> u8 {
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

impl Bring for SectorCache {
    #[inline(always)]
    fn bring(&mut self, set: u32, key: u32) -> Brought<'_> {
        let (entry, evicted) = match self.touch(set, key) {
            Some(entry) => (entry, None),
            None => self.allocate(set, key),
        };
        let evicted = evicted.map_or(EMPTY, |evicted| evicted.key);
        Brought { state: &mut self.lines[entry].0, partial: &mut self.partial, evicted }
    }
}

/// All ways of all sets; the lowest is taken first.
fn free_ways(sets: u32, ways: u32) -> Vec<Vec<u32>> {
    vec![(0..ways).rev().collect(); sets as usize]
}
