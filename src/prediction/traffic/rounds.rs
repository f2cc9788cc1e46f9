//! What L2 loses between two turns of a warp.
//!
//! A warp makes a few requests in a turn, and all other warps have theirs before its next one. What it comes back to then, as another member of the same
//! structures, is lost where a round of turns touches more than L2 holds. Blocks of one length keep step, so a round is the end of a turn for some of the warps
//! and the begin of the next for the others.

use super::caches::Traffic;
use super::curves::Sets;
use super::flow::{Flow, LINE, SECTOR};
use super::replay::turns_of;
use super::stagger::Stagger;
use super::volumes::{Blocks, Family, Footprints, boxes};
use super::windows::Run;

/// A share that does not matter.
const LITTLE: f64 = 1e-6;
/// Share of what blocks load again that goes to L2, below which L1 is taken to keep it.
const MOSTLY: f64 = 0.5;

/// What blocks do in turns.
pub(super) struct Rounds<'f, 'a> {
    flow: &'f Flow<'a>,
    /// Accesses, apart by turn.
    footprints: Footprints<'a>,
    /// By access: its turn.
    turns: Vec<usize>,
    /// By turn: the part of the code in which runs of blocks have it.
    parts: Vec<usize>,
    /// Share of what blocks load again in another turn that goes to L2.
    missed: f64,
}

/// Loads of what the same threads have loaded before, one structure after the other, for the most part hit L1, and leave L2 as it is.
#[derive(Debug)]
pub(super) struct Kept {
    /// By allocation: the first part of the code that loads it; empty where L1 keeps nothing.
    first: Vec<Option<usize>>,
    /// The share of what is loaded again within a wave that L2 is asked for.
    pub(super) missed: f64,
}

impl Kept {
    /// Where nothing is known of what threads come back to.
    pub(super) fn nothing() -> Kept {
        Kept { first: Vec::new(), missed: 1.0 }
    }

    /// Whether L2 is asked.
    pub(super) fn reaches_l2(&self, family: &Family) -> bool {
        let first = self.first.get(family.allocation).copied().flatten();
        !family.loads || first.is_none_or(|first| family.part <= first)
    }
}

impl<'f, 'a> Rounds<'f, 'a> {
    /// Of blocks that ask L2 for so much, `loaded` sectors being requested of L1.
    pub(super) fn new(flow: &'f Flow<'a>, stagger: &Stagger, (traffic, loaded): (&Traffic, f64)) -> Self {
        let turns = turns_of(flow.accesses, flow.capacity.turn);
        let count = turns.last().map_or(0, |last| last + 1);
        let part = |turn: usize| turns.iter().position(|own| *own == turn).map_or(0, |access| stagger.part_of[access]);
        let parts = (0..count).map(part).collect();
        let footprints = Footprints::in_parts(flow.accesses, flow.bounds, |access| turns[access]);
        let mut found = Rounds { flow, footprints, turns, parts, missed: 0.0 };
        let of_blocks = traffic.block_load_sectors * flow.launch.blocks() as f64;
        let missed = (traffic.l2_loads / 32.0 - of_blocks).max(0.0);
        let again = match flow.is_linear() {
            // What they load twice in one turn L1 keeps.
            true => found.loaded_again(),
            false => (loaded - of_blocks).max(1.0),
        };
        found.missed = if again > 0.0 { (missed / again).min(1.0) } else { 0.0 };
        found
    }

    /// Sectors that all blocks load in a turn that they have loaded in one before.
    fn loaded_again(&self) -> f64 {
        let of_block = |own: &[Blocks]| {
            let of = |wanted: &dyn Fn(&Family) -> bool| {
                self.footprints.union(|one| one.loads && wanted(one), own, SECTOR).sectors
            };
            let in_turns: f64 = (0..self.parts.len()).map(|turn| of(&|one| one.part == turn)).sum();
            Run { loads: in_turns - of(&|_| true), ..Run::default() }
        };
        self.of_blocks(of_block).loads
    }

    /// Of all blocks, by some of them.
    fn of_blocks(&self, of: impl Fn(&[Blocks]) -> Run) -> Run {
        let (mut sum, mut looked_at) = (Run::default(), 0u64);
        for block in self.flow.samples() {
            looked_at += 1;
            sum.add(&of(&boxes(block, block + 1, self.flow.launch.grid)), 1.0);
        }
        let mut all = Run::default();
        all.add(&sum, self.flow.launch.blocks() as f64 / looked_at.max(1) as f64);
        all
    }

