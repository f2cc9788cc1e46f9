//! The level-2 cache and the DRAM traffic behind it.

use super::cache::{LineCache, SectorCache};
use super::coalesce::bytes_of;
use super::config::{DramConfig, L2Config, StoreFill};
use super::dense::DenseLines;
use super::level1::{Ask, ToL2};
use super::policy::Replacement;
use super::rows::{RowCache, WAYS};
use super::slices::Placement;
use super::units::{Units, count};

/// What one request did at level 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L2Outcome {
    /// Lookups, in the level's own sectors.
    pub lookups: u32,
    /// Of these, present before.
    pub hits: u32,
    /// Store lookups whose line or sector had to be allocated. Hardware counts them as hits.
    pub allocated: u32,
    /// Lookups that the near partition passed on to the far one.
    pub far: u32,
    /// Sectors read from DRAM.
    pub dram_reads: u32,
    /// Sectors that will be written to DRAM: counted when a clean sector becomes dirty, since each
    /// such is written exactly once, at its eviction or at the end.
    pub dram_writes: u32,
}

/// The part of a request that lies in one line of this cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup {
    /// Set, over all slices.
    set: u32,
    /// The line's key: its dense number.
    key: u32,
    /// Request it belongs to, for the caller.
    pub(super) request: u32,
    /// Partition it came through.
    near: u8,
    /// Partition that the line belongs to.
    home: u8,
    /// Sectors of the line.
    sectors: u8,
    /// Place of the line's first sector in the 128-byte line.
    shift: u8,
    ask: Ask,
}

/// All slices and partitions of the cache.
pub struct Level2(Kind);

/// By the form of the array, chosen by ways and policy.
enum Kind {
    Rows(Level2Of<RowCache>),
    General(Level2Of<SectorCache>),
}

/// Something to do with a level 2 of either kind.
pub(super) trait Visit {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<C: LineCache>(self, level: &mut Level2Of<C>) -> Self::Output;
}

impl Level2 {
    /// An empty cache.
    pub fn new(config: &L2Config, dram: DramConfig) -> Level2 {
        Level2(if config.ways <= WAYS && config.replacement == Replacement::Lru {
            Kind::Rows(Level2Of::new(config, dram))
        } else {
            Kind::General(Level2Of::new(config, dram))
        })
    }

    #[inline(always)]
    pub(super) fn visit<V: Visit>(&mut self, visit: V) -> V::Output {
        match &mut self.0 {
            Kind::Rows(level) => visit.visit(level),
            Kind::General(level) => visit.visit(level),
        }
    }

    /// Serves a request that came through the partition `near`; `line` is the address / 128.
    pub fn serve(&mut self, near: u32, line: u64, request: &ToL2) -> L2Outcome {
        match &mut self.0 {
            Kind::Rows(level) => level.serve(near, line, request),
            Kind::General(level) => level.serve(near, line, request),
        }
    }

    /// A copy wrote `bytes` bytes from `address` on. Warm, its lines are left here clean (the copy's
    /// own traffic belongs to no kernel); cold, they are gone.
    pub fn copied(&mut self, address: u64, bytes: u64, warm: bool, lines: &mut DenseLines) {
        match &mut self.0 {
            Kind::Rows(level) => level.copied(address, bytes, warm, lines),
            Kind::General(level) => level.copied(address, bytes, warm, lines),
        }
    }
}

/// A level 2 on one form of array.
pub(super) struct Level2Of<C> {
    config: L2Config,
    placement: Placement,
    partitions: Vec<C>,
    /// Lines of this cache in 128 bytes, as a power of two.
    parts_log: u32,
    lookup: Units,
    fill: Units,
    dram_read: Units,
    dram_write: Units,
}

impl<C: LineCache> Level2Of<C> {
    fn new(config: &L2Config, dram: DramConfig) -> Level2Of<C> {
        let sets = config.slices * config.sets;
        Level2Of {
            placement: Placement::new(config.slices, config.sets, config.index, config.line_bytes),
            partitions: (0..config.partitions).map(|_| C::new(sets, config.ways, &config.replacement)).collect(),
            parts_log: (128 / config.line_bytes).ilog2(),
            lookup: Units::new(config.sector_bytes),
            fill: Units::new(config.fill_bytes),
            dram_read: Units::new(dram.read_bytes),
            dram_write: Units::new(dram.write_bytes),
            config: config.clone(),
        }
    }

