//! The L2 cache and the DRAM traffic behind it.

use super::request::{L2Access, L2Op, L2Outcome};
use super::rules::{Rules, WholeSum};
use super::written::Written;
use crate::geometry::LINE_BYTES;
use crate::hierarchy::array::Placement;
use crate::hierarchy::array::{LookupOrAllocate, Replacement, RowCache, SectorCache, WAYS};
use crate::hierarchy::config::{DramConfig, L2Config};
use crate::hierarchy::dense::DenseLines;

/// The part of a request that lies in one line of this cache.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lookup {
    /// Number of the set, counted over all slices.
    set: u32,
    /// Key of the line: its dense number.
    key: u32,
    /// Touched sectors of the line.
    sectors: u8,
    /// Number of the part of the 128-byte line.
    part: u8,
}

/// Maximum number of lookups of a request.
pub(crate) const MOST_PARTS: usize = 4;

/// How the sectors of a request are divided into lookups.
struct Split {
    /// Parts of the 128-byte line, each with its sectors.
    parts: [(u8, u8); MOST_PARTS],
    count: usize,
}

/// Indexed by the base-2 logarithm of the number of parts and by the sectors. A table avoids a branch per part, which
/// would often be mispredicted for scattered requests.
const SPLITS: [[Split; 16]; 3] = {
    let mut table = [const { [const { Split { parts: [(0, 0); MOST_PARTS], count: 0 } }; 16] }; 3];
    let mut log = 0;
    while log < 3 {
        let width = 4 >> log;
        let mut sectors = 0;
        while sectors < 16 {
            let split = &mut table[log][sectors];
            let mut part = 0;
            while part < 1 << log {
                let here = sectors >> (part * width) & ((1 << width) - 1);
                if here != 0 {
                    split.parts[split.count] = (part as u8, here as u8);
                    split.count += 1;
                }
                part += 1;
            }
            sectors += 1;
        }
        log += 1;
    }
    table
};

/// All slices and partitions of the cache.
pub struct Level2(Kind);

/// The cache, by the form of its arrays, which depends on ways and policy.
enum Kind {
    Rows(Level2Of<RowCache>),
    General(Level2Of<SectorCache>),
}

/// An operation on an L2 of either form.
pub(crate) trait Visit {
    /// Result of the operation.
    type Output;
    /// Performs the operation. `PARTS_LOG` is the level's `parts_log` as a compile-time constant.
    fn visit<C: LookupOrAllocate, const PARTS_LOG: u32>(self, level: &mut Level2Of<C>) -> Self::Output;
}

impl Level2 {
    /// Creates an empty cache.
    pub fn new(config: &L2Config, dram: DramConfig) -> Level2 {
        Level2(if config.ways <= WAYS && config.replacement == Replacement::Lru {
            Kind::Rows(Level2Of::new(config, dram))
        } else {
            Kind::General(Level2Of::new(config, dram))
        })
    }

    #[inline(always)]
    pub(crate) fn visit<V: Visit>(&mut self, visit: V) -> V::Output {
        match &mut self.0 {
            Kind::Rows(level) => level.visit(visit),
            Kind::General(level) => level.visit(visit),
        }
    }

    /// Serves a request that arrived at the partition `near`; `line` is the address / 128.
    pub fn serve(&mut self, near: u32, line: u64, request: &L2Access) -> L2Outcome {
        match &mut self.0 {
            Kind::Rows(level) => level.serve(near, line, request),
            Kind::General(level) => level.serve(near, line, request),
        }
    }

    /// Updates the cache after a copy wrote device memory. If `warm`, the written lines become present and clean (the
    /// copy's own traffic belongs to no kernel); otherwise, they are invalidated. Only sets that are `mine` are
    /// changed.
    pub fn copied(&mut self, written: &Written, warm: bool, lines: &mut DenseLines, mine: impl Fn(u32) -> bool) {
        match &mut self.0 {
            Kind::Rows(level) => level.copied(written, warm, lines, mine),
            Kind::General(level) => level.copied(written, warm, lines, mine),
        }
    }
}

