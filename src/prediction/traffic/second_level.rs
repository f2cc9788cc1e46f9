//! What goes from DRAM to L2 and back: what a run of blocks touches for the first time comes from DRAM, unless a window of earlier blocks touched it and L2 holds
//! what was touched since ([`super::windows`]). Layer conditions of stencils are the case in which the windows are rows and planes.

use super::caches::{Distinct, Requested, Traffic};
use super::capacity::Capacity;
use super::curves::{self, Sets};
use super::flow::{Flow, LINE, SECTOR};
use super::replay::{Replay, golden};
use super::rounds::{Kept, Rounds};
use super::stagger::{Progress, Stagger};
use super::volumes::{Blocks, Family, Footprints, boxes};
use super::windows::{Hints, Reuse, Run, agree};

/// The share of stored sectors that are not stored whole below which they are taken for the ends of rows.
const EDGES: f64 = 0.02;
/// A share that does not matter.
const LITTLE: f64 = 1e-6;
/// What a wave touches, over what L2 holds, from which on it may lose something between two turns of a warp.
const FILLING: f64 = 0.75;
/// Share of a chunk's lines from which on it is taken to be touched whole.
const WHOLE: f64 = 0.9;
/// Share of L2 up to which neighbouring blocks complete each other's sectors.
const HELD: f64 = 0.5;
/// Parts of a launch over which it is averaged what comes behind them.
const PARTS: u32 = 16;
/// Runs of blocks of which each is looked at.
const MOST_RUNS: u64 = 32;
/// Runs that stand for those between the first and the last one; a third of them where these agree.
const BETWEEN: u64 = 24;
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

impl Flow<'_> {
    /// Counts what L2 and DRAM move, by what a replay of some blocks counted.
    pub(super) fn second_level(&self, replay: &Replay, requested: Requested, found: &mut Traffic) {
        let counted = replay.counted;
        let blocks = self.launch.blocks();
        let wave = (self.capacity.sms * self.capacity.resident).max(1);
        let waves = blocks.div_ceil(wave);
        // Half of the grid is where a plane begins, whose first rows may do nothing.
        let middle = (golden(1) * waves as f64) as u64 * wave;
        let own = boxes(middle, (middle + wave).min(blocks), self.launch.grid);
        let all = boxes(0, blocks, self.launch.grid);
        let of = |boxes: &[Blocks], grain| self.footprints.distinct(boxes, grain).sectors;
        found.distinct = Distinct {
            wave_sectors: of(&own, SECTOR),
            wave_lines: of(&own, LINE),
            launch_sectors: of(&all, SECTOR),
            launch_lines: of(&all, LINE),
        };
        found.l2_oversubscription = found.distinct.wave_lines * LINE as f64 / self.capacity.l2;
        found.wave_pages = self.union(|_| true, &own, 2 << 20).sectors;
        if !requested.unsure && self.by_sample((replay, requested), found) {
            return;
        }
        let requested = Requested { unsure: requested.unsure || found.rough, ..requested };
        // Requests of a run to the same sector find it, unless what comes between is more than L2 holds. Loops are replayed; without
        // any it is for the most part SMs that share what they load at a time.
        let loops = self.loops();
        let again = match loops && counted.asked_again > 0 {
            true => counted.lost_again as f64 / counted.asked_again as f64,
            false => curves::WITHIN.at(found.l2_oversubscription),
        };
        // Of footprints that may be too large, accesses are not told apart: how much they have in common is not known.
        let turn = (!loops && !requested.unsure).then_some(self.capacity.turn);
        let ends_early = if self.capacity.drift == 0 { requested.idle } else { 1.0 };
        let stagger =
            Stagger::new(self.accesses, Progress { wave: wave.min(blocks), turn, ends_early }, self.launch.grid);
        let run = if loops { wave } else { (wave / RUNS).max(1) };
        let mut reused = (0.0, 0.0);
        // What other blocks complete is complete in time if L2 holds what lies between.
        let held = (wave as f64 * (HELD / found.l2_oversubscription.max(LITTLE)).clamp(1.0, blocks as f64)) as u64;
        let from = middle.min(blocks.saturating_sub(held));
        let held = boxes(from, (from + held).min(blocks), self.launch.grid);
        // Neighbours along one axis lie side by side.
        let filled = if self.is_linear() { self.filled(&own) } else { curves::FILLED };
        let filled = if filled >= WHOLE { 1.0 } else { curves::FILLED };
        let sets = Sets { ways: self.capacity.l2_ways, filled };
        // Loops are replayed.
        let rounds = turn.is_some().then(|| Rounds::new(self, &stagger, (found, requested.loaded)));
        let between_turns = match &rounds {
            Some(rounds) if found.l2_oversubscription >= FILLING => {
                rounds.lost((middle, (middle + wave).min(blocks)), sets)
            }
            _ => Run::default(),
        };
        let reuse = Reuse {
            footprints: Footprints::in_parts(self.accesses, self.bounds, |access| stagger.part_of[access]),
            kept: rounds.map_or_else(Kept::nothing, |rounds| rounds.kept(&stagger.part_of)),
            wave,
            stagger,
            capacity: self.capacity.l2_all,
            sets,
            sides: (self.capacity.l2_partitions > 1).then(|| self.sides(run)),
        };
        let (all, lost_of_launch) = self.runs(&reuse, run, &held, &mut reused);
        // However little of L2 an SM has as its share: what the launch touches in all pushes no more out.
        let again = if loops { again.min(lost_of_launch) } else { again };
        let distinct = 32.0 * all.distinct;
        found.dram_loads += 32.0 * (all.loads + between_turns.loads);
        found.dram_stores += 32.0 * (all.stores + between_turns.stores);
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
    fn runs(&self, reuse: &Reuse<'_>, run: u64, held: &[Blocks], reused: &mut (f64, f64)) -> (Run, f64) {
        let (under_way, end_of_all) = (reuse.stagger.under_way(), reuse.stagger.end());
        // What of the launch stays in L2 to its end is neither written back nor completed within it.
        let full = reuse.full(0, end_of_all);
        let all = boxes(0, self.launch.blocks(), self.launch.grid);
        let of_launch = Sets { filled: self.filled(&all).max(curves::FILLED), ..reuse.sets };
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
        // The runs of a wave in step are of one part of the code after the other.
        let in_step = if reuse.stagger.is_in_step() { RUNS } else { 1 };
        let of_wave =
            |run: u64, number: u64| (run / in_step * in_step + number % in_step).clamp(early, runs - late - 1);
        if large {
            while between.len() < FEWEST || !agree(&between, AGREED, false) && between.len() < MOST {
                let place = early + (golden(between.len() as u64 + 1) * inner as f64) as u64;
                between.extend((0..in_step).map(|number| one(of_wave(place, number))));
            }
        } else {
            let place = |part: u64| of_wave(early + inner * (2 * part + 1) / (2 * BETWEEN), part);
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

    /// Of the chunks that give each set of L2 one line, those that blocks touch: the share of their lines that they touch.
    fn filled(&self, blocks: &[Blocks]) -> f64 {
        let Capacity { l2_all, l2_ways, l2_partitions, .. } = *self.capacity;
        let chunk = l2_all / f64::from(l2_ways.max(1)) / f64::from(l2_partitions.max(1));
        // Unions are counted in powers of two.
        let grain = 1i64 << (chunk.max(LINE as f64).log2() as u32);
        let of = |grain: i64| self.union(|_| true, blocks, grain).sectors * grain as f64;
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
