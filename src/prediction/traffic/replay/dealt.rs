//! Which blocks an SM gets: the rules of [`warpline_format::schedule`], block by block.
//!
//! Blocks of which the whole is cut off by the kernel's bounds end at once, and those at edges early, so the blocks of an SM are
//! not every so many-th of the grid. Only the number of turns of each warp is looked at, and between two ends of blocks
//! round robin is worked out at once.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use warpline_simulator::simd::processor;

/// A place among the turns of an SM.
#[derive(Clone, Copy)]
struct Position {
    rotation: u64,
    slot: usize,
}

impl Position {
    /// Bits of a slot's number.
    const SLOT: u32 = 20;

    /// Rotations in which a slot has had its turn before this one.
    #[inline(always)]
    fn rotations(self, slot: usize) -> u64 {
        self.rotation + u64::from(slot < self.slot)
    }

    /// A number that grows with it.
    #[inline(always)]
    fn packed(self) -> u64 {
        self.rotation << Self::SLOT | self.slot as u64
    }

    #[inline(always)]
    fn unpacked(packed: u64) -> Position {
        Position { rotation: packed >> Self::SLOT, slot: (packed & ((1 << Self::SLOT) - 1)) as usize }
    }
}

/// Where no block runs.
const NEVER: u64 = u64::MAX;

/// An SM's warps, in the order of its slots.
struct Dealing {
    /// Of a block, whose slots are neighbours.
    warps: usize,
    /// By slot: the rotations that are over once its warp has had its last turn. Only of places whose slots differ.
    over: Vec<u64>,
    /// By place: what all its slots have, or [`NEVER`] where they differ.
    over_all: Vec<u64>,
    /// Places whose slots differ.
    uneven: usize,
    /// By place: its block's last turn, packed, or [`NEVER`].
    ends: Vec<u64>,
    /// By place: its block, and the rotation in which that began.
    blocks: Vec<(u64, u64)>,
    /// The next turn.
    now: Position,
    /// Turns dealt before it, and as if warps that came later had had theirs from the beginning: only differences matter.
    dealt: u64,
    /// Steps that went by.
    time: u64,
    /// The last turn of the block that ends first, and what is dealt once it is over.
    first: Option<(Position, u64)>,
}

impl Dealing {
    fn new(resident: usize, warps: usize) -> Dealing {
        Dealing {
            warps,
            over: vec![0; resident * warps],
            over_all: vec![0; resident],
            uneven: 0,
            ends: vec![NEVER; resident],
            blocks: vec![(0, 0); resident],
            now: Position { rotation: 0, slot: 0 },
            dealt: 0,
            time: 0,
            first: None,
        }
    }

    /// A block begins at a place.
    #[inline(always)]
    fn start(&mut self, place: usize, block: u64, turns: &Turns) {
        let first = place * self.warps;
        self.blocks[place] = (block, self.now.rotation);
        let before = self.over_all[place];
        // For the most part all warps take as many turns, and those before them in this place did: nothing is looked at slot by slot.
        if let (Some(turns), true) = (turns.of_each, before != NEVER)
            && (self.now.slot <= first || self.now.slot >= first + self.warps)
        {
            let had = self.now.rotations(first);
            self.dealt += self.warps as u64 * (had - before.min(had));
            let over = had + u64::from(turns);
            self.over_all[place] = over;
            self.ends[place] = Position { rotation: over - 1, slot: first + self.warps - 1 }.packed();
            return;
        }
        let slots = &mut self.over[first..first + self.warps];
        match before {
            NEVER => self.uneven -= 1,
            before => slots.fill(before),
        }
        let mut last = 0;
        for (slot, (over, &turns)) in (first..).zip(slots.iter_mut().zip(&turns.of_warps)) {
            let had = self.now.rotations(slot);
            self.dealt += had - (*over).min(had);
            *over = had + u64::from(turns);
            last = last.max(Position { rotation: *over - 1, slot }.packed());
        }
        let one = slots[0];
        self.over_all[place] = if slots.iter().all(|over| *over == one) { one } else { NEVER };
        self.uneven += usize::from(self.over_all[place] == NEVER);
        self.ends[place] = last;
    }

