//! Scales the traffic of a sample to the launch.

use std::ops::{Range, RangeInclusive};

use super::run::{Moved, Passed, moved};
use super::simulated_blocks::SimulatedBlocks;
use crate::traffic::access::SECTOR;
use crate::traffic::flow::Flow;
use crate::traffic::footprint::{Family, boxes};
use crate::traffic::l1::Replay;
use crate::traffic::moved::{Requested, Sampled, Traffic};

/// Minimum share of a launch's read sectors for which it matters whether repeated reads miss.
const MATTERS: f64 = 0.01;
/// Number of sampled sectors from which the sample can correct a union, and the minimum relative excess of the union.
const ENOUGH: f64 = 2000.0;
const DOUBTFUL: f64 = 0.05;
/// Number of sampled sectors that is sufficient if unions are known to be too large.
const FEW: f64 = 200.0;
/// Number of lines that is sufficient to represent an array.
const ENOUGH_LINES: u32 = 50;
/// Accepted ratio of the counted blocks' requests to those of as many average blocks. Within it, the counted blocks
/// represent the launch.
const TYPICAL: RangeInclusive<f64> = 0.5..=2.0;

/// Distinct sectors of arrays whose addresses are affine.
struct FirstTouches {
    /// First touches of the whole launch.
    launch: f64,
    /// First touches of the counted blocks, excluding sectors that the simulated blocks before them touch.
    counted: f64,
    /// The part of `counted` that still earlier blocks touch.
    before: f64,
    rough: bool,
}

impl FirstTouches {
    /// Corrects unions that exceed the sample because edges were not cut.
    fn check(&mut self, of_sample: f64, share: f64) {
        let enough = if self.rough { FEW } else { ENOUGH };
        if of_sample > enough && of_sample < (1.0 - DOUBTFUL) * self.counted * share {
            self.launch *= of_sample / (self.counted * share);
        }
    }
}

/// Shares that a sample represents.
#[derive(Clone, Copy)]
struct Scale {
    /// Share of L2's sets.
    sets: f64,
    /// Share of the launch's blocks.
    blocks: f64,
}

impl Scale {
    /// Returns the sectors of the launch that correspond to the moved sectors of the sample, minus the `known` ones.
    fn beyond(self, own: &Passed, known: f64) -> f64 {
        let times = match own.lines > ENOUGH_LINES {
            true => own.of_launch / own.requested,
            false => 1.0 / (self.sets * self.blocks),
        };
        (own.moved - known) * times
    }

    /// Returns whether the counted blocks request about as much of an array as other blocks do. The check needs enough
    /// lines.
    fn is_typical(self, own: &Passed) -> bool {
        let expected = own.of_launch * self.sets * self.blocks;
        own.lines <= ENOUGH_LINES || expected <= ENOUGH || TYPICAL.contains(&(own.requested / expected))
    }
}

