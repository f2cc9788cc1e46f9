//! Which blocks an SM gets: the rules of [`warpline_format::schedule`], block by block.
//!
//! Blocks of which the whole is cut off by the kernel's bounds end at once, and those at edges early, so the blocks of an SM are
//! not every so many-th of the grid. Only the number of turns of each warp is looked at, and between two ends of blocks
//! round robin is worked out at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use crate::simd::processor;

/// Turns that each warp of a block takes.
pub type Turns = Rc<Vec<u32>>;

/// An SM's warps, in the order of its slots.
struct Dealing {
    /// Turns that are left by slot; 0 is an empty slot.
    left: Vec<u32>,
    /// Slot that has the next turn.
    next: usize,
    /// How often the turn came past the first slot.
    rotation: u64,
    /// Steps that went by.
    time: u64,
    /// By place: rotation and slot of its block's last turn.
    ends: Vec<Option<(u64, usize)>>,
}

impl Dealing {
    fn new(resident: usize, warps: usize) -> Dealing {
        Dealing { left: vec![0; resident * warps], next: 0, rotation: 0, time: 0, ends: vec![None; resident] }
    }

    /// A block whose warps take so many turns begins at a place.
    #[inline(always)]
    fn start(&mut self, place: usize, turns: &[u32]) {
        let first = place * turns.len();
        self.left[first..first + turns.len()].copy_from_slice(turns);
        let last = turns.iter().enumerate().map(|(warp, &turns)| {
            let slot = first + warp;
            (self.rotation + u64::from(slot < self.next) + u64::from(turns) - 1, slot)
        });
        self.ends[place] = last.max();
    }

    /// The place whose block ends first, the slot of its last turn, and the turns dealt until then.
    #[inline(always)]
    fn first_end(&self) -> Option<(usize, usize, u64)> {
        let ends = self.ends.iter().enumerate().filter_map(|(place, end)| end.map(|end| (end, place)));
        let ((_, slot), place) = ends.min()?;
        let rounds = self.left[slot];
        let sum = |slots: &[u32], most: u32| slots.iter().map(|&left| u64::from(left.min(most))).sum::<u64>();
        let dealt = self.parts(slot).map(|(part, less)| sum(&self.left[part], rounds - less));
        Some((place, slot, dealt.into_iter().sum()))
    }

    /// Deals turns until a slot has had its last one.
    #[inline(always)]
    fn advance(&mut self, place: usize, slot: usize, dealt: u64) {
        let rounds = self.left[slot];
        for (part, less) in self.parts(slot) {
            self.left[part].iter_mut().for_each(|left| *left -= (*left).min(rounds - less));
        }
        if let Some((rotation, _)) = self.ends[place].take() {
            self.rotation = rotation + u64::from(slot + 1 == self.left.len());
        }
        self.next = (slot + 1) % self.left.len();
        self.time += dealt;
    }

    /// Slots up to one in the order of turns, and those behind it, which have had a turn less by then.
    #[inline(always)]
    fn parts(&self, slot: usize) -> [(Range<usize>, u32); 3] {
        let (next, count) = (self.next, self.left.len());
        match slot >= next {
            true => [(0..next, 1), (next..slot + 1, 0), (slot + 1..count, 1)],
            false => [(0..slot + 1, 0), (slot + 1..next, 1), (next..count, 0)],
        }
    }
}

/// Deals some blocks out, those before them taken to be over; the blocks of each SM in `wanted`, in the order in which they start.
pub fn dealt(
    blocks: Range<u64>,
    (sms, resident): (u64, usize),
    warps: usize,
    turns: impl FnMut(u64) -> Turns,
    wanted: &[u64],
) -> Vec<Vec<u64>> {
    processor::with_newer_instructions(Deal { blocks, sms, resident, warps, turns, wanted })
}

struct Deal<'a, F> {
    blocks: Range<u64>,
    sms: u64,
    resident: usize,
    warps: usize,
    turns: F,
    wanted: &'a [u64],
}

