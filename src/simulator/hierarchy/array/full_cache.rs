//! Fully associative cache arrays, one per SM, with LRU or tree pseudo-LRU replacement. Most L1 models use this form.
//!
//! A hash table of buckets finds the lines. A bucket has 32 slots, and is half full on average. Each slot has one byte
//! of its line's hash; a lookup compares all 32 bytes at once. Lines that do not fit into their bucket are stored in a
//! list, which is nearly always empty. Lookup, removal and insertion therefore have no unpredictable branch. The arrays
//! of all SMs are contiguous in memory.

use super::finder::EMPTY;
use super::line_cache::{Evicted, LineCache};
use super::plru::TreePlru;
use super::policy::Replacement;
use super::recency::{OneRecency, Recencies, Recency, Rings};
use crate::simd::processor;

/// A way of the cache.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Key of the line; [`EMPTY`] if there is none.
    key: u32,
    /// Slot of the line in the hash table, [`SPILLED`], or [`NOWHERE`].
    place: u16,
    /// Valid sectors in the low four bits, dirty sectors in the high four bits.
    state: u8,
    /// Invalid sectors of which some bytes were written; see [`FullCache::written`].
    partial: u8,
}

impl Slot {
    /// Records bytes written to an invalid sector; returns whether some of its bytes were known before. `written`
    /// belongs to the same way.
    #[inline(always)]
    fn write(&mut self, written: &mut [u32; 4], sector: u32, bytes: u32) -> bool {
        let bit = 1 << sector;
        let known = if self.partial & bit == 0 { 0 } else { written[sector as usize & 3] };
        let now = known | bytes;
        written[sector as usize & 3] = now;
        if now == u32::MAX {
            self.state |= bit;
            self.partial &= !bit;
        } else {
            self.partial |= bit;
        }
        known != 0
    }
}

const NO_LINE: Slot = Slot { key: EMPTY, place: NOWHERE, state: 0, partial: 0 };
/// Marks a line in the list of lines without a slot.
const SPILLED: u16 = u16::MAX;
/// Marks a way without a line in the table.
const NOWHERE: u16 = u16::MAX - 1;
/// Marks the absence of a way.
const NO_WAY: u16 = u16::MAX;
/// Slots of a bucket.
const PLACES: usize = 32;

/// The arrays of all SMs; see the module documentation. A set is the array of one SM.
#[derive(Clone, Debug)]
pub struct FullCache {
    sets: u32,
    ways: u32,
    slots: Vec<Slot>,
    /// Indexed by slot, bucket by bucket: part of the line's hash, 0 if the slot is empty.
    tags: Vec<[u8; PLACES]>,
    /// Indexed by slot: the way of the line.
    names: Vec<[u16; PLACES]>,
    /// Base-2 logarithm of the number of buckets per set.
    buckets_log: u32,
    /// Ways whose lines have no slot, per set.
    spilled: Vec<Vec<u16>>,
    recencies: Recencies,
    /// Empty ways per set, the next one last. Used only if empty ways are filled before the replacement policy chooses.
    free: Vec<Vec<u16>>,
    empty_first: bool,
    /// Per way: the written bytes of its partly written sectors; other entries are invalid. Empty until a store writes a
    /// part of a sector.
    written: Vec<[u32; 4]>,
    /// The line that was evicted last, if sectors of it were partly written.
    evicted: Option<EvictedBytes>,
    /// Whether any line may be dirty.
    dirtied: bool,
}

/// Partly written sectors of an evicted line, and their written bytes.
#[derive(Clone, Copy, Debug)]
struct EvictedBytes {
    line: u64,
    partial: u8,
    written: [u32; 4],
}

impl FullCache {
    /// Maximum number of ways. There are up to four times as many slots, and slot numbers have 16 bits.
    const MOST: u32 = 1 << 13;

    /// Returns whether this form supports the number of ways and the policy.
    pub fn fits(ways: u32, replacement: &Replacement) -> bool {
        let known = matches!(replacement, Replacement::Lru | Replacement::TreePlru | Replacement::BlindTreePlru);
        known && (1..=Self::MOST).contains(&ways)
    }

