//! Traffic between the levels of the memory hierarchy, from footprints.
//!
//! L1: the loads of some blocks are replayed on the SM that they share ([`super::replay`]); what they miss stands for all.
//! L2: what a run of blocks touches for the first time comes from DRAM, unless a window of earlier blocks touched it and L2 holds
//! what was touched since. Layer conditions of stencils are the case in which the windows are rows and planes.
//!
//! After Ernst et al. (Warpspeed), section 2.4, with runs of block numbers in place of boxes, and windows in place of sets of layers.

use std::borrow::Cow;

use super::capacity::Capacity;
use super::curves::{self, Sets};
use super::flow::{Flow, LINE, SECTOR};
use super::kinds::Kinds;
use super::partitions::Sides;
use super::replay::{Counted, Replay, golden, replay};
use super::stagger::Stagger;
use super::volumes::{Affine, Blocks, Family, Footprints, boxes};
use super::windows::{Hints, Reuse, Run, agree};
use crate::hierarchy::HierarchyConfig;
use crate::prediction::form::Bounds;
use crate::prediction::launch::Launch;
use crate::profile::model::Addresses;

/// The share of stored sectors that are not stored whole below which they are taken for the ends of rows.
const EDGES: f64 = 0.02;
/// A share that does not matter.
const LITTLE: f64 = 1e-6;
/// Share of L2 up to which neighbouring blocks complete each other's sectors.
const HELD: f64 = 0.5;
/// Parts of a launch over which it is averaged what comes behind them.
const PARTS: u32 = 16;
/// Blocks whose L1 is looked at.
const SAMPLES: u64 = 4;
/// Runs of blocks of which each is looked at.
const MOST_RUNS: u64 = 8;
/// Runs that stand for those between the first and the last one; a third of them where these agree.
const BETWEEN: u64 = 12;
/// Runs of a large grid, most of which are far from its edges: so many stand for all where they agree, and at most.
const FEWEST: usize = 2;
const MOST: usize = 8;
/// Runs from which on a grid is large.
const LARGE: u64 = 1000;
/// Runs of blocks that a wave is divided into.
const RUNS: u64 = 4;
/// Sectors by which these runs may differ, over what they read, and still agree.
const AGREED: f64 = 0.01;
/// Share of the sectors that blocks load from which on it matters what becomes of those that earlier ones touched.
const MATTERS: f64 = 0.01;
/// Groups of neighbouring blocks that are looked at.
const NEIGHBOURS: u64 = 3;
/// Lines of an SM's share of L2 that are told apart.
const MOST_L2_LINES: f64 = 8192.0;

/// Sums over the requests of a launch whose footprints are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requested {
    /// Sectors of loads.
    pub loaded: f64,
    /// Sectors of stores and atomics.
    pub stored: f64,
    /// Sectors of atomics, which read what is there before they store.
    pub atomics: f64,
    /// Lines of all.
    pub lines: f64,
    /// Some of them are made under a condition that is not known: their footprints are those of all threads.
    pub unsure: bool,
}

/// A model's caches.
#[derive(Clone, Copy)]
pub struct Levels<'a> {
    /// Their rules.
    pub hierarchy: &'a HierarchyConfig,
    /// What a launch has of them.
    pub capacity: &'a Capacity,
}

/// Bytes that sites move between levels, apart from those whose addresses are not affine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Distinct 32-byte sectors that a block loads, in the mean.
    pub block_load_sectors: f64,
    /// Loaded from L2.
    pub l2_loads: f64,
    /// Stored to L2, atomic operations among them.
    pub l2_stores: f64,
    /// Read from DRAM.
    pub dram_loads: f64,
    /// Written to it.
    pub dram_stores: f64,
    /// Of what is loaded from L2: by accesses whose addresses are worked out thread by thread.
    pub by_thread_loads: f64,
    /// Pages of 2 MiB that a wave touches.
    pub wave_pages: f64,
    /// Distinct sectors and lines that a wave in the middle touches, and that the launch does.
    pub distinct: Distinct,
    /// Sectors that the requests of a block load again, of all blocks.
    pub repeated_sectors: f64,
    /// What the blocks of an SM load, over what L1 holds.
    pub l1_oversubscription: f64,
    /// What a wave of blocks touches, over what L2 holds.
    pub l2_oversubscription: f64,
    /// Lines touched between two uses of what earlier waves touched, over what L2 holds, in the mean over what is used again.
    pub l2_reuse_oversubscription: f64,
    /// Share of what blocks load that earlier ones touched, as far as it comes from DRAM again. It rises where a layer condition breaks.
    pub l2_reuse_lost: f64,
    /// What L1's figures were taken from.
    pub replayed: Replayed,
    /// Some edge was not cut, or the addresses of an allocation do not form one lattice.
    pub rough: bool,
}

