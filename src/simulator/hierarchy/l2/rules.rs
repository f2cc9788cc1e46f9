//! The behaviour of one L2 partition for the sectors of one line, and the resulting DRAM traffic.

use super::request::L2Outcome;
use crate::geometry::sectors::{Units, bytes_of, count};
use crate::hierarchy::array::{EMPTY, LookupOrAllocate, ResidentLine};
use crate::hierarchy::config::{DramConfig, L2Config, L2Misses, StoreFill};

/// The rules of a model, as tables over the sectors of a line.
pub(crate) struct Rules {
    /// Units of lookups.
    pub(crate) lookup: Units,
    fill: Units,
    /// Units in which missing sectors are counted.
    miss: Units,
    dram_read: Units,
    dram_write: Units,
    /// All sectors of a line.
    all: u8,
    store_fill: StoreFill,
    /// Effects of accesses to whole sectors in a cache without partly written sectors, indexed by [`at`]: loads,
    /// stores, and stores that mark sectors dirty.
    whole_load: [Effect; 256],
    whole_store: [Effect; 256],
    whole_dirty: [Effect; 256],
}

/// The amounts that a lookup adds to a [`WholeSum`], 12 bits each. The highest 8 bits are the sectors that it adds to
/// the line's state.
#[derive(Clone, Copy, Debug, Default)]
struct Effect(u64);

impl Effect {
    fn new(state: u8, done: &L2Outcome) -> Effect {
        let counts = [done.lookups, done.hits, done.allocated, done.dram_reads + done.dram_writes];
        let sum: u64 = (0..).zip(counts).map(|(place, count)| u64::from(count) << (COUNT_BITS * place)).sum();
        Effect(sum | u64::from(state) << 56)
    }

    #[inline(always)]
    fn state(self) -> u8 {
        (self.0 >> 56) as u8
    }
}

const COUNT_BITS: u32 = 12;

/// Returns the table index for accessed sectors and a line's state.
#[inline(always)]
fn at(state: u8, sectors: u8) -> usize {
    usize::from(state << 4 | sectors & 15)
}

/// The summed outcome of several lookups, either all loads or all stores of whole sectors. The sum of the states
/// overflows without consequences.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WholeSum(u64);

impl WholeSum {
    /// Maximum number of lookups in a sum: each adds at most 8 to a count.
    pub(crate) const MOST: usize = (1 << COUNT_BITS) / 8 - 1;

    /// Returns the sum.
    #[inline(always)]
    pub(crate) fn outcome(self, store: bool) -> L2Outcome {
        let count = |place: u32| (self.0 >> (COUNT_BITS * place)) as u32 & ((1 << COUNT_BITS) - 1);
        let (dram_reads, dram_writes) = if store { (0, count(3)) } else { (count(3), 0) };
        L2Outcome { lookups: count(0), hits: count(1), allocated: count(2), far: 0, dram_reads, dram_writes }
    }
}

impl Rules {
    pub(crate) fn new(config: &L2Config, dram: DramConfig) -> Rules {
        let mut rules = Rules {
            whole_load: [Effect::default(); 256],
            whole_store: [Effect::default(); 256],
            whole_dirty: [Effect::default(); 256],
            lookup: Units::new(config.sector_bytes),
            fill: Units::new(config.fill_bytes),
            miss: Units::new(match config.misses {
                L2Misses::Fetch => config.fill_bytes,
                L2Misses::Lookup => config.sector_bytes,
            }),
            dram_read: Units::new(dram.read_bytes),
            dram_write: Units::new(dram.write_bytes),
            all: ((1u32 << (config.line_bytes / 32)) - 1) as u8,
            store_fill: config.store_fill,
        };
        for state in 0..16u8 {
            for sectors in 0..16u8 {
                let index = at(state, sectors);
                rules.whole_load[index] = rules.load_effect(state, sectors);
                rules.whole_store[index] = rules.store_effect(state, sectors);
                rules.whole_dirty[index] = rules.dirty_effect(state, sectors);
            }
        }
        rules
    }

    fn load_effect(&self, valid: u8, sectors: u8) -> Effect {
        let missing = sectors & !valid;
        let fill = self.fill.widen(missing);
        let lookups = self.lookup.count(sectors);
        let hits = lookups.saturating_sub(self.miss.count(missing));
        let dram_reads = self.dram_read.width(fill & !valid);
        Effect::new(fill, &L2Outcome { lookups, hits, dram_reads, ..L2Outcome::default() })
    }

    fn store_effect(&self, valid: u8, sectors: u8) -> Effect {
        let rest = sectors & !valid;
        let (fill, allocated) = match self.store_fill {
            StoreFill::Whole => (self.fill.widen(rest), self.fill.count(rest)),
            StoreFill::Bytes => (rest, self.lookup.count(rest)),
        };
        let lookups = self.lookup.count(sectors);
        Effect::new(
            fill,
            &L2Outcome { lookups, hits: lookups.saturating_sub(allocated), allocated, ..L2Outcome::default() },
        )
    }

