//! The level-2 cache and the DRAM traffic behind it.

use super::cache::SectorCache;
use super::coalesce::bytes_of;
use super::config::{DramConfig, L2Config, StoreFill};
use super::dense::DenseLines;
use super::level1::{Ask, ToL2};
use super::slices::Placement;
use super::units::{collapse, expand};

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

/// All slices and partitions of the cache.
pub struct Level2 {
    config: L2Config,
    dram: DramConfig,
    placement: Placement,
    partitions: Vec<SectorCache>,
}

impl Level2 {
    /// An empty cache.
    pub fn new(config: &L2Config, dram: DramConfig) -> Level2 {
        let sets = config.slices * config.sets;
        Level2 {
            placement: Placement::new(config.slices, config.sets, config.index, config.line_bytes),
            partitions: (0..config.partitions)
                .map(|_| SectorCache::new(sets, config.ways, &config.replacement))
                .collect(),
            config: config.clone(),
            dram,
        }
    }

    /// Partition that serves an SM. Which SMs sit on which half is not published; they alternate here.
    pub fn partition_of_sm(&self, sm: u32) -> u32 {
        sm % self.config.partitions
    }

    /// Serves a request that came through the partition `near`; `line` is the address / 128.
    #[inline(always)]
    pub fn serve(&mut self, near: u32, line: u64, request: &ToL2) -> L2Outcome {
        let sectors_per_line = self.config.line_bytes / 32;
        let parts = 4 / sectors_per_line;
        let mut sum = L2Outcome::default();
        for part in 0..parts {
            let shift = part * sectors_per_line;
            let sectors = request.sectors >> shift & ((1 << sectors_per_line) - 1);
            if sectors != 0 {
                let own = line * u64::from(parts) + u64::from(part);
                let key = request.number * parts + part;
                let bytes = if shift == 0 { request.bytes } else { request.bytes >> (32 * shift) };
                self.part(near, own, key, request.ask, sectors, bytes, &mut sum);
            }
        }
        sum
    }

    /// Asks for the memory that a request to `line` (address / 128) will need.
    #[inline(always)]
    pub fn prefetch(&self, line: u64, sectors: u8) {
        let parts = 128 / self.config.line_bytes;
        // The lowest line of the request; with narrow lines the others often lie in the next sets.
        let part = sectors.trailing_zeros() * 32 / self.config.line_bytes;
        let set = self.placement.set(line * u64::from(parts) + u64::from(part));
        for partition in &self.partitions {
            partition.prefetch(set);
        }
    }