    /// Looks for the block that ends first.
    #[inline(always)]
    fn look_ahead(&mut self) {
        let end = self.ends.iter().fold(NEVER, |least, &end| least.min(end));
        self.first = (end != NEVER).then(|| {
            let end = Position::unpacked(end);
            (end, self.dealt_by(end))
        });
    }

    /// Turns dealt up to a position, it included: slots up to its own have had one more.
    #[inline(always)]
    fn dealt_by(&self, end: Position) -> u64 {
        let sum = |all: &[u64], most: u64| all.iter().map(|&over| over.min(most)).sum::<u64>();
        let place = end.slot / self.warps;
        let ahead = end.slot + 1 - place * self.warps;
        if self.uneven == 0 {
            let (before, behind) = self.over_all.split_at(place);
            let of_places = sum(before, end.rotation + 1) + sum(behind, end.rotation);
            return self.warps as u64 * of_places + ahead as u64 * u64::from(behind[0] > end.rotation);
        }
        let mut dealt = 0;
        for (number, (&over, slots)) in self.over_all.iter().zip(self.over.chunks_exact(self.warps)).enumerate() {
            let ahead = match number.cmp(&place) {
                Ordering::Less => self.warps,
                Ordering::Equal => ahead,
                Ordering::Greater => 0,
            };
            dealt += match over {
                NEVER => sum(&slots[..ahead], end.rotation + 1) + sum(&slots[ahead..], end.rotation),
                over => {
                    let (ahead, behind) = (ahead as u64, (self.warps - ahead) as u64);
                    ahead * over.min(end.rotation + 1) + behind * over.min(end.rotation)
                }
            };
        }
        dealt
    }

    /// How far the block at each place is.
    fn phases(&self) -> Vec<f64> {
        let of = |(&(_, start), &end): (&(u64, u64), &u64)| {
            let all = Position::unpacked(end).rotation + 1 - start;
            (self.now.rotation - start) as f64 / all as f64
        };
        self.blocks.iter().zip(&self.ends).map(of).collect()
    }

    /// When the block that ends first does.
    #[inline(always)]
    fn first_end(&self) -> Option<u64> {
        self.first.map(|(_, dealt)| self.time + dealt - self.dealt)
    }

    /// Deals turns until the block that ends first has had its last one; its place.
    #[inline(always)]
    fn advance(&mut self) -> Option<usize> {
        let (end, dealt) = self.first?;
        self.time += dealt - self.dealt;
        self.dealt = dealt;
        let place = end.slot / self.warps;
        self.ends[place] = NEVER;
        self.now = match end.slot + 1 == self.over.len() {
            true => Position { rotation: end.rotation + 1, slot: 0 },
            false => Position { slot: end.slot + 1, ..end },
        };
        Some(place)
    }
}

/// How many turns the warps of a block take, each at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    pub(super) of_warps: Box<[u32]>,
    /// Where all take as many.
    of_each: Option<u32>,
}

impl Turns {
    /// Of at least one warp.
    pub fn new(of_warps: Box<[u32]>) -> Turns {
        let of_each = of_warps.first().copied().filter(|first| of_warps.iter().all(|turns| turns == first));
        Turns { of_warps, of_each }
    }
}

/// How long blocks run.
pub trait BlockTurns {
    /// The turns of a block. Asked for block after block.
    fn of(&mut self, block: u64) -> &Turns;

    /// Whether some blocks, at least one, are known to take the same turns.
    fn are_alike(&mut self, blocks: Range<u64>) -> bool;
}

/// Blocks that an SM runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmBlocks {
    /// In the order in which they start; those that share the SM when it is looked at come first, place by place.
    pub blocks: Vec<u64>,
    /// How far the latter are, as a share of their turns; empty where they begin together.
    pub phases: Vec<f64>,
}

/// What is wanted of dealing blocks out.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// These SMs, each from the first block on that it gets of those from this one on. Where that is not the first one of all, the SM's other residents come
    /// along.
    pub sms: &'a [(u64, u64)],
    /// So many blocks of each SM at most.
    pub most: usize,
}

