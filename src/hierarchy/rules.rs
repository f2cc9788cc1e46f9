//! What one partition of level 2 does with the sectors of one line, and what that costs behind it.

use super::cache::{Bring, Brought};
use super::coalesce::bytes_of;
use super::config::{DramConfig, L2Config, StoreFill};
use super::finder::EMPTY;
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

    /// The line, made where it is not there. Sectors of the old line that were never completed are completed from DRAM
    /// before they can be written back.
    #[inline(always)]
    pub(super) fn bring<'a, C: Bring>(&self, cache: &'a mut C, set: u32, key: u32, sum: &mut L2Outcome) -> Brought<'a> {
        let brought = cache.bring(set, key);
        if brought.evicted != EMPTY {
            sum.dram_reads += count(brought.partial.take(u64::from(brought.evicted), 15, |_, _| ()));
        }
        brought
    }

    /// Reads sectors, from DRAM what is missing. Returns the lookups that missed.
    #[inline(always)]
    pub(super) fn load(&self, line: &mut Brought<'_>, key: u32, sectors: u8, sum: &mut L2Outcome) -> u32 {
        let valid = *line.state & 15;
        let missing = sectors & !valid;
        if missing == 0 {
            return 0;
        }
        // One miss per fill; further units that the same fill brings are hits.
        let fill = self.fill.widen(missing);
        line.partial.take(u64::from(key), fill, |_, _| ());
        *line.state |= fill;
        sum.dram_reads += self.dram_read.width(fill & !valid);
        self.fill.count(missing)
    }

    /// Writes `bytes` of the line.
    #[inline(always)]
    pub(super) fn store(&self, line: &mut Brought<'_>, key: u32, sectors: u8, bytes: u128, sum: &mut L2Outcome) {
        let rest = sectors & !(*line.state & 15);
        let unknown = match self.store_fill {
            _ if rest == 0 => 0,
            StoreFill::Whole => {
                *line.state |= self.fill.widen(rest);
                // One miss per fill, as for loads.
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
        self.soil(line, sectors, sum);
    }

    /// [`Rules::load`], lookups included, of a line in a cache without partly written sectors.
    #[inline(always)]
    pub(super) fn load_whole(&self, state: &mut u8, sectors: u8, sum: &mut L2Outcome) {
        let before = *state;
        let missing = sectors & !before & 15;
        let fill = self.fill.widen(missing);
        *state = before | fill;
        let lookups = self.lookup.count(sectors);
        sum.lookups += lookups;
        sum.hits += lookups - self.fill.count(missing);
        sum.dram_reads += self.dram_read.width(fill & !before);
    }

    /// [`Rules::store`] of whole sectors, lookups included, of a line in a cache without partly written sectors.
    #[inline(always)]
    pub(super) fn store_whole(&self, state: &mut u8, sectors: u8, sum: &mut L2Outcome) {
        let before = *state;
        let rest = sectors & !before & 15;
        let (fill, unknown) = match self.store_fill {
            StoreFill::Whole => (self.fill.widen(rest), self.fill.count(rest)),
            StoreFill::Bytes => (rest, self.lookup.count(rest)),
        };
        let dirty = self.dram_write.widen(sectors) & self.all;
        *state = before | fill | dirty << 4;
        let lookups = self.lookup.count(sectors);
        sum.lookups += lookups;
        sum.hits += lookups - unknown;
        sum.allocated += unknown;
        sum.dram_writes += count(dirty & !(before >> 4));
    }

    /// Reads and writes sectors as one. Returns the lookups that missed.
    #[inline(always)]
    pub(super) fn atomic(&self, line: &mut Brought<'_>, key: u32, sectors: u8, sum: &mut L2Outcome) -> u32 {
        let missed = self.load(line, key, sectors, sum);
        self.soil(line, sectors, sum);
        missed
    }

    #[inline(always)]
    fn soil(&self, line: &mut Brought<'_>, sectors: u8, sum: &mut L2Outcome) {
        let dirty = self.dram_write.widen(sectors) & self.all;
        sum.dram_writes += count(dirty & !(*line.state >> 4));
        *line.state |= dirty << 4;
    }
}

/// Notes bytes written to sectors that cannot be read; those become readable when all their bytes are known. Returns
/// the sectors of which some bytes were known before.
#[inline(never)]
fn write_bytes(line: &mut Brought<'_>, key: u32, sectors: u8, bytes: u128) -> u8 {
    let mut known = 0;
    for sector in (0..4).filter(|sector| sectors >> sector & 1 == 1) {
        let (before, whole) = line.partial.write(u64::from(key), sector, (bytes >> (32 * sector)) as u32);
        known |= u8::from(before) << sector;
        *line.state |= u8::from(whole) << sector;
    }
    known
}