/// An L2 with one form of array.
pub(crate) struct Level2Of<C> {
    config: L2Config,
    placement: Placement,
    partitions: Vec<C>,
    /// Base-2 logarithm of the number of lines of this cache per 128 bytes.
    parts_log: u32,
    rules: Rules,
}

impl<C: LookupOrAllocate> Level2Of<C> {
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

    /// Returns the partition that serves an SM.
    #[inline(always)]
    pub(crate) fn partition_of_sm(&self, sm: u32) -> u32 {
        self.config.partition_of_sm(sm)
    }

    #[inline(always)]
    fn visit<V: Visit>(&mut self, visit: V) -> V::Output {
        match self.parts_log {
            0 => visit.visit::<C, 0>(self),
            1 => visit.visit::<C, 1>(self),
            _ => visit.visit::<C, 2>(self),
        }
    }

    fn serve(&mut self, near: u32, line: u64, request: &L2Access) -> L2Outcome {
        self.visit(ServeOne { near, line, request })
    }

    /// Splits a request into its lookups at the start of `out`, prefetches the memory of their sets, and returns the
    /// number of lookups.
    #[inline(always)]
    pub(crate) fn split<const PARTS_LOG: u32>(
        &self,
        line: u64,
        number: u32,
        sectors: u8,
        out: &mut [Lookup; MOST_PARTS],
    ) -> usize {
        let split = &SPLITS[PARTS_LOG as usize][usize::from(sectors & 15)];
        // The number is a compile-time constant, so the compiler removes the loop.
        let rooms = out.iter_mut().zip(&split.parts).take(1 << PARTS_LOG);
        for (index, (room, &(part, here))) in rooms.enumerate() {
            if index >= split.count {
                break;
            }
            let set = self.placement.set(line << PARTS_LOG | u64::from(part));
            match &self.partitions[..] {
                [only] => only.prefetch(set),
                partitions => partitions.iter().for_each(|partition| partition.prefetch(set)),
            }
            *room = Lookup { set, key: number << PARTS_LOG | u32::from(part), sectors: here, part };
        }
        split.count
    }

    /// Serves lookups of loads, or of stores to whole sectors, if there is one partition and no partly written sector.
    /// The result is the same as with [`Level2Of::look_up`] for each lookup. Returns whether this was possible. There
    /// may be at most [`WholeSum::MOST`] lookups.
    #[inline(always)]
    pub(crate) fn look_up_all<const STORE: bool>(&mut self, lookups: &[Lookup], sum: &mut L2Outcome) -> bool {
        let [cache] = &mut self.partitions[..] else { return false };
        if cache.is_partial() {
            return false;
        }
        let (rules, mut done) = (&self.rules, WholeSum::default());
        for &Lookup { set, key, sectors, .. } in lookups {
            let state = cache.lookup_or_allocate(set, key).state;
            if STORE {
                rules.store_whole(state, sectors, &mut done)
            } else {
                rules.load_whole(state, sectors, &mut done)
            }
        }
        *sum = done.outcome(STORE);
        true
    }

    /// Serves a lookup that arrived at the partition `near`. `line` is the address / 128; `bytes` are the stored bytes
    /// of the whole request.
    #[inline(always)]
    pub(crate) fn look_up(
        &mut self,
        near: u32,
        line: u64,
        lookup: &Lookup,
        op: L2Op,
        bytes: u128,
        sum: &mut L2Outcome,
    ) {
        // One bit represents one byte.
        let bytes = bytes >> (u32::from(lookup.part) * self.config.line_bytes);
        if let [cache] = &mut self.partitions[..] {
            look_up_in(&self.rules, cache, lookup, op, bytes, sum);
        } else {
            let home = self.home(line << self.parts_log | u64::from(lookup.part));
            self.look_up_in_halves(near, home, lookup, op, bytes, sum);
        }
    }

    /// Returns the partition whose memory controllers serve a line.
    #[inline(always)]
    fn home(&self, line: u64) -> u32 {
        if self.config.partitions == 1 {
            return 0;
        }
        // The hash of real GPUs is unknown; any even split is sufficient.
        ((line ^ line >> 7 ^ line >> 13 ^ line >> 21) & 1) as u32
    }

