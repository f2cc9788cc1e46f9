//! What an L2 of two partitions loses of lines that SMs of both sides use again and again.
//!
//! An SM asks the partition on its own side (`hierarchy/l2/level2.rs`). A line's home is one of the two; the other one keeps a copy once its
//! SMs have loaded the line, and fetches from the home what it has lost. As long as its copy is hit, the home is not told, so a
//! line that the other side alone uses for a while grows old at home, and DRAM serves the next use from the home's own side. Which side uses a
//! line is taken to be a matter of chance, as blocks come to SMs in the order in which others end.

use super::flow::{Flow, LINE, SECTOR};
use super::replay::golden;
use super::volumes::{Blocks, Family, boxes};
use super::windows::Reuse;

/// Uses back to which ages are told apart.
pub(super) const AGES: usize = 8;

/// The probability that a copy is gone when a line is used from its side, over that of a change of sides. Estimated: a copy is new to a line of few uses, and
/// may have been lost since. With 0 an H100's counters are met less well, its simulation as well (`docs/design/prediction.md`).
const GONE: f64 = 0.8;
/// Probability that the next use of a line comes from the same partition: the number of a block does not decide its partition
/// ([`warpline_simulator::hierarchy::L2Config::partition_of_sm`]).
const SAME_PARTITION: f64 = 0.5;

/// Difference of shares that does not matter.
const ALIKE: f64 = 0.01;

/// Ages by partition: the number of uses since a partition was last asked for the line, less one; `AGES` where it was never asked.
type Ages<T> = [[T; AGES + 1]; AGES + 1];

/// Which sides use the lines that a run of blocks reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sides {
    /// The share of the lines that are used from both sides.
    pub(super) both: f64,
    /// The probability that the next use is one of the same side.
    pub(super) same: f64,
    /// Lines that a run reads, over its blocks.
    pub(super) lines: f64,
    /// Lines that the launch reads, over its blocks.
    pub(super) new: f64,
}

impl Sides {
    /// The probability that a use of a line comes from DRAM, by the number of earlier uses, less one. `lost` is the probability that a
    /// partition has lost what it was last asked for so many uses ago, less one.
    pub(super) fn missed(&self, lost: &[f64; AGES]) -> [f64; AGES] {
        let lost = |age: usize| lost.get(age).copied().unwrap_or(1.0);
        let older = |age: usize| (age + 1).min(if age == AGES { AGES } else { AGES - 1 });
        let (both, one) = (self.both, 1.0 - self.both);
        // By the side of the use before, the home's and the other one. The first use leaves the line at home, and in the other partition
        // where it is one of the other side.
        let mut states: [Ages<f64>; 2] = Default::default();
        states[0][0][AGES] = one / 2.0;
        states[0][0][0] = both / 2.0;
        states[1][0][0] = 0.5;
        let mut found = [0.0; AGES];
        for found in &mut found {
            let mut next: [Ages<f64>; 2] = Default::default();
            for (last, ages) in states.iter().enumerate() {
                let near = if last == 0 { self.same } else { 1.0 - self.same };
                for (home, row) in ages.iter().enumerate() {
                    for (copy, &chance) in row.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
                        // From both sides.
                        *found += chance * both * lost(home);
                        next[0][0][0] += chance * both / 2.0;
                        next[1][0][0] += chance * both / 2.0;
                        // From the home's side alone.
                        *found += chance * one * near * lost(home);
                        next[0][0][older(copy)] += chance * one * near;
                        // From the other side alone: the copy is hit, or comes from the home again.
                        let far = chance * one * (1.0 - near);
                        *found += far * lost(copy) * lost(home);
                        next[1][older(home)][0] += far * (1.0 - lost(copy));
                        next[1][0][0] += far * lost(copy);
                    }
                }
            }
            states = next;
        }
        found
    }

    /// Room in both partitions together of so many lines that so many blocks read, in lines.
    pub(super) fn room(&self, read: f64, blocks: f64) -> f64 {
        let uses = (self.lines * blocks / read.max(1.0)).max(1.0);
        let new = (self.new * blocks / read.max(1.0)).min(1.0);
        let present = (1.0 - GONE * (1.0 - self.same)) * (1.0 - new);
        let one_side = (1.0 - self.both).powf(uses) * self.same.powf(uses - 1.0) / 2.0;
        read * (2.0 - (1.0 + present) * one_side)
    }
}

