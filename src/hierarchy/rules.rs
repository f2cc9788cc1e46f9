//! What one partition of level 2 does with the sectors of one line, and what that costs behind it.

use super::cache::LineCache;
use super::coalesce::bytes_of;
use super::config::{DramConfig, L2Config, StoreFill};
use super::level2::L2Outcome;
use super::units::{Units, count};

/// The rules of a model, as tables over the sectors of a line.
pub(super) struct Rules {
    /// Lookups.
    pub(super) lookup: Units,
    fill: Units,
    dram_read: Units,
    dram_write: Units,
    /// Sectors of a line.
    all: u8,
    store_fill: StoreFill,
}

impl Rules {
    pub(super) fn new(config: &L2Config, dram: DramConfig) -> Rules {
        Rules {
            lookup: Units::new(config.sector_bytes),
            fill: Units::new(config.fill_bytes),
            dram_read: Units::new(dram.read_bytes),
            dram_write: Units::new(dram.write_bytes),
            all: ((1u32 << (config.line_bytes / 32)) - 1) as u8,
            store_fill: config.store_fill,
        }
    }

    /// The line's entry, made where it is not there. Sectors of the old line that were never completed are completed
    /// from DRAM before they can be written back.
    #[inline(always)]
    pub(super) fn bring<C: LineCache>(&self, cache: &mut C, set: u32, key: u32, sum: &mut L2Outcome) -> usize {
        if let Some(entry) = cache.touch(set, key) {
            return entry;
        }
        let (entry, evicted) = cache.allocate(set, key);
        if let Some(evicted) = evicted {
            sum.dram_reads += count(cache.take_partial(evicted.key, 15, |_, _| ()));
        }
        entry
    }

    /// Reads sectors, from DRAM what is missing. Returns the lookups that missed.
    #[inline(always)]
    pub(super) fn load<C: LineCache>(
        &self,
        cache: &mut C,
        set: u32,
        key: u32,
        sectors: u8,
        sum: &mut L2Outcome,
    ) -> u32 {
        let entry = self.bring(cache, set, key, sum);
        let valid = cache.valid(entry);
        let missing = sectors & !valid;
        if missing == 0 {
            return 0;
        }
        // One miss per fill; further units that the same fill brings are hits.
        let fill = self.fill.widen(missing);
        cache.take_partial(key, fill, |_, _| ());
        cache.fill(entry, fill);
        sum.dram_reads += count(self.dram_read.widen(fill & !valid));
        self.fill.count(missing)
    }

    /// Writes `bytes` of the line.
    #[inline(always)]
    pub(super) fn store<C: LineCache>(
        &self,
        cache: &mut C,
        set: u32,
        key: u32,
        sectors: u8,
        bytes: u128,
        sum: &mut L2Outcome,
    ) {
        let lookups = self.lookup.count(sectors);
        let entry = self.bring(cache, set, key, sum);
        let rest = sectors & !cache.valid(entry);
        let unknown = match self.store_fill {
            _ if rest == 0 => 0,
            StoreFill::Whole => {
                cache.fill(entry, self.fill.widen(rest));
                // One miss per fill, as for loads.
                self.fill.count(rest)
            }
            StoreFill::Bytes if bytes & bytes_of(rest) == bytes_of(rest) => {
                let known = cache.take_partial(key, rest, |_, _| ());
                cache.fill(entry, rest);
                self.lookup.count(rest & !known)
            }
            StoreFill::Bytes => {
                let mut known = 0;
                for sector in 0..4 {
                    if rest >> sector & 1 == 1 && cache.write_bytes(entry, sector, (bytes >> (32 * sector)) as u32) {
                        known |= 1 << sector;
                    }
                }
                self.lookup.count(rest & !known)
            }
        };
        sum.hits += lookups - unknown;
        sum.allocated += unknown;
        self.soil(cache, entry, sectors, sum);
    }

    /// Reads and writes sectors as one. Returns the lookups that missed.
    #[inline]
    pub(super) fn atomic<C: LineCache>(
        &self,
        cache: &mut C,
        set: u32,
        key: u32,
        sectors: u8,
        sum: &mut L2Outcome,
    ) -> u32 {
        let missed = self.load(cache, set, key, sectors, sum);
        if let Some(entry) = cache.peek(set, key) {
            self.soil(cache, entry, sectors, sum);
        }
        missed
    }

    #[inline(always)]
    fn soil<C: LineCache>(&self, cache: &mut C, entry: usize, sectors: u8, sum: &mut L2Outcome) {
        let new = cache.soil(entry, self.dram_write.widen(sectors) & self.all);
        sum.dram_writes += count(new);
    }
}
