//! Traffic between L2 and L1, computed from the replayed blocks.

use super::kinds::Kinds;
use super::replay::Replay;
use super::sm::Counted;
use crate::traffic::access::{LINE, SECTOR};
use crate::traffic::flow::Flow;
use crate::traffic::footprint::boxes;
use crate::traffic::moved::{Replayed, Requested, Traffic};
use crate::traffic::schedule::golden;

/// Number of blocks whose loaded L1 lines are counted.
const BLOCKS: u64 = 4;

impl Flow<'_> {
    /// Counts the sectors that L2 and L1 exchange.
    pub(in crate::traffic) fn first_level(&self, replay: &Replay, requested: Requested, found: &mut Traffic) {
        let kinds = Kinds::new(self);
        // A footprint with uncut edges can exceed the requested sectors.
        let distinct = if kinds.rough { kinds.distinct.min(requested.loaded) } else { kinds.distinct };
        found.rough |= kinds.rough;
        found.block_load_sectors = distinct / self.launch.blocks() as f64;
        found.l2_stores = SECTOR as f64 * requested.stored;
        if self.capacity.caches_loads() {
            found.repeated_sectors = (requested.loaded - distinct).max(0.0);
            found.l1_oversubscription = self.l1_oversubscription(&kinds);
            found.replayed = Replayed { blocks: replay.blocks.len() as u64, left_out: replay.left_out };
        }
        let affine = self.affine_loads(replay, &kinds, (requested.loaded, distinct));
        let others = self.all.0.iter().zip(&replay.by_access).filter(|(access, _)| !access.is_affine());
        let all = replay.total(self.all.0, false);
        for (access, counted) in others {
            let counted = if counted.loaded > 0 { counted } else { &all };
            match access.loads {
                true => found.l2_loads += SECTOR as f64 * access.sectors * self.missed_share(access.past_l1, counted),
                false => found.l2_stores += SECTOR as f64 * access.sectors,
            }
        }
        found.l2_loads += SECTOR as f64 * affine;
        found.l2_load_error = replay.error;
    }

    /// Returns the sectors that accesses with affine addresses load from L2.
    fn affine_loads(&self, replay: &Replay, kinds: &Kinds, (loaded, distinct): (f64, f64)) -> f64 {
        let counted = replay.total(self.all.0, true);
        if !self.capacity.caches_loads() {
            return loaded;
        }
        if counted.loaded == 0 {
            // There is no load, or so few blocks load that none of them was replayed.
            return distinct;
        }
        // Misses up to the number of distinct sectors are first loads; further misses are repeated loads.
        let by_footprint = replay.whole
            && kinds.distinct <= loaded
            && !kinds.sampled
            && !self.accesses.iter().any(|access| access.past_l1);
        let own: f64 =
            if by_footprint { replay.blocks.iter().map(|&block| kinds.loaded_by(self, block)).sum() } else { 0.0 };
        if own > 0.0 {
            let (missed, all) = (counted.missed as f64, counted.loaded as f64);
            let beyond = (missed - own).max(0.0) / (all - own).max(1.0);
            return distinct * (missed / own).min(1.0) + (loaded - distinct).max(0.0) * beyond.min(1.0);
        }
        let loads = self.all.0.iter().filter(|access| access.loads && access.is_affine());
        let missed = loads.map(|access| {
            let one = replay.of_site(self.all.0, access.site);
            // An access that no replayed block made gets the average miss share.
            access.sectors * if one.loaded > 0 { one.missed_share() } else { counted.missed_share() }
        });
        missed.sum()
    }

    fn missed_share(&self, past_l1: bool, counted: &Counted) -> f64 {
        if past_l1 || !self.capacity.caches_loads() || counted.loaded == 0 { 1.0 } else { counted.missed_share() }
    }

    /// Returns the sectors that the blocks of an SM load, divided by the capacity of L1.
    fn l1_oversubscription(&self, kinds: &Kinds) -> f64 {
        let all = self.launch.blocks();
        let resident = self.capacity.resident_of(all) as f64;
        let bytes = f64::from(self.capacity.l1_lines) * LINE as f64;
        let (mut sum, mut full) = (0.0, 0.0);
        for number in 1..=all.min(BLOCKS) {
            let block = ((golden(number) * all as f64) as u64).min(all - 1);
            let sectors = kinds.loaded_by(self, block);
            let lines = self.union(|family| family.loads, &boxes(block, block + 1, self.launch.grid), LINE).sectors;
            sum += sectors;
            full += sectors * resident * lines * LINE as f64 / bytes;
        }
        if sum > 0.0 { full / sum } else { 0.0 }
    }
}