    /// Partition that serves an SM. Which SMs sit on which half is not published; they alternate here.
    #[inline(always)]
    pub(super) fn partition_of_sm(&self, sm: u32) -> u32 {
        if self.config.partitions == 1 { 0 } else { sm % self.config.partitions }
    }

    fn serve(&mut self, near: u32, line: u64, request: &ToL2) -> L2Outcome {
        let mut sum = L2Outcome::default();
        let mut lookups = Vec::new();
        self.split(near, line, request.number, request.sectors, request.ask, 0, &mut lookups);
        for lookup in &lookups {
            self.look_up(lookup, request.bytes, &mut sum);
        }
        sum
    }

    /// Splits a request into its lookups, and asks for the memory that they will need.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "one call on the hot path")]
    pub(super) fn split(
        &self,
        near: u32,
        line: u64,
        number: u32,
        sectors: u8,
        ask: Ask,
        request: u32,
        out: &mut Vec<Lookup>,
    ) {
        let width = 4 >> self.parts_log;
        let mut rest = sectors & 15;
        while rest != 0 {
            let part = rest.trailing_zeros() >> (2 - self.parts_log);
            let shift = part * width;
            let mask = ((1u32 << width) - 1) as u8;
            let own = line << self.parts_log | u64::from(part);
            let set = self.placement.set(own);
            let lookup = Lookup {
                set,
                key: number << self.parts_log | part,
                request,
                near: near as u8,
                home: self.home(own) as u8,
                sectors: rest >> shift & mask,
                shift: shift as u8,
                ask,
            };
            rest &= !(mask << shift);
            for partition in &self.partitions {
                partition.prefetch(set);
            }
            out.push(lookup);
        }
    }

    /// Partition whose memory controllers hold a line.
    #[inline(always)]
    fn home(&self, line: u64) -> u32 {
        if self.config.partitions == 1 {
            return 0;
        }
        // Any even split will do; the lines' own hash is not known.
        ((line ^ line >> 7 ^ line >> 13 ^ line >> 21) & 1) as u32
    }

    /// Serves one line's part of a request; `bytes` are those of the whole request, for stores.
    #[inline(always)]
    pub(super) fn look_up(&mut self, lookup: &Lookup, bytes: u128, sum: &mut L2Outcome) {
        let Lookup { set, key, near, home, sectors, .. } = *lookup;
        let (near, home) = (u32::from(near), u32::from(home));
        let lookups = self.lookup.count(sectors);
        sum.lookups += lookups;
        match lookup.ask {
            Ask::AtomicMiss => {}
            Ask::Load if near != home => self.load_from_far(lookup, sum),
            Ask::Load => {
                let missed = self.load(home, set, key, sectors, sum);
                sum.hits += lookups - missed;
            }
            Ask::Store | Ask::Atomic => {
                if self.partitions.len() > 1 {
                    // The other side's copy is out of date.
                    let other = 1 - home;
                    self.partitions[other as usize].invalidate(set, key, self.lookup.widen(sectors));
                    if near != home {
                        sum.far += lookups;
                    }
                }
                if lookup.ask == Ask::Store {
                    let bytes = if lookup.shift == 0 { bytes } else { bytes >> (32 * u32::from(lookup.shift)) };
                    self.store(home, set, key, sectors, bytes, sum);
                } else {
                    let missed = self.load(home, set, key, sectors, sum);
                    sum.hits += lookups - missed;
                    let entry = self.partitions[home as usize].peek(set, key);
                    if let Some(entry) = entry {
                        self.soil(home, entry, sectors, sum);
                    }
                }
            }
        }
    }

    /// A load whose line belongs to the other partition: the near one keeps a copy, and what it lacks comes from the
    /// far one.
    fn load_from_far(&mut self, lookup: &Lookup, sum: &mut L2Outcome) {
        let Lookup { set, key, near, home, sectors, .. } = *lookup;
        let lookups = self.lookup.count(sectors);
        let have = self.partitions[near as usize].touch(set, key);
        let valid = have.map_or(0, |entry| self.partitions[near as usize].valid(entry));
        let missing = sectors & !valid;
        if missing == 0 {
            sum.hits += lookups;
            return;
        }
        sum.far += self.lookup.count(missing);
        let missed = self.load(u32::from(home), set, key, missing, sum);
        sum.hits += lookups - missed;
        let entry = match have {
            Some(entry) => entry,
            None => self.allocate(u32::from(near), set, key, sum),
        };
        // Allocating may have moved nothing of this line; copies are clean.
        self.partitions[near as usize].fill(entry, self.lookup.widen(missing));
    }