    /// Returns the number of sets.
    pub fn sets(&self) -> u32 {
        self.sets
    }

    /// Allocates this many sets; new sets are empty.
    pub fn resize(&mut self, sets: u32) {
        self.sets = sets;
        let count = sets as usize;
        self.slots.resize(count * self.ways as usize, NO_LINE);
        self.tags.resize(count << self.buckets_log, [0; PLACES]);
        self.names.resize(count << self.buckets_log, [0; PLACES]);
        self.spilled.resize(count, Vec::new());
        self.recencies.resize(sets);
        let ways = self.ways as u16;
        let free = || if self.empty_first { (0..ways).rev().collect() } else { Vec::new() };
        self.free.resize_with(count, free);
        if !self.written.is_empty() {
            self.record_bytes();
        }
    }

    /// Returns whether no line is dirty, so that evictions cause no writes.
    pub fn is_clean(&self) -> bool {
        !self.dirtied
    }

    /// Allocates the records of partly written sectors. Must be called before [`One::write`].
    pub(crate) fn record_bytes(&mut self) {
        self.written.resize(self.slots.len(), [0; 4]);
    }

    /// Returns the array of one SM and its replacement state.
    #[inline(always)]
    pub(crate) fn one(&mut self, set: u32) -> (One<'_>, OneRecency<'_>) {
        let ways = self.ways as usize;
        let buckets = (set as usize) << self.buckets_log..(set as usize + 1) << self.buckets_log;
        let one = One {
            slots: &mut self.slots[set as usize * ways..][..ways],
            tags: &mut self.tags[buckets.clone()],
            names: &mut self.names[buckets],
            shift: u32::BITS - self.buckets_log,
            spilled: &mut self.spilled[set as usize],
            free: &mut self.free[set as usize],
            written: self
                .written
                .get_mut(set as usize * ways..)
                .and_then(|rest| rest.get_mut(..ways))
                .unwrap_or(&mut []),
        };
        (one, self.recencies.one(set))
    }

    #[inline(always)]
    fn entry(&self, set: u32, way: u16) -> usize {
        set as usize * self.ways as usize + way as usize
    }
}

/// The array of one SM.
pub(crate) struct One<'a> {
    slots: &'a mut [Slot],
    tags: &'a mut [[u8; PLACES]],
    names: &'a mut [[u16; PLACES]],
    shift: u32,
    spilled: &'a mut Vec<u16>,
    free: &'a mut Vec<u16>,
    /// See [`FullCache::written`].
    written: &'a mut [[u32; 4]],
}

