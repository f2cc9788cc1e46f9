//! What a run of blocks finds in L2 of what earlier blocks touched.
//!
//! What it shares with a window of earlier runs only grows with the window. So where two windows share as much, those between them
//! do, and need no count: of a stencil, only the windows that reach a row or a plane back are looked at.

use rustc_hash::FxHashMap;

use super::curves::Sets;
use super::flow::{LINE, SECTOR};
use super::partitions::{History, Sides};
use super::rounds::Kept;
use super::stagger::{Stagger, Stretch};
use super::volumes::{Family, Footprints, Union};

/// Footprint over capacity from which nothing is taken to be left of what was touched before.
const FORGOTTEN: f64 = 1.6;
/// Share of what a run reads below which it does not matter from which side it was read before.
const LITTLE: f64 = 0.01;

/// Sectors that a run of blocks reads, and moves between L2 and DRAM, or sums over runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    pub(super) distinct: f64,
    pub(super) loads: f64,
    pub(super) stores: f64,
    /// Of what it reads, what a run before touched, and how much of that comes from DRAM again.
    pub(super) again: f64,
    pub(super) lost: f64,
    /// What no run before touched.
    pub(super) new_reads: f64,
    pub(super) new_stores: f64,
    pub(super) rough: bool,
}

impl Run {
    /// Adds a run that stands for so many.
    pub(super) fn add(&mut self, other: &Run, times: f64) {
        self.distinct += other.distinct * times;
        self.loads += other.loads * times;
        self.stores += other.stores * times;
        self.again += other.again * times;
        self.lost += other.lost * times;
        self.new_reads += other.new_reads * times;
        self.new_stores += other.new_stores * times;
        self.rough |= other.rough;
    }
}

/// Whether runs move as much, but for a share of what they read, and but for what is touched for the first time where that is known anyway.
pub(super) fn agree(runs: &[Run], share: f64, again: bool) -> bool {
    let spread = |of: fn(&Run) -> f64| {
        let (least, most) =
            runs.iter().map(of).fold((f64::MAX, 0.0f64), |(least, most), one| (least.min(one), most.max(one)));
        most - least
    };
    let reads = runs.iter().map(|run| run.distinct).fold(0.0, f64::max);
    let (loads, stores) = match again {
        true => (spread(|run| run.loads - run.new_reads), spread(|run| run.stores - run.new_stores)),
        false => (spread(|run| run.loads), spread(|run| run.stores)),
    };
    loads.max(stores) <= share * reads
}

/// Numbers of windows at which the run before found a change. Runs of a launch are alike for the most part, so the next one looks
/// there first; what it finds is the same without.
#[derive(Debug, Default)]
pub(super) struct Hints {
    forgotten: Vec<usize>,
    reads: Vec<usize>,
    stores: Vec<usize>,
    /// Windows of a length are taken to touch as much, wherever they are: it only says how much of what they share L2 has lost.
    alike: bool,
    /// By number of blocks: what such a window and the run behind it touch, over what L2 holds.
    fulls: FxHashMap<u64, f64>,
}

impl Hints {
    /// Of runs whose windows are `alike` where they are as long.
    pub(super) fn new(alike: bool) -> Hints {
        Hints { alike, ..Hints::default() }
    }
}

/// Accesses over the time of a launch, and the L2 that they meet.
pub(super) struct Reuse<'a> {
    /// Apart by the parts of the code in `stagger`.
    pub(super) footprints: Footprints<'a>,
    pub(super) stagger: Stagger,
    /// Bytes that L2 holds, all partitions together.
    pub(super) capacity: f64,
    pub(super) sets: Sets,
    /// Where it has two partitions.
    pub(super) sides: Option<Sides>,
    /// What L1 keeps.
    pub(super) kept: Kept,
    /// Blocks that run side by side.
    pub(super) wave: u64,
}

