//! What a sample says of a launch.

use std::ops::{Range, RangeInclusive};

use super::run::{Passed, Turns, moved};
use super::section::Section;
use crate::traffic::caches::{Requested, Sampled, Traffic};
use crate::traffic::flow::{Flow, SECTOR};
use crate::traffic::replay::Replay;
use crate::traffic::volumes::{Family, boxes};

/// Share of the sectors that a launch reads from which on it matters what becomes of those that it comes back to.
const MATTERS: f64 = 0.01;
/// Sectors of a sample that say how many are touched, and the share by which it has to have fewer than were counted, which chance does not.
const ENOUGH: f64 = 2000.0;
const DOUBTFUL: f64 = 0.05;
/// As many where unions are known to have too much.
const FEW: f64 = 200.0;
/// Lines of an array that stand for it.
const ENOUGH_LINES: u32 = 50;
/// Requests of blocks, over those of as many of the launch, that are no others than these.
const TYPICAL: RangeInclusive<f64> = 0.5..=2.0;

/// Distinct sectors, as unions count them.
struct FirstTouches {
    /// Of the launch.
    launch: f64,
    /// Of the blocks that are counted, but for what those run before them touch.
    counted: f64,
    /// Those of them that still earlier blocks touch.
    before: f64,
    rough: bool,
}

impl FirstTouches {
    /// Where unions have more than a sample, edges were left in them.
    fn check(&mut self, of_sample: f64, share: f64) {
        let enough = if self.rough { FEW } else { ENOUGH };
        if of_sample > enough && of_sample < (1.0 - DOUBTFUL) * self.counted * share {
            self.launch *= of_sample / (self.counted * share);
        }
    }
}

impl Flow<'_> {
    /// Counts what L2 and DRAM move, by some sets of L2.  Whether it could.
    pub(in crate::traffic) fn by_sample(&self, (replay, requested): (&Replay, Requested), found: &mut Traffic) -> bool {
        // Accesses whose addresses are worked out thread by thread have turns, too.
        if self.accesses.len() < self.all.0.len() {
            return false;
        }
        let Some(turns) = Turns::new(self) else { return false };
        let Some(section) = Section::new(self, turns.count as u64, requested) else { return false };
        let missed = self.missed_in_l1(replay, found.l2_loads / 32.0);
        let Some(moved) = moved(self, &section, &turns, (requested.lines, &missed)) else { return false };
        let blocks = self.launch.blocks() as f64;
        let counted = (section.counted.end - section.counted.start) as f64;
        // The blocks that are counted do what the others do, as far as there are enough lines to see it.
        let expected = moved.share * counted / blocks;
        let is_typical = |own: &Passed| {
            let is_seen = own.lines > ENOUGH_LINES && own.of_launch * expected > ENOUGH;
            !is_seen || TYPICAL.contains(&(own.requested / (own.of_launch * expected)))
        };
        if !moved.reads.iter().chain([&moved.stores]).all(is_typical) {
            return false;
        }
        let mut reads = self.first_touches(&section, |family| family.reads);
        let mut stores = self.first_touches(&section, |family| family.stores);
        reads.check(moved.reads.iter().map(|own| own.new).sum(), moved.share);
        stores.check(moved.stores.new, moved.share);
        // What is touched for the first time is known; the sample has what comes to that, for as many requests.
        let beyond = |own: &Passed| {
            let scale = match own.lines > ENOUGH_LINES {
                true => own.of_launch / own.requested,
                false => blocks / counted / moved.share,
            };
            (own.moved - own.new) * scale
        };
        let mut read = reads.launch + moved.reads.iter().map(beyond).sum::<f64>();
        let mut written = stores.launch + beyond(&moved.stores);
        if counted < blocks {
            // Where each thread stores its own, stores say how many blocks do as much as those that are counted.
            let like = if stores.before == 0.0 && stores.counted > 0.0 {
                stores.launch / stores.counted
            } else {
                blocks / counted
            };
            // The first blocks touch for the first time what later ones come back to.
            let early = (reads.launch - (reads.counted - reads.before) * like).max(0.0);
            read += reads.before * like - moved.lost_of_last(early / like * moved.share) / moved.share * like;
            written += stores.before * like;
            // L2 still has some of it at the end.
            let holds = self.hierarchy.l2.bytes() as f64 / 32.0;
            written -= (moved.left / moved.share).clamp(0.0, holds);
        }
        found.sampled = Some(Sampled { sets: moved.share, blocks: counted / blocks });
        found.dram_loads += 32.0 * read.max(0.0);
        found.dram_stores += 32.0 * written.max(0.0).min(requested.stored);
        found.rough |= reads.rough || stores.rough;
        let (again, lost) = moved.again.iter().fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        if again > MATTERS * moved.reads.iter().map(|own| own.new).sum::<f64>() {
            found.l2_reuse_oversubscription = moved.full / again;
            found.l2_reuse_lost = f64::min(lost / again, 1.0);
        }
        true
    }

    /// What wanted accesses touch for the first time.
    fn first_touches(&self, section: &Section<'_>, wanted: fn(&Family) -> bool) -> FirstTouches {
        let of = |blocks: Range<u64>| self.union(wanted, &boxes(blocks.start, blocks.end, self.launch.grid), SECTOR);
        let all = of(0..self.launch.blocks());
        let mut found = FirstTouches { launch: all.sectors, counted: all.sectors, before: 0.0, rough: all.rough };
        if section.counted != (0..self.launch.blocks()) {
            let Range { start, end } = section.counted;
            found.counted = of(section.blocks.start..end).sectors - of(section.blocks.start..start).sectors;
            let new = of(0..end).sectors - of(0..start).sectors;
            found.before = if found.counted - new > MATTERS * found.counted { found.counted - new } else { 0.0 };
        }
        found
    }

    /// By access: the share of the sectors it loads that L1 misses, as the replayed blocks had it, so that all of them miss so many sectors.
    fn missed_in_l1(&self, replay: &Replay, sectors: f64) -> Vec<f64> {
        let share = |number: usize| match replay.by_access.get(number) {
            Some(one) if one.loaded > 0 => one.missed_share(),
            _ if replay.counted.loaded > 0 => replay.counted.missed_share(),
            _ => 1.0,
        };
        let loads = self.all.0.iter().enumerate().filter(|(_, access)| access.loads);
        let of_replay: f64 = loads.map(|(number, access)| access.sectors * share(number)).sum();
        let scale = if of_replay > 0.0 { sectors / of_replay } else { 1.0 };
        (0..self.all.0.len()).map(|number| (share(number) * scale).min(1.0)).collect()
    }
}