/// When what a run of blocks reads was read before.
#[derive(Clone, Copy, Debug)]
pub(super) struct History {
    /// Sectors that the run reads.
    pub(super) alone: f64,
    /// Of these what was touched before.
    pub(super) again: f64,
    /// Blocks since it was read last, and maybe between that and the time before, and so on.
    pub(super) apart: u64,
    /// When the run begins and ends.
    pub(super) run: (u64, u64),
}

impl Reuse<'_> {
    /// The share that both partitions miss of what a run reads again. `full` are the footprints of stretches of a length up to the run's
    /// end, over what L2 holds.
    pub(super) fn missed(&self, sides: &Sides, history: &History, full: &mut impl FnMut(u64) -> f64) -> f64 {
        let &History { alone, again, apart, run: (first, end) } = history;
        let mut lost_after = |uses: u64| self.sets.lost(full((apart * uses).min(end)));
        // Nothing is lost, or all.
        let (first_lost, last_lost) = (lost_after(1), lost_after(AGES as u64));
        if last_lost - first_lost < ALIKE {
            return first_lost;
        }
        let mut lost = [last_lost; AGES];
        lost[0] = first_lost;
        for uses in 2..AGES as u64 {
            lost[uses as usize - 1] = lost_after(uses);
            // What is older is lost as well.
            if lost[uses as usize - 1] > last_lost - ALIKE {
                break;
            }
        }
        let missed = sides.missed(&lost);
        // By how much of it was used so many times before.
        let own = self.stagger.stretch(first, end);
        let reads = |family: &Family| family.reads;
        let used_before = |time: u64| {
            let window = self.stagger.stretch(0, time);
            let touched = self.union(reads, &window, SECTOR).sectors;
            let both = |family: &Family| match family.reads {
                true => [own.of(family.part), window.of(family.part)],
                false => [&[][..], &[]],
            };
            (alone + touched - self.footprints.union_of(both, SECTOR).sectors) / again.max(1.0)
        };
        let (mut share, mut sum) = (1.0, 0.0);
        for (uses, of_these) in (1u64..).zip(missed) {
            let before = uses * apart + apart / 2;
            // Those that were used more often miss as often.
            let settled = missed[AGES - 1] - of_these < ALIKE;
            let more = match !settled && share > ALIKE && before < end {
                true => used_before((end - before).min(first)).clamp(0.0, share),
                false => 0.0,
            };
            sum += (share - more) * of_these;
            share = more;
        }
        sum
    }
}

