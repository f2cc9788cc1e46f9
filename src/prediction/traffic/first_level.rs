//! What goes from L2 to L1: the loads of some blocks are replayed on the SM that they share ([`super::replay`]); what they miss stands for all.

use super::caches::{Replayed, Requested, Traffic};
use super::capacity::Capacity;
use super::flow::{Flow, LINE};
use super::kinds::Kinds;
use super::replay::{Counted, Replay, replay};
use super::volumes::{Blocks, boxes};

/// Lines of an SM's share of L2 that are told apart.
const MOST_L2_LINES: f64 = 8192.0;

impl Flow<'_> {
    /// Counts what goes from L2 to L1, by what a replay of some blocks counted.
    pub(super) fn first_level(&self, replay: &Replay, requested: Requested, found: &mut Traffic) {
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
                let loads =
                    by_access.iter().zip(self.all.0).filter(|(_, access)| access.loads && access.has_footprint());
                loads.map(|(one, access)| access.sectors * share(one)).sum()
            }
        };
        found.l2_loads = 32.0 * missed;
    }

    /// Sectors that accesses whose addresses are worked out thread by thread load from L2, and that they store to it.
    pub(super) fn by_thread(&self, replay: &Replay) -> (f64, f64) {
        let mut found = (0.0, 0.0);
        let own = || replay.by_access.iter().zip(self.all.0).filter(|(_, access)| !access.has_footprint());
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

    pub(super) fn replay(&self, pieces_of_block: f64) -> Replay {
        let l2_lines = if self.loops() { self.l2_lines_of_sm() } else { 1 };
        let levels = (self.capacity, l2_lines);
        if !self.capacity.caches_loads {
            return Replay::default();
        }
        replay(self.all.0, (self.addresses, self.launch), self.all.1, self.hierarchy, levels, pieces_of_block)
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
}