    /// Reads sectors, from DRAM what is missing; returns the lookups that missed.
    #[inline(always)]
    fn load(&mut self, partition: u32, set: u32, key: u32, sectors: u8, sum: &mut L2Outcome) -> u32 {
        let entry = match self.partitions[partition as usize].touch(set, key) {
            Some(entry) => entry,
            None => self.allocate(partition, set, key, sum),
        };
        let cache = &mut self.partitions[partition as usize];
        let missing = sectors & !cache.valid(entry);
        if missing == 0 {
            return 0;
        }
        // One miss per fill; further units that the same fill brings are hits.
        let fill = self.fill.widen(missing);
        let fetched = self.dram_read.widen(fill & !cache.valid(entry));
        cache.take_partial(key, fill, |_, _| ());
        cache.fill(entry, fill);
        sum.dram_reads += count(fetched);
        self.fill.count(missing)
    }

    #[inline(always)]
    fn store(&mut self, partition: u32, set: u32, key: u32, sectors: u8, bytes: u128, sum: &mut L2Outcome) {
        let lookups = self.lookup.count(sectors);
        let entry = match self.partitions[partition as usize].touch(set, key) {
            Some(entry) => entry,
            None => self.allocate(partition, set, key, sum),
        };
        let cache = &mut self.partitions[partition as usize];
        let known = match self.config.store_fill {
            StoreFill::Whole => {
                let missing = sectors & !cache.valid(entry);
                if missing != 0 {
                    cache.fill(entry, self.fill.widen(missing));
                }
                // One miss per fill, as for loads.
                lookups - self.fill.count(missing)
            }
            StoreFill::Bytes => {
                let mut known = cache.valid(entry) & sectors;
                let rest = sectors & !known;
                if rest != 0 {
                    if bytes & bytes_of(rest) == bytes_of(rest) {
                        known |= cache.take_partial(key, rest, |_, _| ());
                        cache.fill(entry, rest);
                    } else {
                        for sector in 0..4 {
                            if rest >> sector & 1 == 1
                                && cache.write_bytes(entry, sector, (bytes >> (32 * sector)) as u32)
                            {
                                known |= 1 << sector;
                            }
                        }
                    }
                }
                lookups - self.lookup.count(sectors & !known)
            }
        };
        sum.hits += known;
        sum.allocated += lookups - known;
        self.soil(partition, entry, sectors, sum);
    }

    #[inline(always)]
    fn soil(&mut self, partition: u32, entry: usize, sectors: u8, sum: &mut L2Outcome) {
        let written = self.dram_write.widen(sectors) & (15 >> (4 - (4 >> self.parts_log)));
        let new = self.partitions[partition as usize].soil(entry, written);
        sum.dram_writes += count(new);
    }

    /// Makes room for a line. Sectors of the old one that were never completed are completed from
    /// DRAM before they can be written back.
    #[inline(always)]
    fn allocate(&mut self, partition: u32, set: u32, key: u32, sum: &mut L2Outcome) -> usize {
        let cache = &mut self.partitions[partition as usize];
        let (entry, evicted) = cache.allocate(set, key);
        if let Some(evicted) = evicted {
            sum.dram_reads += cache.take_partial(evicted.key, 15, |_, _| ()).count_ones();
        }
        entry
    }

    fn copied(&mut self, address: u64, bytes: u64, warm: bool, lines: &mut DenseLines) {
        let Some(last) = bytes.checked_sub(1).and_then(|rest| address.checked_add(rest)) else { return };
        let mut first = address / 128;
        if warm {
            // Earlier lines would be gone again at the end, whatever was there before them.
            first = first.max((last / 128).saturating_sub(2 * self.config.bytes() / 128));
        }
        for line in first..=last / 128 {
            let Some(number) = lines.number(line) else { return };
            self.install(line, number, warm);
        }
    }

    fn install(&mut self, line: u64, number: u32, warm: bool) {
        let sectors_per_line = self.config.line_bytes / 32;
        let parts = 4 / sectors_per_line;
        let all = ((1u32 << sectors_per_line) - 1) as u8;
        for part in 0..parts {
            let own = line * u64::from(parts) + u64::from(part);
            let key = number * parts + part;
            let set = self.placement.set(own);
            for partition in 0..self.config.partitions {
                self.partitions[partition as usize].invalidate(set, key, all);
            }
            if warm {
                let home = self.home(own);
                let entry = self.allocate(home, set, key, &mut L2Outcome::default());
                self.partitions[home as usize].fill(entry, all);
            }
        }
    }
}