    fn dirty_effect(&self, dirty: u8, sectors: u8) -> Effect {
        let dirtied = self.dram_write.widen(sectors) & self.all;
        let dram_writes = count(dirtied & !dirty);
        Effect::new(dirtied << 4, &L2Outcome { dram_writes, ..L2Outcome::default() })
    }

    /// Returns a line, which is allocated if it is absent. Incomplete sectors of the evicted line are completed from
    /// DRAM before they can be written back.
    #[inline(always)]
    pub(crate) fn line<'a, C: LookupOrAllocate>(
        &self,
        cache: &'a mut C,
        set: u32,
        key: u32,
        sum: &mut L2Outcome,
    ) -> ResidentLine<'a> {
        let brought = cache.lookup_or_allocate(set, key);
        if brought.evicted != EMPTY {
            sum.dram_reads += count(brought.partial.take(u64::from(brought.evicted), 15, |_, _| ()));
        }
        brought
    }

    /// Reads sectors; missing sectors come from DRAM. Returns the lookups that missed.
    #[inline(always)]
    pub(crate) fn load(&self, line: &mut ResidentLine<'_>, key: u32, sectors: u8, sum: &mut L2Outcome) -> u32 {
        let valid = *line.state & 15;
        let missing = sectors & !valid;
        if missing == 0 {
            return 0;
        }
        let fill = self.fill.widen(missing);
        line.partial.take(u64::from(key), fill, |_, _| ());
        *line.state |= fill;
        sum.dram_reads += self.dram_read.width(fill & !valid);
        self.miss.count(missing)
    }

    /// Writes `bytes` of the line.
    #[inline(always)]
    pub(crate) fn store(&self, line: &mut ResidentLine<'_>, key: u32, sectors: u8, bytes: u128, sum: &mut L2Outcome) {
        let rest = sectors & !(*line.state & 15);
        let unknown = match self.store_fill {
            _ if rest == 0 => 0,
            StoreFill::Whole => {
                *line.state |= self.fill.widen(rest);
                // One miss is counted per fill, because the fill also brings the other sectors.
                self.fill.count(rest)
            }
            StoreFill::Bytes if bytes & bytes_of(rest) == bytes_of(rest) => {
                let known = line.partial.take(u64::from(key), rest, |_, _| ());
                *line.state |= rest;
                self.lookup.count(rest & !known)
            }
            StoreFill::Bytes => self.lookup.count(rest & !write_bytes(line, key, rest, bytes)),
        };
        sum.hits += self.lookup.count(sectors) - unknown;
        sum.allocated += unknown;
        self.mark_dirty(line, sectors, sum);
    }

    /// Performs [`Rules::load`], including the count of lookups, on a line in a cache without partly written sectors.
    #[inline(always)]
    pub(crate) fn load_whole(&self, state: &mut u8, sectors: u8, sum: &mut WholeSum) {
        let effect = self.whole_load[at(*state, sectors)];
        *state |= effect.state();
        sum.0 = sum.0.wrapping_add(effect.0);
    }

    /// Performs [`Rules::store`] of whole sectors, including the count of lookups, on a line in a cache without partly
    /// written sectors.
    #[inline(always)]
    pub(crate) fn store_whole(&self, state: &mut u8, sectors: u8, sum: &mut WholeSum) {
        let (fill, mark_dirty) = (self.whole_store[at(*state, sectors)], self.whole_dirty[at(*state >> 4, sectors)]);
        *state |= fill.state() | mark_dirty.state();
        sum.0 = sum.0.wrapping_add(fill.0).wrapping_add(mark_dirty.0);
    }

    /// Reads and writes sectors atomically. Returns the lookups that missed.
    #[inline(always)]
    pub(crate) fn atomic(&self, line: &mut ResidentLine<'_>, key: u32, sectors: u8, sum: &mut L2Outcome) -> u32 {
        let missed = self.load(line, key, sectors, sum);
        self.mark_dirty(line, sectors, sum);
        missed
    }

    #[inline(always)]
    fn mark_dirty(&self, line: &mut ResidentLine<'_>, sectors: u8, sum: &mut L2Outcome) {
        let dirty = self.dram_write.widen(sectors) & self.all;
        sum.dram_writes += count(dirty & !(*line.state >> 4));
        *line.state |= dirty << 4;
    }
}

/// Records bytes written to invalid sectors; a sector becomes valid when all its bytes are known. Returns the sectors
/// of which some bytes were known before.
#[inline(never)]
fn write_bytes(line: &mut ResidentLine<'_>, key: u32, sectors: u8, bytes: u128) -> u8 {
    let mut known = 0;
    for sector in (0..4).filter(|sector| sectors >> sector & 1 == 1) {
        let (before, whole) = line.partial.write(u64::from(key), sector, (bytes >> (32 * sector)) as u32);
        known |= u8::from(before) << sector;
        *line.state |= u8::from(whole) << sector;
    }
    known
}