/// Distinct pieces that accesses with footprints touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distinct {
    /// 32-byte sectors of a wave.
    pub wave_sectors: f64,
    /// 128-byte lines of a wave.
    pub wave_lines: f64,
    /// 32-byte sectors of the launch.
    pub launch_sectors: f64,
    /// 128-byte lines of the launch.
    pub launch_lines: f64,
}

/// What a replay looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Blocks that were run, 0 where none was needed.
    pub blocks: u64,
    /// Share of their outermost loops' iterations that was left out.
    pub left_out: f64,
}

/// Traffic of a launch's accesses, of those whose addresses are worked out thread by thread between L1 and L2 only. `requested` are the others'.
pub fn traffic(
    accesses: &[Affine],
    (addresses, launch): (&Addresses, &Launch),
    bounds: &Bounds,
    levels: &Levels<'_>,
    requested: Requested,
) -> Traffic {
    let Levels { capacity, hierarchy } = *levels;
    let affine = match accesses.iter().all(Affine::has_footprint) {
        true => Cow::Borrowed(accesses),
        false => accesses.iter().filter(|access| access.has_footprint()).cloned().collect(),
    };
    let footprints = Footprints::new(&affine, bounds);
    let flow = Flow { accesses: &affine, all: accesses, addresses, footprints, launch, bounds, capacity, hierarchy };
    let mut found = Traffic { l2_stores: 32.0 * requested.stored, ..Traffic::default() };
    let replay = flow.replay(requested.lines / launch.blocks() as f64);
    flow.first_level(&replay, requested, &mut found);
    let requested = Requested { unsure: requested.unsure || found.rough, ..requested };
    flow.second_level(replay.counted, requested, &mut found);
    let (loads, stores) = flow.by_thread(&replay);
    found.by_thread_loads = 32.0 * loads;
    found.l2_loads += found.by_thread_loads;
    found.l2_stores += 32.0 * stores;
    found
}