/// Deals some blocks out, those before them taken to be over; the blocks of each wanted SM.
pub fn dealt(
    blocks: Range<u64>,
    (sms, resident): (u64, usize),
    warps: usize,
    turns: &mut impl BlockTurns,
    wanted: Wanted<'_>,
) -> Vec<SmBlocks> {
    processor::with_newer_instructions(Deal { blocks, sms, resident, warps, turns, wanted })
}

struct Deal<'a, T> {
    blocks: Range<u64>,
    sms: u64,
    resident: usize,
    warps: usize,
    turns: &'a mut T,
    wanted: Wanted<'a>,
}

impl<T: BlockTurns> processor::Job for Deal<'_, T> {
    type Output = Vec<SmBlocks>;

    #[inline(always)]
    fn run(self) -> Vec<SmBlocks> {
        let Deal { blocks, sms, resident, warps, turns, wanted } = self;
        deal(blocks, (sms, resident), warps, turns, wanted)
    }
}

/// Bits of an SM's number.
const SM_BITS: u32 = 16;

/// A number that orders ends by time, and those of the same time by SM.
#[inline(always)]
fn packed_end(time: u64, sm: usize) -> u64 {
    time << SM_BITS | sm as u64
}

#[inline(always)]
fn deal(
    blocks: Range<u64>,
    (sms, resident): (u64, usize),
    warps: usize,
    turns: &mut impl BlockTurns,
    Wanted { sms: wanted, most }: Wanted<'_>,
) -> Vec<SmBlocks> {
    let used = sms.min(blocks.end - blocks.start) as usize;
    // Where blocks are alike, SMs do the same at the same time: those that get a block each get it in rising order.
    if used > 0 && turns.are_alike(blocks.clone()) {
        // Generations begin at multiples of what the SMs hold.
        let generation = (used * resident) as u64;
        let of_sm = |&(sm, from): &(u64, u64)| {
            let begin = blocks.start + from.saturating_sub(blocks.start) / generation * generation;
            let blocks = (begin..blocks.end).skip(sm as usize).step_by(used).take(most).collect();
            SmBlocks { blocks, phases: Vec::new() }
        };
        return wanted.iter().map(of_sm).collect();
    }
    let mut all: Vec<Dealing> = (0..used).map(|_| Dealing::new(resident, warps)).collect();
    let mut found = vec![SmBlocks::default(); wanted.len()];
    // Lists that are not as long as wanted.
    let mut short = if most > 0 { wanted.len() } else { 0 };
    let mut next = blocks.start;
    let first = wanted.iter().map(|wanted| wanted.1).min().unwrap_or(0);
    let mut start = |sm: usize, dealing: &mut Dealing, place: usize, block: u64| {
        dealing.start(place, block, turns.of(block));
        if block < first {
            return true;
        }
        let own = |wanted: &(u64, u64)| wanted.0 == sm as u64 && block >= wanted.1;
        for (list, (_, from)) in found.iter_mut().zip(wanted).filter(|(_, wanted)| own(wanted)) {
            if *from > blocks.start && list.blocks.is_empty() {
                list.phases = dealing.phases();
                list.blocks.extend(dealing.blocks.iter().map(|(block, _)| *block));
            } else if list.blocks.len() < most {
                list.blocks.push(block);
                short -= usize::from(list.blocks.len() == most);
            }
        }
        short > 0
    };
    for place in 0..resident {
        for (sm, dealing) in all.iter_mut().enumerate() {
            if next < blocks.end {
                start(sm, dealing, place, next);
                next += 1;
            }
        }
    }
    all.iter_mut().for_each(Dealing::look_ahead);
    // SMs advance in step, and within a step in rising order.
    let ends = all.iter().enumerate().filter_map(|(sm, dealing)| Some(Reverse(packed_end(dealing.first_end()?, sm))));
    let mut ends: BinaryHeap<Reverse<u64>> = ends.collect();
    while next < blocks.end {
        let Some(mut top) = ends.peek_mut() else { break };
        let sm = (top.0 % (1 << SM_BITS)) as usize;
        let dealing = &mut all[sm];
        let Some(place) = dealing.advance() else { break };
        if !start(sm, dealing, place, next) {
            break;
        }
        next += 1;
        dealing.look_ahead();
        match dealing.first_end() {
            Some(time) => top.0 = packed_end(time, sm),
            None => drop(PeekMut::pop(top)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;
    use warpline_format::schedule::{self, Shape, TurnEnd, WarpStreams};
    use warpline_format::warp_order::Order;

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

    impl BlockTurns for &[Turns] {
        fn of(&mut self, block: u64) -> &Turns {
            &self[block as usize]
        }

        fn are_alike(&mut self, blocks: Range<u64>) -> bool {
            let some = &self[blocks.start as usize..blocks.end as usize];
            some.iter().all(|turns| *turns == some[0])
        }
    }

    fn agrees(sms: u32, resident: u32, turns: &[Vec<u32>]) -> Result<(), TestCaseError> {
        let warps = turns[0].len() as u32;
        let shape =
            Shape { blocks: turns.len() as u64, warps, sms, resident, turn: 1, cluster: 1, order: Order::IN_STEP };
        let slots = shape.slots_per_sm();
        let mut counted = Counted { turns, left: vec![0; (slots * sms) as usize], slots, started: Vec::new() };
        schedule::run(&shape, &mut counted).unwrap();
        let wanted: Vec<(u64, u64)> = (0..u64::from(sms)).map(|sm| (sm, 0)).collect();
        let all: Vec<Turns> = turns.iter().map(|turns| Turns::new(turns.clone().into())).collect();
        let mut known = &all[..];
        for most in [usize::MAX, 3] {
            let wanted = Wanted { sms: &wanted, most };
            let found = dealt(0..shape.blocks, (sms.into(), resident as usize), warps as usize, &mut known, wanted);
            for (sm, found) in found.iter().enumerate() {
                let started = counted.started.iter().filter(|one| one.0 == sm as u32).map(|one| one.1);
                let want: Vec<u64> = started.take(most).collect();
                prop_assert_eq!(&found.blocks, &want, "SM {}, {} blocks at most", sm, most);
            }
        }
        // Looked at from some block on, an SM gets the same blocks behind those that it runs by then.
        let from = shape.blocks / 2;
        if from < u64::from(sms * resident) || known.are_alike(0..shape.blocks) {
            return Ok(());
        }
        let later: Vec<(u64, u64)> = wanted.iter().map(|(sm, _)| (*sm, from)).collect();
        let later = Wanted { sms: &later, most: usize::MAX };
        let found = dealt(0..shape.blocks, (sms.into(), resident as usize), warps as usize, &mut known, later);
        for (sm, found) in found.iter().enumerate() {
            let all = counted.started.iter().filter(|one| one.0 == sm as u32).map(|one| one.1);
            let (before, behind): (Vec<u64>, Vec<u64>) = all.partition(|&block| block < from);
            let Some((first, behind)) = behind.split_first() else {
                prop_assert!(found.blocks.is_empty());
                continue;
            };
            let (residents, rest) = found.blocks.split_at(resident as usize);
            prop_assert_eq!(rest, behind);
            prop_assert!(residents.iter().all(|block| block == first || before.contains(block)));
            prop_assert!(residents.contains(first));
            for (block, phase) in residents.iter().zip(&found.phases) {
                prop_assert!((0.0..=1.0).contains(phase) && (block != first || *phase == 0.0));
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn blocks_go_where_the_scheduler_puts_them(sms in 1u32..5, resident in 1u32..4,
                turns in (1usize..4).prop_flat_map(|warps| prop::collection::vec(prop::collection::vec(1u32..9, warps), 1..40))) {
            agrees(sms, resident, &turns)?;
        }

        #[test]
        fn blocks_that_are_alike_do_too(sms in 1u32..5, resident in 1u32..4, blocks in 1usize..60,
                turns in prop::collection::vec(1u32..9, 1..4)) {
            agrees(sms, resident, &vec![turns; blocks])?;
        }
    }
}