impl One<'_> {
    /// Returns the bucket and the tag of a line.
    #[inline(always)]
    fn bucket(&self, key: u32) -> (u16, u8) {
        // The hash multiplies by the golden ratio.
        let hash = u64::from(key.wrapping_mul(0x9e37_79b1));
        let tag = (hash << 8 >> self.shift) as u8;
        ((hash >> self.shift) as u16, if tag == 0 { 1 } else { tag })
    }

    #[inline(always)]
    fn find(&self, key: u32) -> Option<u16> {
        let (bucket, tag) = self.bucket(key);
        let way = self.find_in(bucket, tag, key);
        (way != NO_WAY).then_some(way)
    }

    /// Returns the way of a line, or [`NO_WAY`].
    #[inline(always)]
    fn find_in(&self, bucket: u16, tag: u8, key: u32) -> u16 {
        let bucket = usize::from(bucket);
        let mut found = processor::equal_bytes(&self.tags[bucket], tag);
        while found != 0 {
            let way = self.names[bucket][found.trailing_zeros() as usize % PLACES];
            if self.slots[usize::from(way)].key == key {
                return way;
            }
            found &= found - 1;
        }
        if self.spilled.is_empty() { NO_WAY } else { self.find_spilled(key) }
    }

    #[cold]
    fn find_spilled(&self, key: u32) -> u16 {
        let found = self.spilled.iter().find(|way| self.slots[usize::from(**way)].key == key);
        found.copied().unwrap_or(NO_WAY)
    }

    /// Removes a way's line from the table.
    #[inline(always)]
    fn drop_place(&mut self, way: u16, place: u16) {
        match place {
            NOWHERE => {}
            SPILLED => self.spilled.retain(|other| *other != way),
            _ => self.tags[usize::from(place) / PLACES][usize::from(place) % PLACES] = 0,
        }
    }

    /// Inserts a way's line into the table.
    #[inline(always)]
    fn put_place(&mut self, way: u16, bucket: u16, tag: u8) {
        let row = usize::from(bucket);
        let free = processor::equal_bytes(&self.tags[row], 0).trailing_zeros() as usize;
        self.slots[usize::from(way)].place = if free < PLACES {
            self.tags[row][free] = tag;
            self.names[row][free] = way;
            bucket * PLACES as u16 + free as u16
        } else {
            self.spilled.push(way);
            SPILLED
        };
    }

    /// Stores a line in the way that the replacement policy selects, and marks the way as used. Does not insert the
    /// line into the table. Returns the way and the evicted line.
    #[inline(always)]
    fn replace(&mut self, key: u32, state: u8, recency: &mut impl Recency) -> (u16, Slot) {
        let way = match self.free.pop() {
            Some(way) => {
                recency.touch(way);
                way
            }
            None => recency.take_victim(),
        };
        let new = Slot { key, place: NOWHERE, state, partial: 0 };
        (way, std::mem::replace(&mut self.slots[usize::from(way)], new))
    }

    /// Reads sectors of a line and makes them valid. Returns the sectors that were missing, and whether the line was
    /// present. Only for clean arrays.
    #[inline(always)]
    pub(crate) fn lookup_or_allocate(&mut self, key: u32, sectors: u8, recency: &mut impl Recency) -> (u8, bool) {
        let (bucket, tag) = self.bucket(key);
        let way = self.find_in(bucket, tag, key);
        if way != NO_WAY {
            let slot = &mut self.slots[usize::from(way)];
            let missing = sectors & !slot.state;
            slot.state |= missing;
            slot.partial &= !missing;
            recency.touch(way);
            return (missing, true);
        }
        self.allocate(key, sectors, bucket, tag, recency);
        (sectors, false)
    }

    /// Stores a line that is not present; returns its way. The evicted line is discarded, with its written bytes.
    #[inline(always)]
    fn allocate(&mut self, key: u32, state: u8, bucket: u16, tag: u8, recency: &mut impl Recency) -> u16 {
        let (way, old) = self.replace(key, state, recency);
        self.drop_place(way, old.place);
        self.put_place(way, bucket, tag);
        way
    }

    /// Writes bytes of some sectors of a line, which is allocated if it is not present. A sector becomes valid when all
    /// its bytes are written. Returns whether the line was present. Only for clean arrays.
    #[inline(always)]
    pub(crate) fn write(&mut self, key: u32, sectors: u8, bytes: u128, recency: &mut impl Recency) -> bool {
        let (bucket, tag) = self.bucket(key);
        let found = self.find_in(bucket, tag, key);
        let way = if found == NO_WAY {
            self.allocate(key, 0, bucket, tag, recency)
        } else {
            recency.touch(found);
            found
        };
        let slot = &mut self.slots[usize::from(way)];
        let mut rest = sectors & !slot.state & 15;
        while rest != 0 {
            let sector = rest.trailing_zeros();
            rest &= rest - 1;
            slot.write(&mut self.written[usize::from(way)], sector, (bytes >> (32 * sector)) as u32);
        }
        found != NO_WAY
    }
}

impl LineCache for FullCache {
    fn new(sets: u32, ways: u32, replacement: &Replacement) -> FullCache {
        let ways = ways.clamp(1, Self::MOST);
        let mut cache = FullCache {
            sets: 0,
            ways,
            slots: Vec::new(),
            tags: Vec::new(),
            names: Vec::new(),
            buckets_log: (2 * ways).div_ceil(PLACES as u32).next_power_of_two().trailing_zeros(),
            spilled: Vec::new(),
            recencies: match replacement {
                Replacement::Lru => Recencies::Rings(Rings::new(0, ways)),
                _ => Recencies::Trees(TreePlru::new(0, ways)),
            },
            free: Vec::new(),
            empty_first: replacement.empty_first(),
            written: Vec::new(),
            evicted: None,
            dirtied: false,
        };
        cache.resize(sets);
        cache
    }

