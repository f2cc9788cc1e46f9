//! Traffic between DRAM and L2.

use super::simulated_blocks::SimulatedBlocks;
use crate::traffic::access::{LINE, SECTOR};
use crate::traffic::flow::Flow;
use crate::traffic::footprint::{Blocks, Family, boxes};
use crate::traffic::l1::Replay;
use crate::traffic::moved::{Distinct, Requested, Traffic};
use crate::traffic::schedule::golden;

/// Bytes of a page.
const PAGE: i64 = 2 << 20;

impl Flow<'_> {
    /// Computes the traffic between L2 and DRAM by simulating a part of the launch in some sets of L2, if that is
    /// possible.
    pub(in crate::traffic) fn second_level(
        &self,
        replay: &Replay,
        (requested, simulated): (Requested, Option<SimulatedBlocks<'_>>),
        found: &mut Traffic,
    ) {
        let blocks = self.launch.blocks();
        let wave = self.capacity.wave();
        // Half of the grid is avoided: a plane starts there, and its first rows may do nothing.
        let middle = (golden(1) * blocks.div_ceil(wave) as f64) as u64 * wave;
        let own = boxes(middle, (middle + wave).min(blocks), self.launch.grid);
        let all = boxes(0, blocks, self.launch.grid);
        let of = |boxes: &[Blocks], grain| self.footprints.distinct(boxes, grain).sectors;
        found.distinct = Distinct {
            wave_sectors: of(&own, SECTOR),
            wave_lines: of(&own, LINE),
            launch_sectors: of(&all, SECTOR),
            launch_lines: of(&all, LINE),
        };
        found.l2_oversubscription = found.distinct.wave_lines * LINE as f64 / self.capacity.l2_bytes();
        found.wave_pages = self.union(|_| true, &own, PAGE).sectors;
        let is_sampled = simulated.is_some_and(|simulated| self.by_sample(replay, (requested, simulated), found));
        if !is_sampled {
            self.by_footprint(&all, found);
        }
    }

    /// Estimates the traffic between L2 and DRAM from footprints. All touched data is moved once; repeated loads miss
    /// in the proportion by which a wave exceeds L2.
    fn by_footprint(&self, all: &[Blocks], found: &mut Traffic) {
        let touched = |wanted: fn(&Family) -> bool, by_lane: f64| -> f64 {
            SECTOR as f64 * (self.union(wanted, all, SECTOR).sectors + by_lane)
        };
        let others = || self.all.0.iter().filter(|access| !access.is_affine());
        let read: f64 = others().filter(|access| access.reads()).map(|access| access.sectors).sum();
        let stored: f64 = others().filter(|access| access.stores).map(|access| access.sectors).sum();
        let first = touched(|family| family.reads, read).min(found.l2_loads + found.l2_stores);
        let lost = (1.0 - 1.0 / found.l2_oversubscription.max(f64::MIN_POSITIVE)).max(0.0);
        found.dram_loads = first + (found.l2_loads - first).max(0.0) * lost;
        found.dram_stores = touched(|family| family.stores, stored).min(found.l2_stores);
        (found.l2_reuse_oversubscription, found.l2_reuse_lost) = (found.l2_oversubscription, lost);
    }
}