impl<F: FnMut(u64) -> Turns> processor::Job for Deal<'_, F> {
    type Output = Vec<Vec<u64>>;

    #[inline(always)]
    fn run(self) -> Vec<Vec<u64>> {
        let Deal { blocks, sms, resident, warps, turns, wanted } = self;
        deal(blocks, (sms, resident), warps, turns, wanted)
    }
}

#[inline(always)]
fn deal(
    blocks: Range<u64>,
    (sms, resident): (u64, usize),
    warps: usize,
    mut turns: impl FnMut(u64) -> Turns,
    wanted: &[u64],
) -> Vec<Vec<u64>> {
    let used = sms.min(blocks.end - blocks.start) as usize;
    let mut all: Vec<Dealing> = (0..used).map(|_| Dealing::new(resident, warps)).collect();
    let mut found = vec![Vec::new(); wanted.len()];
    let mut next = blocks.start;
    let mut start = |sm: usize, dealing: &mut Dealing, place: usize, block: u64| {
        dealing.start(place, &turns(block));
        for (list, _) in found.iter_mut().zip(wanted).filter(|(_, wanted)| **wanted == sm as u64) {
            list.push(block);
        }
    };
    for place in 0..resident {
        for (sm, dealing) in all.iter_mut().enumerate() {
            if next < blocks.end {
                start(sm, dealing, place, next);
                next += 1;
            }
        }
    }
    // SMs advance in step, and within a step in rising order.
    let end_of = |sm: usize, dealing: &Dealing| {
        dealing.first_end().map(|(place, slot, dealt)| Reverse((dealing.time + dealt, sm, place, slot, dealt)))
    };
    let mut ends: BinaryHeap<_> = all.iter().enumerate().filter_map(|(sm, dealing)| end_of(sm, dealing)).collect();
    while next < blocks.end {
        let Some(Reverse((_, sm, place, slot, dealt))) = ends.pop() else { break };
        let dealing = &mut all[sm];
        dealing.advance(place, slot, dealt);
        start(sm, dealing, place, next);
        next += 1;
        ends.extend(end_of(sm, dealing));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;
    use warpline_format::schedule::{self, Shape, TurnEnd, WarpStreams};

    use super::*;

    /// Warps of so many turns; keeps the SM of each block as it starts.
    struct Counted<'a> {
        turns: &'a [Vec<u32>],
        left: Vec<u32>,
        slots: u32,
        started: Vec<(u32, u64)>,
    }

    impl WarpStreams for Counted<'_> {
        type Error = Infallible;

        fn start_block(&mut self, block: u64, first_slot: u32) -> Result<(), Infallible> {
            let turns = &self.turns[block as usize];
            self.left[first_slot as usize..][..turns.len()].copy_from_slice(turns);
            self.started.push((first_slot / self.slots, block));
            Ok(())
        }

        fn turn(&mut self, slot: u32, _: u32) -> Result<TurnEnd, Infallible> {
            let left = &mut self.left[slot as usize];
            *left -= 1;
            Ok(if *left == 0 { TurnEnd::Finished } else { TurnEnd::Budget })
        }

        fn end_block(&mut self, _: u64, _: u32) -> Result<(), Infallible> {
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn blocks_go_where_the_scheduler_puts_them(sms in 1u32..5, resident in 1u32..4,
                turns in (1usize..4).prop_flat_map(|warps| prop::collection::vec(prop::collection::vec(1u32..9, warps), 1..40))) {
            let warps = turns[0].len() as u32;
            let shape = Shape { blocks: turns.len() as u64, warps, sms, resident, turn: 1 };
            let slots = shape.slots_per_sm();
            let mut counted = Counted { turns: &turns, left: vec![0; (slots * sms) as usize], slots, started: Vec::new() };
            schedule::run(&shape, &mut counted).unwrap();
            let wanted: Vec<u64> = (0..u64::from(sms)).collect();
            let found = dealt(0..shape.blocks, (sms.into(), resident as usize), warps as usize,
                |block| Rc::new(turns[block as usize].clone()), &wanted);
            for (sm, found) in found.iter().enumerate() {
                let want: Vec<u64> = counted.started.iter().filter(|one| one.0 == sm as u32).map(|one| one.1).collect();
                prop_assert_eq!(found, &want, "SM {}", sm);
            }
        }
    }
}