impl Reuse<'_> {
    /// Distinct pieces that wanted accesses touch in a stretch.
    pub(super) fn union(&self, wanted: impl Fn(&Family) -> bool, stretch: &Stretch, grain: i64) -> Union {
        self.footprints.union_of(|family| [if wanted(family) { stretch.of(family.part) } else { &[] }, &[]], grain)
    }

    /// Sectors that the launch reads, and that it stores, each of which is touched for the first time once. Not known where it reads what it
    /// stores, too.
    pub(super) fn first_touches(&self) -> Option<(f64, f64)> {
        if self.in_place() {
            return None;
        }
        let all = self.stagger.stretch(0, self.stagger.end());
        let sectors = |wanted: fn(&Family) -> bool| self.union(wanted, &all, SECTOR).sectors;
        Some((sectors(|family| family.reads), sectors(|family| family.stores)))
    }

    /// Whether something is stored to an allocation that is read.
    fn in_place(&self) -> bool {
        let stored_too = |read: &Family| {
            let alike = |stored: &Family| stored.stores && stored.allocation == read.allocation;
            read.reads && self.footprints.any(alike)
        };
        self.footprints.any(stored_too)
    }

    /// What is touched between two times, over what L2 holds.
    pub(super) fn full(&self, first: u64, end: u64) -> f64 {
        let stretch = self.stagger.stretch(first, end);
        let lines = |wanted: fn(&Family) -> bool| {
            self.union(|family| wanted(family) && self.kept.reaches_l2(family), &stretch, LINE).sectors
        };
        let room = match &self.sides {
            Some(sides) => {
                let read = lines(|family| family.reads);
                let stored = match self.in_place() {
                    true => (lines(|_| true) - read).max(0.0),
                    false => lines(|family| !family.reads),
                };
                stored + sides.room(read, (end - first) as f64)
            }
            None => lines(|_| true),
        };
        room * LINE as f64 / self.capacity
    }

    /// What a run of blocks reads from and writes to DRAM. Of its stored sectors, the share `incomplete` is completed from DRAM.
    /// What is used again, and that times the footprint between the two uses, goes into `reused`.
    pub(super) fn run(
        &self,
        (first, end): (u64, u64),
        run: u64,
        incomplete: f64,
        reused: &mut (f64, f64),
        hints: &mut Hints,
    ) -> Run {
        let own = self.stagger.stretch(first, end);
        let reads = self.union(|family| family.reads, &own, SECTOR);
        let stores = self.union(|family| family.stores, &own, SECTOR);
        // Number 0 is the run alone.
        let windows = windows(first, run);
        let mut fulls = std::mem::take(&mut hints.fulls);
        let mut full_of = |length: u64| *fulls.entry(length).or_insert_with(|| self.full(end - length, end));
        let mut full = |number: usize| full_of(end - windows[number]);
        let mut fulls_before = FxHashMap::default();
        let mut full_before = |length: u64| match length {
            0 => 0.0,
            _ => *fulls_before.entry(length).or_insert_with(|| self.full(first - length, first)),
        };
        // The smallest that L2 forgets is the last that counts.
        let (mut last, mut below) = (windows.len() - 1, 0);
        while below + 1 < last {
            let middle = between(&hints.forgotten, below, last);
            if full(middle) > FORGOTTEN { last = middle } else { below = middle }
        }
        let of_reads = rising(last, &hints.reads, &mut |number| {
            self.overlap(|family| family.reads, reads.sectors, (windows[number], first, end))
        });
        let of_stores = rising(last, &hints.stores, &mut |number| {
            self.overlap(|family| family.stores, stores.sectors, (windows[number], first, end))
        });
        if last > 0 {
            hints.forgotten = vec![last - 1, last];
            (hints.reads, hints.stores) = (steps(&of_reads), steps(&of_stores));
        }
        let (mut kept_reads, mut kept_stores) = (0.0, 0.0);
        for number in 1..=last {
            let gained = |of: &[f64]| (of[number] - of[number - 1]).max(0.0);
            let (read, stores) = (gained(&of_reads), gained(&of_stores));
            if read == 0.0 && stores == 0.0 {
                continue;
            }
            // Between two uses in runs that are `n` apart lie `n` runs, half of the first and half of the last one among them: the mean of those without
            // the first one and of those without the last.
            let (from, before) = (windows[number], windows[number - 1]);
            let apart = (before - from).div_ceil(run).max(1) as f64;
            let (near, far) = (full_of(end - before), full_of(end - from));
            let without_first = near + (far - near) * (apart - 1.0) / (2.0 * apart);
            let (near, far) = (full_before(first - before), full_before(first - from));
            let without_last = near + (far - near) * (apart + 1.0) / (2.0 * apart);
            let between = (without_first + without_last) / 2.0;
            let lost = self.sets.lost(between);
            *reused = (reused.0 + read, reused.1 + read * between);
            kept_stores += stores * (1.0 - lost);
            let apart = (2 * end - windows[number - 1] - windows[number]).saturating_sub(run) / 2;
            let missed = match &self.sides {
                Some(sides) if read > LITTLE * reads.sectors => {
                    let history =
                        History { alone: reads.sectors, again: of_reads[last], apart: apart.max(1), run: (first, end) };
                    self.missed(sides, &history, &mut full_of)
                }
                _ => lost,
            };
            // Threads come back to what they have loaded within a wave.
            let asked = if first - from <= self.wave { self.kept.missed } else { 1.0 };
            kept_reads += read * (1.0 - missed * asked);
        }
        if hints.alike {
            hints.fulls = fulls;
        }
        // What was only read before is written back for the first time.
        if self.in_place() {
            kept_stores = kept_stores.min(self.stored_before(stores.sectors, (first, end)));
        }
        let before = |some: fn(&Family) -> bool, alone: f64, of: &[f64]| match last + 1 < windows.len() {
            true => alone - self.overlap(some, alone, (0, first, end)),
            false => alone - of[last],
        };
        let new_reads = before(|family| family.reads, reads.sectors, &of_reads);
        let again = (reads.sectors - new_reads).max(0.0);
        Run {
            again,
            lost: (again - kept_reads).max(0.0),
            new_reads,
            new_stores: before(|family| family.stores, stores.sectors, &of_stores),
            distinct: reads.sectors,
            // What a later part of the code stores of a sector again is the same sector.
            loads: (reads.sectors - kept_reads + (stores.sectors - kept_stores).max(0.0) * incomplete).max(0.0),
            stores: (stores.sectors - kept_stores).max(0.0),
            rough: reads.rough || stores.rough,
        }
    }

    /// Of `alone` sectors that a run of blocks stores, those that blocks before it stored.
    fn stored_before(&self, alone: f64, (first, end): (u64, u64)) -> f64 {
        let stored = |end| self.union(|family| family.stores, &self.stagger.stretch(0, end), SECTOR).sectors;
        (alone + stored(first) - stored(end)).clamp(0.0, alone)
    }

    /// What some accesses touch in the blocks from `first` on, `alone` sectors, of which something, whatever its kind,
    /// touched in the window of blocks before.
    fn overlap(&self, some: fn(&Family) -> bool, alone: f64, (from, first, end): (u64, u64, u64)) -> f64 {
        let stretch = |first, end| self.stagger.stretch(first, end);
        let (own, window, both) = (stretch(first, end), stretch(from, first), stretch(from, end));
        let near = |family: &Family| self.footprints.any(|one| some(one) && one.allocation == family.allocation);
        let touched = self.union(near, &window, SECTOR).sectors;
        // A run of blocks is fewer boxes than its two parts.
        let all = !self.footprints.any(|family| near(family) && !some(family));
        let together = self.footprints.union_of(
            |family| match (near(family), some(family), family.part) {
                (false, ..) => [&[], &[]],
                (.., part) if all => [both.of(part), &[]],
                (true, true, part) => [own.of(part), window.of(part)],
                (true, false, part) => [window.of(part), &[]],
            },
            SECTOR,
        );
        (alone + touched - together.sectors).clamp(0.0, alone)
    }
}

