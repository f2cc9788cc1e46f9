//! Schedules the blocks of a launch one by one.
//!
//! The schedule follows the rules of [`warpline_format::schedule`]. In one rotation, an SM gives each of its warps an
//! issue slot, and all SMs advance in step, one issue slot at a time. An SM whose warps end early completes its
//! rotations faster, and gets its next block sooner.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::golden;
use super::residents::{Begin, Kind, Resident, Residents};
use super::rotations::Rotations;
use super::turns::WarpTurns;
use crate::launch::Launch;
use crate::traffic::capacity::Capacity;

/// Blocks that were scheduled one by one.
pub(super) struct BlockTimes {
    /// Number of issue slots of the code.
    turns: u32,
    /// The first block.
    first: u64,
    /// Start times of blocks, indexed from the first block.
    blocks: Vec<Started>,
    kinds: Vec<Kind>,
    sms: Vec<Rotations>,
}

/// A block that has started.
#[derive(Clone, Copy, Default)]
struct Started {
    begin: Begin,
    sm: u16,
    kind: u16,
}

impl BlockTimes {
    /// Runs the blocks `run` of a launch as if there were no others. The code has this many issue slots. `apart` is the
    /// drift between SMs, in blocks.
    pub(super) fn new(
        of_block: WarpTurns<'_, '_>,
        (launch, capacity): (&Launch, &Capacity<'_>),
        (run, turns): (Range<u64>, usize),
        apart: f64,
    ) -> BlockTimes {
        let all = run.end - run.start;
        let sms = capacity.sms.min(all) as usize;
        let resident = capacity.resident_of(all) as usize;
        let warps = launch.warps();
        let mut queue = Queue::new(of_block, &run);
        let mut on_sms: Vec<Residents> = (0..sms).map(|_| Residents::new(resident)).collect();
        let mut blocks = vec![Started::default(); all as usize];
        for slot in 0..resident {
            for (sm, residents) in on_sms.iter_mut().enumerate() {
                let Some((number, one)) = queue.next(0) else { continue };
                // If SMs have drifted apart, a block's progress is spread evenly.
                let had = (apart * (golden(number + 1) - 0.5)).rem_euclid(1.0);
                let begin = residents.begin(slot, one, &queue.kinds[usize::from(one.kind)], had);
                blocks[number as usize] = Started { begin, sm: sm as u16, kind: one.kind };
            }
        }
        // SMs sorted by the end of their next block. If two end at the same time, the first SM gets the next block.
        let mut ends: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::with_capacity(sms);
        for (sm, residents) in on_sms.iter_mut().enumerate() {
            ends.extend(residents.run(&queue.kinds).map(|time| Reverse((time, sm))));
        }
        while let Some(mut first) = ends.peek_mut() {
            let sm = first.0.1;
            let residents = &mut on_sms[sm];
            match queue.next(residents.late(warps)) {
                Some((number, one)) => {
                    let begin = residents.follow(Some((one, &queue.kinds[usize::from(one.kind)])));
                    blocks[number as usize] = Started { begin, sm: sm as u16, kind: one.kind };
                }
                None => {
                    residents.follow(None);
                }
            }
            match residents.run(&queue.kinds) {
                Some(time) => first.0.0 = time,
                None => drop(PeekMut::pop(first)),
            }
        }
        BlockTimes {
            turns: turns as u32,
            first: run.start,
            blocks,
            kinds: queue.kinds,
            sms: on_sms.into_iter().map(Residents::over).collect(),
        }
    }

    /// Returns whether all blocks take the same number of issue slots, so that SMs run them in step.
    pub(super) fn is_in_step(&self) -> bool {
        self.kinds.len() == 1
    }

    /// Returns the SM of a block.
    pub(super) fn sm(&self, block: u64) -> u16 {
        self.blocks[(block - self.first) as usize].sm
    }

    /// Returns the time and the SM of an issue slot of a warp.
    #[inline(always)]
    pub(super) fn at(&self, block: u64, warp: u32, turn: u32) -> (u32, u16) {
        let Started { begin, sm, kind } = self.blocks[(block - self.first) as usize];
        let (own, before) = self.kinds[usize::from(kind)].turn(warp, turn, self.turns);
        let rotation = begin.rotation + own as i32;
        // A block that ended before the first rotation has no duration.
        let Ok(rotation) = u32::try_from(rotation) else { return (before, sm) };
        let after = if own == 0 { u32::from(begin.after) } else { 0 };
        let time = self.sms[usize::from(sm)].time(begin.stretch, rotation, begin.slot.into());
        (time + after + before, sm)
    }
}

/// Blocks that have not started.
struct Queue<'c, 'a> {
    of_block: WarpTurns<'c, 'a>,
    first: u64,
    next: u64,
    end: u64,
    /// Number of the issue slots of the blocks up to a border.
    turns: usize,
    alike: u64,
    kinds: Vec<Kind>,
    /// Number of the kind, by the number of the block's issue slots and the warp at which the block starts.
    known: FxHashMap<(usize, u32), u16>,
    last: Option<((usize, u32), u16)>,
}

impl<'c, 'a> Queue<'c, 'a> {
    fn new(of_block: WarpTurns<'c, 'a>, run: &Range<u64>) -> Self {
        let Range { start, end } = *run;
        let (kinds, known) = (Vec::new(), FxHashMap::default());
        Queue { of_block, first: start, next: start, end, turns: 0, alike: start, kinds, known, last: None }
    }

    /// Returns the next block and its number. Warp `late` is the first warp that issues.
    #[inline(always)]
    fn next(&mut self, late: u32) -> Option<(u64, Resident)> {
        let block = (self.next < self.end).then_some(self.next)?;
        self.next += 1;
        if block >= self.alike {
            (self.turns, self.alike) = self.of_block.number_of(block);
        }
        let key = (self.turns, late);
        let kind = match self.last {
            Some((last, kind)) if last == key => kind,
            _ => self.kind(key),
        };
        self.last = Some((key, kind));
        Some((block - self.first, Resident { kind }))
    }

    fn kind(&mut self, key: (usize, u32)) -> u16 {
        let turns = self.of_block.numbered(key.0);
        *self.known.entry(key).or_insert_with(|| {
            self.kinds.push(Kind::new(turns, key.1));
            self.kinds.len() as u16 - 1
        })
    }
}
