//! The level-2 cache and the DRAM traffic behind it.

use super::cache::{LineCache, SectorCache};
use super::config::{DramConfig, L2Config};
use super::dense::DenseLines;
use super::level1::{Ask, ToL2};
use super::order::WAYS;
use super::policy::Replacement;
use super::rows::RowCache;
use super::rules::Rules;
use super::slices::Placement;

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
    /// own traffic belongs to no kernel); cold, they are gone. Only sets that are `mine` are looked at.
    pub fn copied(&mut self, address: u64, bytes: u64, warm: bool, lines: &mut DenseLines, mine: impl Fn(u32) -> bool) {
        match &mut self.0 {
            Kind::Rows(level) => level.copied(address, bytes, warm, lines, mine),
            Kind::General(level) => level.copied(address, bytes, warm, lines, mine),
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
    rules: Rules,
}

impl<C: LineCache> Level2Of<C> {
    fn new(config: &L2Config, dram: DramConfig) -> Level2Of<C> {
        let sets = config.slices * config.sets;
        Level2Of {
            placement: Placement::new(config.slices, config.sets, config.index, config.line_bytes),
            partitions: (0..config.partitions).map(|_| C::new(sets, config.ways, &config.replacement)).collect(),
            parts_log: (128 / config.line_bytes).ilog2(),
            rules: Rules::new(config, dram),
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
        if let [cache] = &mut self.partitions[..] {
            look_up_in(&self.rules, cache, lookup, bytes, sum);
        } else {
            self.look_up_in_halves(lookup, bytes, sum);
        }
    }

    fn look_up_in_halves(&mut self, lookup: &Lookup, bytes: u128, sum: &mut L2Outcome) {
        let Lookup { set, key, near, home, sectors, ask, .. } = *lookup;
        if ask == Ask::Load && near != home {
            return self.load_from_far(lookup, sum);
        }
        if matches!(ask, Ask::Store | Ask::Atomic) {
            // The other side's copy is out of date.
            self.partitions[1 - home as usize].invalidate(set, key, self.rules.lookup.widen(sectors));
            if near != home {
                sum.far += self.rules.lookup.count(sectors);
            }
        }
        look_up_in(&self.rules, &mut self.partitions[home as usize], lookup, bytes, sum);
    }

    /// A load whose line belongs to the other partition: the near one keeps a copy, and what it lacks comes from the
    /// far one.
    fn load_from_far(&mut self, lookup: &Lookup, sum: &mut L2Outcome) {
        let Lookup { set, key, near, home, sectors, .. } = *lookup;
        let lookups = self.rules.lookup.count(sectors);
        sum.lookups += lookups;
        let have = self.partitions[near as usize].touch(set, key);
        let valid = have.map_or(0, |entry| self.partitions[near as usize].valid(entry));
        let missing = sectors & !valid;
        if missing == 0 {
            sum.hits += lookups;
            return;
        }
        sum.far += self.rules.lookup.count(missing);
        let missed = self.rules.load(&mut self.partitions[home as usize], set, key, missing, sum);
        sum.hits += lookups - missed;
        let cache = &mut self.partitions[near as usize];
        let entry = match have {
            Some(entry) => entry,
            None => self.rules.bring(cache, set, key, sum),
        };
        // Allocating may have moved nothing of this line; copies are clean.
        cache.fill(entry, self.rules.lookup.widen(missing));
    }

    fn copied(&mut self, address: u64, bytes: u64, warm: bool, lines: &mut DenseLines, mine: impl Fn(u32) -> bool) {
        let Some(last) = bytes.checked_sub(1).and_then(|rest| address.checked_add(rest)) else { return };
        let mut first = address / 128;
        if warm {
            // Earlier lines would be gone again at the end, whatever was there before them.
            first = first.max((last / 128).saturating_sub(2 * self.config.bytes() / 128));
        }
        for line in first..=last / 128 {
            let Some(number) = lines.number(line) else { return };
            self.install(line, number, warm, &mine);
        }
    }

    fn install(&mut self, line: u64, number: u32, warm: bool, mine: impl Fn(u32) -> bool) {
        let sectors_per_line = self.config.line_bytes / 32;
        let parts = 4 / sectors_per_line;
        let all = ((1u32 << sectors_per_line) - 1) as u8;
        for part in 0..parts {
            let own = line * u64::from(parts) + u64::from(part);
            let key = number * parts + part;
            let set = self.placement.set(own);
            if !mine(set) {
                continue;
            }
            for partition in 0..self.config.partitions {
                self.partitions[partition as usize].invalidate(set, key, all);
            }
            if warm {
                let home = self.home(own);
                let cache = &mut self.partitions[home as usize];
                let entry = self.rules.bring(cache, set, key, &mut L2Outcome::default());
                cache.fill(entry, all);
            }
        }
    }
}

/// Serves one line's part of a request in the partition that the line belongs to.
#[inline(always)]
fn look_up_in<C: LineCache>(rules: &Rules, cache: &mut C, lookup: &Lookup, bytes: u128, sum: &mut L2Outcome) {
    let Lookup { set, key, sectors, .. } = *lookup;
    let lookups = rules.lookup.count(sectors);
    sum.lookups += lookups;
    match lookup.ask {
        Ask::Load => {
            let missed = rules.load(cache, set, key, sectors, sum);
            sum.hits += lookups - missed;
        }
        Ask::Store => {
            let bytes = if lookup.shift == 0 { bytes } else { bytes >> (32 * u32::from(lookup.shift)) };
            rules.store(cache, set, key, sectors, bytes, sum);
        }
        Ask::Atomic => {
            let missed = rules.atomic(cache, set, key, sectors, sum);
            sum.hits += lookups - missed;
        }
        Ask::AtomicMiss => {}
    }
}