    #[inline(always)]
    fn touch(&mut self, set: u32, key: u32) -> Option<usize> {
        let (one, mut recency) = self.one(set);
        let way = one.find(key)?;
        recency.touch(way);
        Some(self.entry(set, way))
    }

    #[inline(always)]
    fn prefetch(&self, _: u32) {}

    #[inline(always)]
    fn valid(&self, entry: usize) -> u8 {
        self.slots[entry].state & 15
    }

    #[inline(always)]
    fn allocate(&mut self, set: u32, key: u32) -> (usize, Option<Evicted>) {
        let (mut one, mut recency) = self.one(set);
        let (way, old) = one.replace(key, 0, &mut recency);
        one.drop_place(way, old.place);
        let (bucket, tag) = one.bucket(key);
        one.put_place(way, bucket, tag);
        let written = one.written.get(usize::from(way)).filter(|_| old.partial != 0).copied();
        self.evicted =
            written.map(|written| EvictedBytes { line: line_of(set, old.key), partial: old.partial, written });
        let evicted = (old.key != EMPTY).then_some(Evicted { key: old.key, dirty: old.state >> 4 });
        (self.entry(set, way), evicted)
    }

    #[inline(always)]
    fn fill(&mut self, entry: usize, sectors: u8) {
        self.slots[entry].state |= sectors;
    }

    fn mark_dirty(&mut self, entry: usize, sectors: u8) -> u8 {
        self.dirtied = true;
        let state = &mut self.slots[entry].state;
        let new = sectors & !(*state >> 4);
        *state |= sectors << 4;
        new
    }

    fn write_bytes(&mut self, _: u32, entry: usize, sector: u32, bytes: u32) -> bool {
        if self.slots[entry].state >> sector & 1 == 1 {
            return true;
        }
        if self.written.is_empty() {
            self.record_bytes();
        }
        self.slots[entry].write(&mut self.written[entry], sector, bytes)
    }

    #[inline(always)]
    fn take_partial(&mut self, set: u32, key: u32, sectors: u8, mut f: impl FnMut(u32, u32)) -> u8 {
        if self.written.is_empty() {
            return 0;
        }
        let line = line_of(set, key);
        let (partial, written) = match self.evicted.take_if(|evicted| evicted.line == line) {
            Some(evicted) => (evicted.partial, evicted.written),
            None => {
                let Some(way) = self.one(set).0.find(key) else { return 0 };
                let entry = self.entry(set, way);
                let partial = self.slots[entry].partial;
                self.slots[entry].partial &= !sectors;
                (partial, self.written[entry])
            }
        };
        let taken = partial & sectors;
        for (sector, bytes) in (0..).zip(written).filter(|(sector, _)| taken >> sector & 1 == 1) {
            f(sector, bytes);
        }
        taken
    }

    #[inline(always)]
    fn is_partial(&self) -> bool {
        !self.written.is_empty()
    }

    fn invalidate(&mut self, set: u32, key: u32, sectors: u8) {
        let (mut one, mut recency) = self.one(set);
        let Some(way) = one.find(key) else { return };
        let slot = &mut one.slots[way as usize];
        slot.state &= !(sectors | sectors << 4);
        slot.partial &= !sectors;
        if slot.state == 0 {
            let Slot { place, .. } = std::mem::replace(slot, NO_LINE);
            one.drop_place(way, place);
            // An LRU policy selects this way next.
            if let OneRecency::Ring(ring) = &mut recency {
                ring.retire(way);
            } else if self.empty_first {
                self.free[set as usize].push(way);
            }
        }
    }

    fn clear(&mut self) {
        let sets = std::mem::take(&mut self.sets);
        self.slots.clear();
        self.tags.clear();
        self.names.clear();
        self.spilled.clear();
        self.free.clear();
        self.recencies.clear();
        self.evicted = None;
        self.dirtied = false;
        self.resize(sets);
    }
}

/// Combines an SM and a key to one number that identifies the line among all SMs.
#[inline(always)]
fn line_of(set: u32, key: u32) -> u64 {
    u64::from(set) << 32 | u64::from(key)
}