/// First blocks of windows of 0, 1, 2, 3, 4, 6, 8, 12, … runs before a block.
fn windows(first: u64, run: u64) -> Vec<u64> {
    let (mut found, mut last, mut count) = (vec![first], first, 1u64);
    while last > 0 {
        last = first.saturating_sub(count.saturating_mul(run.max(1)));
        found.push(last);
        count = if count.is_power_of_two() && count > 1 { count + count / 2 } else { count + count.div_ceil(3) };
    }
    found
}

/// A number between two others: the hint in the middle of those that lie there, or the middle itself.
fn between(hints: &[usize], low: usize, high: usize) -> usize {
    let inside = &hints[hints.partition_point(|&hint| hint <= low)..hints.partition_point(|&hint| hint < high)];
    inside.get(inside.len() / 2).copied().unwrap_or(low.midpoint(high))
}

/// Where values differ from those before them: both places.
fn steps(values: &[f64]) -> Vec<usize> {
    let differ = (1..values.len()).filter(|&at| values[at] != values[at - 1]);
    let mut found: Vec<usize> = differ.flat_map(|at| [at - 1, at]).collect();
    found.dedup();
    found
}

/// The values at 0, where it is 0, to `last` of a function that never falls. `hints`, which rise, are looked at first.
fn rising(last: usize, hints: &[usize], value: &mut dyn FnMut(usize) -> f64) -> Vec<f64> {
    fn fill(found: &mut [f64], low: usize, high: usize, hints: &[usize], value: &mut dyn FnMut(usize) -> f64) {
        if found[low] >= found[high] {
            let same = found[low];
            found[low..=high].fill(same);
        } else if low + 1 < high {
            let middle = between(hints, low, high);
            // What is estimated in part may fall.
            found[middle] = value(middle).clamp(found[low], found[high]);
            fill(found, low, middle, hints, value);
            fill(found, middle, high, hints, value);
        }
    }
    let mut found = vec![0.0; last + 1];
    if last > 0 {
        found[last] = value(last);
        fill(&mut found, 0, last, hints, value);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn windows_grow_to_the_first_block() {
        assert_eq!(windows(0, 4), [0]);
        assert_eq!(windows(3, 4), [3, 0]);
        assert_eq!(windows(100, 10), [100, 90, 80, 70, 60, 40, 20, 0]);
    }

    proptest! {
        #[test]
        fn plateaus_are_not_looked_at(steps in prop::collection::vec(0u32..3, 0..20), hints in prop::collection::btree_set(0usize..20, 0..6)) {
            let hints: Vec<usize> = hints.into_iter().collect();
            let mut want = vec![0.0];
            want.extend(steps.iter().scan(0, |sum, step| { *sum += step; Some(f64::from(*sum)) }));
            let mut asked = 0;
            let found = rising(steps.len(), &hints, &mut |at| { asked += 1; want[at] });
            prop_assert_eq!(&found, &want);
            if steps.iter().all(|step| *step == 0) {
                prop_assert!(asked <= 1);
            }
            // With what was found as hints, only the ends of plateaus are looked at.
            asked = 0;
            let hints = super::steps(&found);
            prop_assert_eq!(&rising(steps.len(), &hints, &mut |at| { asked += 1; want[at] }), &want);
            prop_assert!(asked <= hints.len() + 1);
        }
    }
}