    /// What L1 keeps of accesses in such parts.
    pub(super) fn kept(&self, part_of: &[usize]) -> Kept {
        if !self.flow.is_linear() {
            return Kept::nothing();
        }
        let mut first = Vec::new();
        let loads = self.flow.accesses.iter().zip(part_of).filter(|(access, _)| access.loads);
        for (access, &part) in loads.filter(|_| self.missed < MOSTLY) {
            first.resize(first.len().max(access.allocation + 1), None);
            first[access.allocation].get_or_insert(part);
        }
        Kept { first, missed: self.missed }
    }

    /// Sectors that all blocks read from DRAM again and write to it again because L2, of such `sets`, has lost them since another turn. What lies between two
    /// parts of the code is left to runs of blocks, but for what stores leave incomplete.
    pub(super) fn lost(&self, wave: (u64, u64), sets: Sets) -> Run {
        let mut found = Run::default();
        let kept = self.kept(&self.turns);
        for turn in 1..self.parts.len() {
            // Itself a line does not push out.
            let others = self.full_between(&kept, turn, wave) - sets.filled / f64::from(sets.ways.max(1));
            let lost = sets.lost(others);
            if lost > LITTLE {
                found.add(&self.of_blocks(|own| self.again_in(turn, own)), lost);
            }
        }
        found
    }

    /// What a wave touches between a turn of a warp in its middle and the one before, over what L2 holds.
    fn full_between(&self, kept: &Kept, turn: usize, (first, end): (u64, u64)) -> f64 {
        let (middle, grid) = (first.midpoint(end), self.flow.launch.grid);
        let (early, late) = (boxes(first, middle, grid), boxes(middle, end, grid));
        let of = |family: &Family| match family.part {
            _ if !kept.reaches_l2(family) => [&[][..], &[]],
            own if own == turn => [&early[..], &[]],
            own if own + 1 == turn => [&late[..], &[]],
            _ => [&[][..], &[]],
        };
        self.footprints.union_of(of, LINE).sectors * LINE as f64 / self.flow.capacity.l2
    }

    /// What a block reads and stores again in a turn that it has touched in one before.
    fn again_in(&self, turn: usize, own: &[Blocks]) -> Run {
        let mut found = Run::default();
        let of = |wanted: &dyn Fn(&Family) -> bool| self.footprints.union(wanted, own, SECTOR).sectors;
        let both = |some: &dyn Fn(&Family) -> bool, others: &dyn Fn(&Family) -> bool| {
            (of(some) + of(others) - of(&|family| some(family) || others(family))).max(0.0)
        };
        let incomplete = |wanted: &dyn Fn(&Family) -> bool| {
            let whole = self.footprints.whole_sectors(wanted, own).sectors;
            (1.0 - whole / of(wanted).max(1.0)).max(0.0)
        };
        let before = |family: &Family| family.part < turn;
        let stored_before = |family: &Family| family.part < turn && family.stores;
        let read_before = |family: &Family| family.part < turn && family.reads;
        let read = |family: &Family| family.part == turn && family.reads;
        let stored = |family: &Family| family.part == turn && family.stores;
        let stored_later = |family: &Family| family.part >= turn && family.stores;
        let stored_ever = |family: &Family| family.stores;
        let twice = both(&stored, &stored_before);
        let is_within = self.parts[turn] == self.parts[turn - 1];
        if is_within {
            found.loads += both(&read, &before) * self.missed;
            found.stores += twice;
        }
        if of(&stored) == 0.0 {
            return found;
        }
        // What was stored so far goes incomplete, unless it had been read, and so does what is stored from here on.
        let not_read = 1.0 - (both(&stored_before, &read_before) / of(&stored_before).max(1.0)).min(1.0);
        // What L2 is asked for in the same turn is there again.
        let here = both(&stored, &read) * self.missed;
        let completed = twice * not_read * incomplete(&stored_before)
            + (both(&stored, &before) - here).max(0.0) * incomplete(&stored_later);
        // Runs of blocks complete what stays incomplete to the end, once or with each part.
        let known = twice * not_read * incomplete(&stored_ever) * if is_within { 1.0 } else { 2.0 };
        found.loads += (completed - known).max(0.0);
        found
    }
}
