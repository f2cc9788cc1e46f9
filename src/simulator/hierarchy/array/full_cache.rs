//! Fully associative cache arrays, one per SM, with LRU or tree pseudo-LRU replacement: what L1 mostly is.
//!
//! A hash table of buckets finds the lines: a bucket has places for 32, with a byte of each line's hash, all of which
//! are compared at once, and is half full on average. What does not fit is in a list, which is nearly always empty. So
//! searching a line, dropping one and adding one have no unpredictable branch. The arrays of all SMs lie in
//! a row.

use super::finder::EMPTY;
use super::line_cache::{Evicted, LineCache};
use super::partial::Partial;
use super::plru::TreePlru;
use super::policy::Replacement;
use super::recency::{OneRecency, Recencies, Recency, Rings};
use crate::simd::processor;

/// One line.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Its key, [`EMPTY`] where there is none.
    key: u32,
    /// Its place in the hash table, [`SPILLED`], or [`NOWHERE`].
    place: u16,
    /// In the low four bits the sectors that can be read, in the high ones those that are dirty.
    state: u8,
}

const NO_LINE: Slot = Slot { key: EMPTY, place: NOWHERE, state: 0 };
/// Place of a line in the list of lines without a slot.
const SPILLED: u16 = u16::MAX;
/// Place of a line that is not in the table.
const NOWHERE: u16 = u16::MAX - 1;
/// No way.
const NO_WAY: u16 = u16::MAX;
/// Places of a bucket.
const PLACES: usize = 32;

/// See the module's page. A set is an SM's array.
#[derive(Clone, Debug)]
pub struct FullCache {
    sets: u32,
    ways: u32,
    slots: Vec<Slot>,
    /// Indexed by place, bucket by bucket: part of the line's hash, 0 where there is none.
    tags: Vec<[u8; PLACES]>,
    /// Indexed by place: the line's way.
    names: Vec<[u16; PLACES]>,
    /// Buckets per set, as a power of two.
    buckets_log: u32,
    /// Per set: ways of lines without a place.
    spilled: Vec<Vec<u16>>,
    recencies: Recencies,
    /// Per set: ways without a line if those are taken before the order of use decides, the next one last.
    free: Vec<Vec<u16>>,
    empty_first: bool,
    partial: Partial,
    /// Whether a line may be dirty.
    dirtied: bool,
}

impl FullCache {
    /// Most ways: there are up to four times as many places, and their numbers have 16 bits.
    const MOST: u32 = 1 << 13;

    /// Returns whether an array can be of this form.
    pub fn fits(ways: u32, replacement: &Replacement) -> bool {
        let known = matches!(replacement, Replacement::Lru | Replacement::TreePlru | Replacement::BlindTreePlru);
        known && (1..=Self::MOST).contains(&ways)
    }

    /// How many sets it has.
    pub fn sets(&self) -> u32 {
        self.sets
    }

    /// Makes room for this many sets; new ones are empty.
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
    }

    /// Returns whether no line is dirty and no sector partly written, so that what leaves needs no thought.
    pub fn is_clean(&self) -> bool {
        !self.dirtied && self.partial.is_empty()
    }

    /// One SM's array and its order of use.
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
}

impl One<'_> {
    /// Bucket and tag of a line.
    #[inline(always)]
    fn bucket(&self, key: u32) -> (u16, u8) {
        // Multiplicative hash by the golden ratio.
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

    /// Removes the entry of a way's line.
    #[inline(always)]
    fn drop_place(&mut self, way: u16, place: u16) {
        match place {
            NOWHERE => {}
            SPILLED => self.spilled.retain(|other| *other != way),
            _ => self.tags[usize::from(place) / PLACES][usize::from(place) % PLACES] = 0,
        }
    }

    /// Puts the line of a way into the table.
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

    /// Puts a line into the way that the order of use selects, and notes the use. Does not enter it in the table.
    /// Returns its way, and the line that left.
    #[inline(always)]
    fn replace(&mut self, key: u32, state: u8, recency: &mut impl Recency) -> (u16, Slot) {
        let way = match self.free.pop() {
            Some(way) => {
                recency.touch(way);
                way
            }
            None => recency.take_victim(),
        };
        let new = Slot { key, place: NOWHERE, state };
        (way, std::mem::replace(&mut self.slots[usize::from(way)], new))
    }

    /// Uses sectors of a line, which are present from now on; returns those that were not, and whether the line was
    /// there. For clean arrays.
    #[inline(always)]
    pub(crate) fn lookup_or_allocate(&mut self, key: u32, sectors: u8, recency: &mut impl Recency) -> (u8, bool) {
        let (bucket, tag) = self.bucket(key);
        let way = self.find_in(bucket, tag, key);
        if way != NO_WAY {
            let state = &mut self.slots[usize::from(way)].state;
            let missing = sectors & !*state;
            *state |= missing;
            recency.touch(way);
            return (missing, true);
        }
        let (way, old) = self.replace(key, sectors, recency);
        self.drop_place(way, old.place);
        self.put_place(way, bucket, tag);
        (sectors, false)
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
            partial: Partial::default(),
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

    fn write_bytes(&mut self, set: u32, entry: usize, sector: u32, bytes: u32) -> bool {
        let Slot { key, state, .. } = self.slots[entry];
        if state >> sector & 1 == 1 {
            return true;
        }
        let (known, whole) = self.partial.write(line_of(set, key), sector, bytes);
        if whole {
            self.fill(entry, 1 << sector);
        }
        known
    }

    #[inline(always)]
    fn take_partial(&mut self, set: u32, key: u32, sectors: u8, f: impl FnMut(u32, u32)) -> u8 {
        self.partial.take(line_of(set, key), sectors, f)
    }

    #[inline(always)]
    fn is_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    fn invalidate(&mut self, set: u32, key: u32, sectors: u8) {
        let (mut one, mut recency) = self.one(set);
        let Some(way) = one.find(key) else { return };
        let slot = &mut one.slots[way as usize];
        slot.state &= !(sectors | sectors << 4);
        if slot.state == 0 {
            let Slot { place, .. } = std::mem::replace(slot, NO_LINE);
            one.drop_place(way, place);
            // An LRU takes this way next.
            if let OneRecency::Ring(ring) = &mut recency {
                ring.retire(way);
            } else if self.empty_first {
                self.free[set as usize].push(way);
            }
        }
        self.partial.take(line_of(set, key), sectors, |_, _| ());
    }

    fn clear(&mut self) {
        let sets = std::mem::take(&mut self.sets);
        self.slots.clear();
        self.tags.clear();
        self.names.clear();
        self.spilled.clear();
        self.free.clear();
        self.recencies.clear();
        self.partial.clear();
        self.dirtied = false;
        self.resize(sets);
    }
}

/// Returns a line of an SM, among those of all.
#[inline(always)]
fn line_of(set: u32, key: u32) -> u64 {
    u64::from(set) << 32 | u64::from(key)
}