impl Flow<'_> {
    /// Which sides use the lines of a run of so many blocks in the middle of the launch, from what one of its blocks alone reads.
    pub(super) fn sides(&self, run: u64) -> Sides {
        let blocks = self.launch.blocks();
        // Half of the grid is where a plane begins, whose first rows may do nothing.
        let first = ((golden(1) * blocks as f64) as u64).min(blocks.saturating_sub(run));
        let end = (first + run).min(blocks);
        let middle = first.midpoint(end);
        let lines = |runs: &[(u64, u64)]| {
            let own: Vec<Blocks> = runs.iter().flat_map(|&(first, end)| boxes(first, end, self.launch.grid)).collect();
            self.union(|family| family.reads, &own, LINE).sectors
        };
        let (all, alone) = (lines(&[(first, end)]), lines(&[(middle, middle + 1)]));
        let of_one = (all - lines(&[(first, middle), (middle + 1, end)])).max(0.0);
        let count = (end - first) as f64;
        // The other lines are read by several blocks, all of them on one side with a probability of 2^(1 - blocks).
        let shared = (all - count * of_one).max(0.0);
        let both = match shared > 0.0 {
            true => {
                let readers = (count * (alone - of_one) / shared).max(2.0);
                shared / all * (1.0 - 2.0f64.powf(1.0 - readers))
            }
            false => 0.0,
        };
        Sides { both, same: SAME_PARTITION, lines: all / count, new: lines(&[(0, blocks)]) / blocks as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways in which uses can come from the sides, each with the ages of both partitions by themselves.
    fn one_by_one(sides: &Sides, kept: usize, uses: usize) -> f64 {
        #[derive(Clone)]
        struct Line {
            chance: f64,
            last_far: bool,
            home: Option<usize>,
            copy: Option<usize>,
        }
        let fresh = |last_far, copy: Option<usize>, chance| Line { chance, last_far, home: Some(0), copy };
        let mut lines = vec![
            fresh(false, None, (1.0 - sides.both) / 2.0),
            fresh(true, Some(0), (1.0 - sides.both) / 2.0),
            fresh(false, Some(0), sides.both / 2.0),
            fresh(true, Some(0), sides.both / 2.0),
        ];
        let mut missed = 0.0;
        for number in 1..=uses {
            let mut next = Vec::new();
            missed = 0.0;
            for line in lines {
                // As many uses later as `kept` a partition has it still.
                let has = |at: Option<usize>| at.is_some_and(|at| number - at <= kept);
                let far = if line.last_far { sides.same } else { 1.0 - sides.same };
                let from_dram = !has(line.home);
                for (last_far, share) in [(false, sides.both / 2.0), (true, sides.both / 2.0)] {
                    let chance = line.chance * share;
                    missed += if from_dram { chance } else { 0.0 };
                    next.push(Line { chance, last_far, home: Some(number), copy: Some(number) });
                }
                let near_chance = line.chance * (1.0 - sides.both) * (1.0 - far);
                missed += if from_dram { near_chance } else { 0.0 };
                next.push(Line { chance: near_chance, last_far: false, home: Some(number), copy: line.copy });
                let far_chance = line.chance * (1.0 - sides.both) * far;
                if has(line.copy) {
                    next.push(Line { chance: far_chance, last_far: true, home: line.home, copy: Some(number) });
                } else {
                    missed += if from_dram { far_chance } else { 0.0 };
                    next.push(Line { chance: far_chance, last_far: true, home: Some(number), copy: Some(number) });
                }
            }
            lines = next;
        }
        missed
    }

    #[test]
    fn ages_of_both_partitions_follow_their_uses() {
        for (both, same) in [(0.0, 0.5), (0.2, 0.5), (0.1, 0.8), (1.0, 0.5)] {
            let sides = Sides { both, same, lines: 1.0, new: 0.0 };
            for kept in 0..AGES {
                let mut lost = [0.0; AGES];
                lost[kept..].fill(1.0);
                let found = sides.missed(&lost);
                for (number, found) in (1..=6).zip(found) {
                    let want = one_by_one(&sides, kept, number);
                    assert!((found - want).abs() < 1e-12, "{both} {same} {kept} {number}: {found} {want}");
                }
            }
        }
    }

    #[test]
    fn lines_take_up_to_two_places() {
        let sides = Sides { both: 0.0, same: 0.5, lines: 10.0, new: 1.0 };
        // Ten blocks read 100 lines once, or 10 lines ten times, or 50 lines twice each, 10 of which are new.
        assert!((sides.room(100.0, 10.0) - 100.0 * (1.0 + (GONE / 2.0 + 0.1 * (1.0 - GONE / 2.0)) / 2.0)).abs() < 1e-9);
        assert!((sides.room(10.0, 10.0) - 20.0).abs() < 0.05);
        let twice = sides.room(50.0, 10.0);
        assert!(twice > 75.0 && twice < 100.0, "{twice}");
        let all = Sides { both: 1.0, ..sides };
        assert_eq!(all.room(100.0, 10.0), 200.0);
    }
}
