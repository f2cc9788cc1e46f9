//! What a sample says of a launch.

use super::run::moved;
use crate::prediction::traffic::caches::{Requested, Traffic};
use crate::prediction::traffic::flow::{Flow, SECTOR};
use crate::prediction::traffic::replay::Replay;
use crate::prediction::traffic::volumes::Blocks;

/// Share of the sectors that a launch reads from which on it matters what becomes of those that it comes back to.
const MATTERS: f64 = 0.01;
/// Sectors of a sample that say how many a launch touches, and the share by which it has to have fewer than were counted, which chance does not.
const ENOUGH: f64 = 2000.0;
const DOUBTFUL: f64 = 0.05;

impl Flow<'_> {
    /// Counts what L2 and DRAM move, by some sets of L2. `all` are the blocks of the launch. Whether it could.
    pub(in crate::prediction::traffic) fn by_sample(
        &self,
        all: &[Blocks],
        (replay, requested): (&Replay, Requested),
        found: &mut Traffic,
    ) -> bool {
        // Accesses whose addresses are worked out thread by thread have turns, too.
        if self.accesses.len() < self.all.0.len() {
            return false;
        }
        let missed = self.missed_in_l1(replay, found.l2_loads / 32.0);
        let Some(moved) = moved(self, found.distinct.launch_lines, &missed) else { return false };
        let read = self.union(|family| family.reads, all, SECTOR);
        let stored = self.union(|family| family.stores, all, SECTOR);
        // What is touched for the first time is known; the sample has what comes to that. Where unions have more than the sample, edges were left in them.
        let all = |known: f64, all: f64, own: f64| {
            let expected = known * moved.share;
            let known = if own < (1.0 - DOUBTFUL) * expected && own > ENOUGH { own / moved.share } else { known };
            32.0 * (known + (all - own) / moved.share).max(0.0)
        };
        found.dram_loads += all(read.sectors, moved.reads, moved.read);
        found.dram_stores += all(stored.sectors, moved.writes, moved.stored).min(32.0 * requested.stored);
        found.rough |= read.rough || stored.rough;
        if moved.again > MATTERS * moved.read {
            found.l2_reuse_oversubscription = moved.full / moved.again;
            found.l2_reuse_lost = (moved.lost / moved.again).min(1.0);
        }
        true
    }

    /// By access: the share of the sectors it loads that L1 misses, as the replayed blocks had it, so that all of them miss so many sectors.
    fn missed_in_l1(&self, replay: &Replay, sectors: f64) -> Vec<f64> {
        let share = |number: usize| match replay.by_access.get(number) {
            Some(one) if one.loaded > 0 => one.missed_share(),
            _ if replay.counted.loaded > 0 => replay.counted.missed_share(),
            _ => 1.0,
        };
        let loads = self.accesses.iter().enumerate().filter(|(_, access)| access.loads);
        let of_replay: f64 = loads.map(|(number, access)| access.sectors * share(number)).sum();
        let scale = if of_replay > 0.0 { sectors / of_replay } else { 1.0 };
        (0..self.accesses.len()).map(|number| (share(number) * scale).min(1.0)).collect()
    }
}