impl Flow<'_> {
    /// Counts what goes from L2 to L1, by what a replay of some blocks counted.
    fn first_level(&self, replay: &Replay, requested: Requested, found: &mut Traffic) {
        let Requested { loaded, .. } = requested;
        let kinds = Kinds::new(self);
        // Where a condition is not known, or was not cut, a footprint has more than its requests ask for.
        let distinct = if requested.unsure || kinds.rough { kinds.distinct.min(loaded) } else { kinds.distinct };
        found.rough |= kinds.rough;
        let blocks = self.launch.blocks() as f64;
        found.block_load_sectors = distinct / blocks;
        if !self.capacity.caches_loads {
            found.l2_loads = 32.0 * loaded;
            return;
        }
        let again = (loaded - distinct).max(0.0);
        found.repeated_sectors = again;
        found.l1_oversubscription = self.l1_oversubscription(&kinds);
        let Replay { counted, ref by_access, ref blocks, whole, left_out } = *replay;
        found.replayed = Replayed { blocks: blocks.len() as u64, left_out };
        if counted.loaded == 0 {
            // Nothing, or what so few blocks load that none of them was looked at.
            found.l2_loads = 32.0 * distinct;
            return;
        }
        // Misses up to what the blocks load at all are first ones, what goes beyond is loaded again. Of what goes past L1 all is.
        let too_large = kinds.distinct > loaded;
        let by_footprint = whole && !too_large && !kinds.sampled && !self.accesses.iter().any(|access| access.past_l1);
        let own: f64 = if by_footprint { blocks.iter().map(|&block| kinds.loaded_by(self, block)).sum() } else { 0.0 };
        let missed = match own > 0.0 {
            true => {
                let (missed, loaded) = (counted.missed as f64, counted.loaded as f64);
                let beyond = (missed - own).max(0.0) / (loaded - own).max(1.0);
                distinct * (missed / own).min(1.0) + again * beyond.min(1.0)
            }
            // An access that none of the blocks came to is taken for one like the others.
            false => {
                let share = |one: &Counted| if one.loaded > 0 { one.missed_share() } else { counted.missed_share() };
                let loads = by_access.iter().zip(self.all).filter(|(_, access)| access.loads && access.has_footprint());
                loads.map(|(one, access)| access.sectors * share(one)).sum()
            }
        };
        found.l2_loads = 32.0 * missed;
    }

    /// Sectors that accesses whose addresses are worked out thread by thread load from L2, and that they store to it.
    fn by_thread(&self, replay: &Replay) -> (f64, f64) {
        let mut found = (0.0, 0.0);
        let own = || replay.by_access.iter().zip(self.all).filter(|(_, access)| !access.has_footprint());
        let mut together = Counted::default();
        own().for_each(|(one, _)| together.add(one));
        for (one, access) in own() {
            match access.loads {
                true if !self.capacity.caches_loads || access.past_l1 || together.loaded == 0 => {
                    found.0 += access.sectors
                }
                true => {
                    let looked_at = if one.loaded > 0 { one } else { &together };
                    found.0 += access.sectors * looked_at.missed_share();
                }
                false => found.1 += access.sectors,
            }
        }
        found
    }

    /// What the blocks of an SM load, over what L1 holds.
    fn l1_oversubscription(&self, kinds: &Kinds) -> f64 {
        let resident = self.capacity.resident.min(self.launch.blocks().div_ceil(self.capacity.sms)) as f64;
        let (mut all, mut full) = (0.0, 0.0);
        for block in self.samples() {
            let own = boxes(block, block + 1, self.launch.grid);
            let sectors = kinds.loaded_by(self, block);
            all += sectors;
            full += sectors * resident * self.loads(&own, LINE).sectors * LINE as f64 / self.capacity.l1;
        }
        if all > 0.0 { full / all } else { 0.0 }
    }

    fn replay(&self, pieces_of_block: f64) -> Replay {
        let l2_lines = if self.loops() { self.l2_lines_of_sm() } else { 1 };
        let levels = (self.capacity, l2_lines);
        if !self.capacity.caches_loads {
            return Replay::default();
        }
        replay(self.all, (self.addresses, self.launch), self.bounds, self.hierarchy, levels, pieces_of_block)
    }

    /// Lines of L2 that an SM has as its share: SMs that load the same share it in L2, too.
    fn l2_lines_of_sm(&self) -> u32 {
        let Capacity { sms, resident, .. } = *self.capacity;
        let blocks = self.launch.blocks();
        let wave = (sms * resident).min(blocks);
        let first = blocks.div_ceil(wave) / 2 * wave;
        let end = (first + wave).min(blocks);
        let together = self.union(|_| true, &boxes(first, end, self.launch.grid), LINE).sectors;
        let of_sm = |number: u64| {
            let own = (first + number..end).step_by(sms as usize);
            let own: Vec<Blocks> = own.flat_map(|block| boxes(block, block + 1, self.launch.grid)).collect();
            self.union(|_| true, &own, LINE).sectors
        };
        let used = sms.min(end - first);
        let alone = (of_sm(used / 3) + of_sm(2 * used / 3)) / 2.0;
        let share = if together > 0.0 { (alone / together).min(1.0) } else { 1.0 };
        (self.capacity.l2 / LINE as f64 * share).clamp(1.0, MOST_L2_LINES) as u32
    }

    /// Whether some access is in a loop.
    fn loops(&self) -> bool {
        self.accesses.iter().any(|access| !access.counters.is_empty())
    }

    /// Blocks that stand for all, evenly spread but not in step with rows of blocks: multiples of the golden section.
    fn samples(&self) -> impl Iterator<Item = u64> {
        let blocks = self.launch.blocks();
        let count = blocks.min(SAMPLES);
        (1..=count).map(move |number| ((golden(number) * blocks as f64) as u64).min(blocks - 1))
    }

    fn second_level(&self, counted: Counted, requested: Requested, found: &mut Traffic) {
        let blocks = self.launch.blocks();
        let wave = (self.capacity.sms * self.capacity.resident).max(1);
        let waves = blocks.div_ceil(wave);
        // Half of the grid is where a plane begins, whose first rows may do nothing.
        let middle = (golden(1) * waves as f64) as u64 * wave;
        let own = boxes(middle, (middle + wave).min(blocks), self.launch.grid);
        let all = boxes(0, blocks, self.launch.grid);
        let of = |boxes: &[Blocks], grain| self.union(|_| true, boxes, grain).sectors;
        found.distinct = Distinct {
            wave_sectors: of(&own, SECTOR),
            wave_lines: of(&own, LINE),
            launch_sectors: of(&all, SECTOR),
            launch_lines: of(&all, LINE),
        };
        found.l2_oversubscription = found.distinct.wave_lines * LINE as f64 / self.capacity.l2;
        found.wave_pages = self.union(|_| true, &own, 2 << 20).sectors;
        // Requests of a run to the same sector find it, unless what comes between is more than L2 holds. Loops are replayed; without
        // any it is for the most part SMs that share what they load at a time.
        let loops = self.loops();
        let again = match loops && counted.asked_again > 0 {
            true => counted.lost_again as f64 / counted.asked_again as f64,
            false => curves::WITHIN.at(found.l2_oversubscription),
        };
        // Of footprints that may be too large, accesses are not told apart: how much they have in common is not known.
        let stagger = Stagger::new(self.accesses, wave.min(blocks), loops || requested.unsure, self.launch.grid);
        let run = if loops { wave } else { (wave / RUNS).max(1) };
        let mut reused = (0.0, 0.0);
        let sides = (self.capacity.l2_partitions > 1).then(|| self.sides(run));
        // What other blocks complete is complete in time if L2 holds what lies between.
        let held = (wave as f64 * (HELD / found.l2_oversubscription.max(LITTLE)).clamp(1.0, blocks as f64)) as u64;
        let from = middle.min(blocks.saturating_sub(held));
        let held = boxes(from, (from + held).min(blocks), self.launch.grid);
        let (all, lost_of_launch) = self.runs(stagger, (run, sides), &held, &mut reused);
        // However little of L2 an SM has as its share: what the launch touches in all pushes no more out.
        let again = if loops { again.min(lost_of_launch) } else { again };
        let distinct = 32.0 * all.distinct;
        found.dram_loads += 32.0 * all.loads;
        found.dram_stores += 32.0 * all.stores;
        found.rough |= all.rough;
        found.l2_reuse_oversubscription = if reused.0 > 0.0 { reused.1 / reused.0 } else { 0.0 };
        found.l2_reuse_lost = if all.again > MATTERS * all.distinct { all.lost / all.again } else { 0.0 };
        let read = found.l2_loads + 32.0 * requested.atomics;
        if requested.unsure && distinct > read {
            found.dram_loads *= read / distinct;
        }
        let far = match loops {
            true => read,
            false => read.min(32.0 * self.of_neighbours(blocks)),
        };
        found.dram_loads += (far - distinct).max(0.0) * again;
        // A sector is written back at most once for each store to it, whatever its footprint's edges add.
        found.dram_stores = found.dram_stores.min(found.l2_stores);
    }

    /// Sectors that groups of as many neighbouring blocks as there are SMs read, one after the other: what neighbours share they ask for at about the
    /// same time.
    fn of_neighbours(&self, blocks: u64) -> f64 {
        let group = self.capacity.sms.min(blocks).max(1);
        let groups = blocks as f64 / group as f64;
        let each = |number: u64| {
            let first = ((golden(number) * blocks as f64) as u64).min(blocks - group);
            self.union(|family| family.reads, &boxes(first, first + group, self.launch.grid), SECTOR).sectors
        };
        groups * (1..=NEIGHBOURS).map(each).sum::<f64>() / NEIGHBOURS as f64
    }

    /// What all runs of a launch move between L2 and DRAM, and the share that L2 has lost of something after as much as the launch touches. `held`
    /// are neighbouring blocks of which L2 holds what they store.
    fn runs(
        &self,
        stagger: Stagger,
        (run, sides): (u64, Option<Sides>),
        held: &[Blocks],
        reused: &mut (f64, f64),
    ) -> (Run, f64) {
        let (under_way, end_of_all) = (stagger.under_way(), stagger.end());
        let sets = Sets { ways: self.capacity.l2_ways, filled: curves::FILLED };
        let reuse = Reuse {
            footprints: Footprints::in_parts(self.accesses, self.bounds, |access| stagger.part_of[access]),
            stagger,
            capacity: self.capacity.l2_all,
            sets,
            sides,
        };
        // What of the launch stays in L2 to its end is neither written back nor completed within it.
        let full = reuse.full(0, end_of_all);
        let of_launch = Sets { filled: self.filled_by_launch().max(curves::FILLED), ..sets };
        let lost_of_launch = of_launch.lost(full);
        // Of the lines stored at some time, what comes behind it pushes out: nearly nothing of the last ones.
        let pushed_out = (0..PARTS).map(|part| of_launch.lost(full * (f64::from(part) + 0.5) / f64::from(PARTS)));
        let incomplete = match lost_of_launch > LITTLE {
            true => self.incomplete(held) * pushed_out.sum::<f64>() / f64::from(PARTS),
            false => 0.0,
        };
        let runs = end_of_all.div_ceil(run);
        let large = runs > LARGE;
        let mut hints = Hints::new(large);
        let mut one = |number: u64| {
            let (first, end) = (number * run, ((number + 1) * run).min(end_of_all));
            reuse.run((first, end), run, incomplete, reused, &mut hints)
        };
        let mut all = Run::default();
        if runs <= MOST_RUNS {
            (0..runs).for_each(|number| all.add(&one(number), 1.0));
            return (all, lost_of_launch);
        }
        // The first runs find little, at both ends not all of the code is run, and the last one may be smaller. Some between them stand for the
        // others. Of a large grid the ends are a small part.
        let at_ends = under_way.div_ceil(run).max(1);
        // Up to the run in which the last block begins all are whole.
        let (early, late) = if large { (1, 0) } else { (at_ends, runs - self.launch.blocks() / run) };
        (0..early).chain(runs - late..runs).for_each(|number| all.add(&one(number), 1.0));
        let inner = runs - early - late;
        let mut between: Vec<Run> = Vec::new();
        let first_touches = reuse.first_touches();
        if large {
            while between.len() < FEWEST || !agree(&between, AGREED, false) && between.len() < MOST {
                let place = golden(between.len() as u64 + 1) * inner as f64;
                between.push(one(early + place as u64));
            }
        } else {
            let place = |part: u64| early + inner * (2 * part + 1) / (2 * BETWEEN);
            between.extend((0..BETWEEN).filter(|part| part % 3 == 1).map(|part| one(place(part))));
            if !agree(&between, AGREED, first_touches.is_some()) {
                between.extend((0..BETWEEN).filter(|part| part % 3 != 1).map(|part| one(place(part))));
            }
        }
        let ends = if large { under_way.div_ceil(run) } else { 0 };
        let each = (inner - ends.min(inner)) as f64 / between.len() as f64;
        between.iter().for_each(|run| all.add(run, each));
        // What is touched for the first time in the launch is known for all of it.
        if let Some((reads, stores)) = first_touches {
            all.loads = (all.loads + reads - all.new_reads).max(0.0);
            all.stores = (all.stores + stores - all.new_stores).max(0.0);
        }
        (all, lost_of_launch)
    }

    /// Of the chunks that give each set of L2 one line, those that the launch touches: the share of their lines that it touches.
    fn filled_by_launch(&self) -> f64 {
        let Capacity { l2_all, l2_ways, l2_partitions, .. } = *self.capacity;
        let chunk = l2_all / f64::from(l2_ways.max(1)) / f64::from(l2_partitions.max(1));
        // Unions are counted in powers of two.
        let grain = 1i64 << (chunk.max(LINE as f64).log2() as u32);
        let all = boxes(0, self.launch.blocks(), self.launch.grid);
        let of = |grain: i64| self.union(|_| true, &all, grain).sectors * grain as f64;
        (of(LINE) / of(grain).max(1.0)).min(1.0)
    }

    /// The share of stored sectors of which some bytes are not, and which nothing reads: they are completed from DRAM.
    fn incomplete(&self, boxes: &[Blocks]) -> f64 {
        let mut allocations: Vec<usize> =
            self.accesses.iter().filter(|access| access.stores).map(|access| access.allocation).collect();
        allocations.sort_unstable();
        allocations.dedup();
        let (mut sum, mut all) = (0.0, 0.0);
        for allocation in allocations {
            let of = |wanted: fn(&Family) -> bool| {
                self.union(|family| family.allocation == allocation && wanted(family), boxes, SECTOR).sectors
            };
            let stored = of(|family| family.stores);
            all += stored;
            let is_stored = |family: &Family| family.allocation == allocation && family.stores;
            let open = (stored - self.footprints.whole_sectors(is_stored, boxes).sectors).max(0.0);
            // Sectors at the ends of rows are completed by the neighbours.
            if open < EDGES * stored {
                continue;
            }
            let read = of(|family| family.reads);
            let both = of(|family| family.reads || family.stores);
            let known = (read + stored - both).clamp(0.0, stored);
            sum += open * (1.0 - known / stored);
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }
}