    fn look_up_in_halves(&mut self, near: u32, home: u32, lookup: &Lookup, op: L2Op, bytes: u128, sum: &mut L2Outcome) {
        if op == L2Op::Load && near != home {
            return self.load_from_far(near, home, lookup, sum);
        }
        let Lookup { set, key, sectors, .. } = *lookup;
        if matches!(op, L2Op::Store | L2Op::Atomic) {
            // The copy in the other partition is outdated.
            let copy = &mut self.partitions[1 - home as usize];
            copy.invalidate(set, key, self.rules.lookup.widen(sectors));
            if near != home {
                sum.far += self.rules.lookup.count(sectors);
            }
        }
        look_up_in(&self.rules, &mut self.partitions[home as usize], lookup, op, bytes, sum);
    }

    /// Serves a load of a line that belongs to the other partition. The near partition keeps a copy; missing sectors
    /// come from the far partition.
    fn load_from_far(&mut self, near: u32, home: u32, lookup: &Lookup, sum: &mut L2Outcome) {
        let Lookup { set, key, sectors, .. } = *lookup;
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
        let mut line = self.rules.line(&mut self.partitions[home as usize], set, key, sum);
        sum.hits += lookups - self.rules.load(&mut line, key, missing, sum);
        let copy = self.rules.line(&mut self.partitions[near as usize], set, key, sum);
        // Copies are clean.
        *copy.state |= self.rules.lookup.widen(missing);
    }

    fn copied(&mut self, written: &Written, warm: bool, lines: &mut DenseLines, mine: impl Fn(u32) -> bool) {
        if warm {
            // Earlier lines of the copy would be evicted before its end, whatever the cache contained.
            for line in written.last_lines(2 * self.config.bytes() / LINE_BYTES) {
                let Some(number) = lines.number(line) else { return };
                self.install(line, number, true, &mine);
            }
            return;
        }
        // Lines that were never requested are not in the cache. Skipping them makes the cost independent of the size of
        // the copy.
        if written.line_count() <= lines.bound() as u64 {
            for line in written.last_lines(u64::MAX) {
                if let Some(number) = lines.known(line) {
                    self.install(line, number, false, &mine);
                }
            }
        } else {
            for number in 0..lines.bound() as u32 {
                let line = lines.line(number);
                if written.covers(line) {
                    self.install(line, number, false, &mine);
                }
            }
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
                *self.rules.line(cache, set, key, &mut L2Outcome::default()).state |= all;
            }
        }
    }
}

/// Serves a lookup in the partition that the line belongs to.
#[inline(always)]
fn look_up_in<C: LookupOrAllocate>(
    rules: &Rules,
    cache: &mut C,
    &Lookup { set, key, sectors, .. }: &Lookup,
    op: L2Op,
    bytes: u128,
    sum: &mut L2Outcome,
) {
    let lookups = rules.lookup.count(sectors);
    sum.lookups += lookups;
    if op == L2Op::AtomicMiss {
        return;
    }
    let mut line = rules.line(cache, set, key, sum);
    match op {
        L2Op::Load => sum.hits += lookups - rules.load(&mut line, key, sectors, sum),
        L2Op::Store => rules.store(&mut line, key, sectors, bytes, sum),
        L2Op::Atomic | L2Op::AtomicMiss => sum.hits += lookups - rules.atomic(&mut line, key, sectors, sum),
    }
}

/// Operation that serves one request.
struct ServeOne<'a> {
    near: u32,
    line: u64,
    request: &'a L2Access,
}

impl Visit for ServeOne<'_> {
    type Output = L2Outcome;

    fn visit<C: LookupOrAllocate, const PARTS_LOG: u32>(self, level: &mut Level2Of<C>) -> L2Outcome {
        let L2Access { op, number, sectors, bytes } = *self.request;
        let mut sum = L2Outcome::default();
        let mut lookups = [Lookup::default(); MOST_PARTS];
        let count = level.split::<PARTS_LOG>(self.line, number, sectors, &mut lookups);
        for lookup in &lookups[..count] {
            level.look_up(self.near, self.line, lookup, op, bytes, &mut sum);
        }
        sum
    }
}