impl Flow<'_> {
    /// Computes the traffic between L2 and DRAM from the simulated sets of L2; returns whether that was possible.
    pub(super) fn by_sample(
        &self,
        replay: &Replay,
        (requested, simulated): (Requested, SimulatedBlocks<'_>),
        found: &mut Traffic,
    ) -> bool {
        let missed = self.missed_in_l1(replay, found.l2_loads / SECTOR as f64);
        let Some(moved) = moved(self, &simulated, (requested.lines, &missed)) else { return false };
        let blocks = self.launch.blocks() as f64;
        let counted = (simulated.counted.end - simulated.counted.start) as f64 / blocks;
        let scale = Scale { sets: moved.share, blocks: counted };
        if !moved.arrays.iter().all(|own| scale.is_typical(&own.reads) && scale.is_typical(&own.stores)) {
            return false;
        }
        let is_affine =
            |allocation: usize| moved.arrays.iter().any(|one| one.allocation == allocation && one.is_affine);
        let mut reads = self.first_touches(&simulated, &|family| family.reads && is_affine(family.allocation));
        let mut stores = self.first_touches(&simulated, &|family| family.stores && is_affine(family.allocation));
        let affine = || moved.arrays.iter().filter(|own| own.is_affine);
        reads.check(affine().map(|own| own.reads.new).sum(), moved.share);
        stores.check(affine().map(|own| own.stores.new).sum(), moved.share);
        // First touches are known if addresses are affine; the sample gives the additional traffic.
        let known = |own: &Passed, is_affine: bool| if is_affine { own.new } else { 0.0 };
        let mut read = reads.launch;
        let mut written = stores.launch;
        for own in &moved.arrays {
            read += scale.beyond(&own.reads, known(&own.reads, own.is_affine));
            written += scale.beyond(&own.stores, known(&own.stores, own.is_affine));
        }
        if counted < 1.0 {
            // If each thread stores its own element, the stores show how many blocks do as much work as the counted
            // ones.
            let like = match stores.before == 0.0 && stores.counted > 0.0 {
                true => stores.launch / stores.counted,
                false => 1.0 / counted,
            };
            // The first blocks touch data for the first time that later blocks reuse.
            let early = (reads.launch - (reads.counted - reads.before) * like).max(0.0);
            read += reads.before * like - moved.lost_of_last(early / like * moved.share) / moved.share * like;
            written += stores.before * like;
        }
        // Part of the stored data remains in L2 at the end.
        if counted < 1.0 || affine().count() < moved.arrays.len() {
            let holds = self.capacity.l2_bytes() / SECTOR as f64;
            written -= (moved.left / moved.share).clamp(0.0, holds);
        }
        found.sampled = Some(Sampled { sets: moved.share, blocks: counted });
        found.dram_loads = SECTOR as f64 * read.max(0.0);
        found.dram_stores = (SECTOR as f64 * written.max(0.0)).min(found.l2_stores);
        found.rough |= reads.rough || stores.rough;
        self.errors(&moved, scale, found);
        true
    }

    /// Sets the error of the sample and the figures of reuse.
    fn errors(&self, moved: &Moved, scale: Scale, found: &mut Traffic) {
        let error = SECTOR as f64 * moved.error() / (scale.sets * scale.blocks);
        found.dram_load_error = Some(if found.dram_loads > 0.0 { error / found.dram_loads } else { 0.0 });
        let (again, lost) = moved.again.iter().fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        if again > MATTERS * moved.arrays.iter().map(|own| own.reads.new).sum::<f64>() {
            found.l2_reuse_oversubscription = moved.full / again;
            found.l2_reuse_lost = f64::min(lost / again, 1.0);
        }
    }

    /// Counts the first touches of wanted accesses.
    fn first_touches(&self, simulated: &SimulatedBlocks<'_>, wanted: &dyn Fn(&Family) -> bool) -> FirstTouches {
        let of = |blocks: Range<u64>| self.union(wanted, &boxes(blocks.start, blocks.end, self.launch.grid), SECTOR);
        let all = of(0..self.launch.blocks());
        let mut found = FirstTouches { launch: all.sectors, counted: all.sectors, before: 0.0, rough: all.rough };
        if simulated.counted != (0..self.launch.blocks()) {
            let Range { start, end } = simulated.counted;
            found.counted = of(simulated.blocks.start..end).sectors - of(simulated.blocks.start..start).sectors;
            let new = of(0..end).sectors - of(0..start).sectors;
            found.before = if found.counted - new > MATTERS * found.counted { found.counted - new } else { 0.0 };
        }
        found
    }

    /// Returns, indexed by access, the share of its loaded sectors that L1 misses in the replay. The shares are scaled
    /// so that `sectors` sectors miss in total.
    fn missed_in_l1(&self, replay: &Replay, sectors: f64) -> Vec<f64> {
        let mut all = replay.total(self.all.0, true);
        all.add(&replay.total(self.all.0, false));
        let share = |number: usize| {
            let one = replay.of_site(self.all.0, self.all.0[number].site);
            match (one.loaded, all.loaded) {
                (1.., _) => one.missed_share(),
                (0, 1..) => all.missed_share(),
                _ => 1.0,
            }
        };
        let loads = self.all.0.iter().enumerate().filter(|(_, access)| access.loads);
        let of_replay: f64 = loads.map(|(number, access)| access.sectors * share(number)).sum();
        let scale = if of_replay > 0.0 { sectors / of_replay } else { 1.0 };
        (0..self.all.0.len()).map(|number| (share(number) * scale).min(1.0)).collect()
    }
}