    /// Partition whose memory controllers hold a line.
    #[inline]
    fn home(&self, line: u64) -> u32 {
        if self.config.partitions == 1 {
            return 0;
        }
        // Any even split will do; the lines' own hash is not known.
        ((line ^ line >> 7 ^ line >> 13 ^ line >> 21) & 1) as u32
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "one call on the hot path")]
    fn part(&mut self, near: u32, line: u64, key: u32, ask: Ask, sectors: u8, bytes: u128, sum: &mut L2Outcome) {
        let wanted = collapse(sectors, self.config.sector_bytes);
        sum.lookups += wanted.count_ones();
        if ask == Ask::AtomicMiss {
            return;
        }
        let set = self.placement.set(line);
        let home = self.home(line);
        match ask {
            Ask::Load if near != home => {
                // The near partition keeps a copy; what it lacks comes from the far one.
                let have = self.partitions[near as usize].touch(set, key);
                let valid = have.map_or(0, |entry| self.partitions[near as usize].valid(entry));
                let missing = sectors & !valid;
                let mut far = L2Outcome::default();
                if missing != 0 {
                    far.far = collapse(missing, self.config.sector_bytes).count_ones();
                    let missed = self.load(home, set, key, missing, &mut far);
                    sum.hits += wanted.count_ones() - missed;
                    let entry = match have {
                        Some(entry) => entry,
                        None => self.allocate(near, set, key, &mut far),
                    };
                    // Allocating may have moved nothing of this line; copies are clean.
                    self.partitions[near as usize]
                        .fill(entry, expand(collapse(missing, self.config.sector_bytes), self.config.sector_bytes));
                } else {
                    sum.hits += wanted.count_ones();
                }
                sum.far += far.far;
                sum.dram_reads += far.dram_reads;
                sum.dram_writes += far.dram_writes;
            }
            Ask::Load => {
                let missed = self.load(home, set, key, sectors, sum);
                sum.hits += wanted.count_ones() - missed;
            }
            Ask::Store | Ask::Atomic | Ask::AtomicMiss => {
                if self.partitions.len() > 1 {
                    // The other side's copy is out of date.
                    let other = 1 - home;
                    self.partitions[other as usize].invalidate(set, key, expand(wanted, self.config.sector_bytes));
                    if near != home {
                        sum.far += wanted.count_ones();
                    }
                }
                if ask == Ask::Store {
                    self.store(home, set, key, sectors, bytes, sum);
                } else {
                    let missed = self.load(home, set, key, sectors, sum);
                    sum.hits += wanted.count_ones() - missed;
                    let entry = self.partitions[home as usize].peek(set, key);
                    if let Some(entry) = entry {
                        self.soil(home, entry, sectors, sum);
                    }
                }
            }
        }
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
        let fills = collapse(missing, self.config.fill_bytes);
        let fill = expand(fills, self.config.fill_bytes);
        let fetched = expand(collapse(fill & !cache.valid(entry), self.dram.read_bytes), self.dram.read_bytes);
        cache.take_partial(key, fill, |_, _| ());
        cache.fill(entry, fill);
        sum.dram_reads += fetched.count_ones();
        fills.count_ones()
    }

    fn store(&mut self, partition: u32, set: u32, key: u32, sectors: u8, bytes: u128, sum: &mut L2Outcome) {
        let unit = self.config.sector_bytes;
        let wanted = collapse(sectors, unit);
        let entry = match self.partitions[partition as usize].touch(set, key) {
            Some(entry) => entry,
            None => self.allocate(partition, set, key, sum),
        };
        let cache = &mut self.partitions[partition as usize];
        let known = match self.config.store_fill {
            StoreFill::Whole => {
                let before = cache.valid(entry);
                let missing = sectors & !before;
                let fills = collapse(missing, self.config.fill_bytes);
                cache.fill(entry, expand(fills, self.config.fill_bytes));
                // One miss per fill, as for loads.
                wanted.count_ones() - fills.count_ones()
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
                wanted.count_ones() - collapse(sectors & !known, unit).count_ones()
            }
        };
        sum.hits += known;
        sum.allocated += wanted.count_ones() - known;
        self.soil(partition, entry, sectors, sum);
    }

    #[inline]
    fn soil(&mut self, partition: u32, entry: usize, sectors: u8, sum: &mut L2Outcome) {
        let grain = self.dram.write_bytes;
        let written = expand(collapse(sectors, grain), grain);
        let new = self.partitions[partition as usize]
            .soil(entry, written & (((1u32 << (self.config.line_bytes / 32)) - 1) as u8));
        sum.dram_writes += new.count_ones();
    }

    /// Makes room for a line. Sectors of the old one that were never completed are completed from
    /// DRAM before they can be written back.
    #[inline]
    fn allocate(&mut self, partition: u32, set: u32, key: u32, sum: &mut L2Outcome) -> usize {
        let cache = &mut self.partitions[partition as usize];
        let (entry, evicted) = cache.allocate(set, key);
        if let Some(evicted) = evicted {
            sum.dram_reads += cache.take_partial(evicted.key, 15, |_, _| ()).count_ones();
        }
        entry
    }

    /// A copy wrote `bytes` bytes from `address` on. Warm, its lines are left here clean (the copy's
    /// own traffic belongs to no kernel); cold, they are gone.
    pub fn copied(&mut self, address: u64, bytes: u64, warm: bool, lines: &mut DenseLines) {
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
