//! Blocks of a launch, dealt out one by one.
//!
//! By the rules of [`warpline_format::schedule`], block by block: in a rotation an SM gives each of its warps a turn, and all SMs advance in step, a
//! turn at a time. So an SM whose warps end early is sooner through its rotation, and gets its next block sooner.

use std::ops::Range;

use rustc_hash::FxHashMap;
use warpline_format::schedule;

use super::residents::{Begin, Kind, Pace, Resident, Residents};
use super::rotations::Rotations;
use super::sample::golden;
use super::soonest::Soonest;
use super::turns::WarpTurns;
use crate::launch::Launch;
use crate::traffic::capacity::Capacity;

/// Blocks that have been dealt out one by one.
pub(super) struct InTurn {
    /// Turns of the code.
    turns: u32,
    /// Per cent of their chances that blocks pass over, at most.
    drift: u32,
    /// The first block.
    first: u64,
    /// By block from that one on: when it begins.
    blocks: Vec<Started>,
    kinds: Vec<Kind>,
    sms: Vec<Rotations>,
}

/// A block that has begun.
#[derive(Clone, Copy, Default)]
struct Started {
    begin: Begin,
    sm: u16,
    kind: u16,
}

impl InTurn {
    /// Of some blocks of a launch, as if it had no others, whose code has so many turns. `apart`: how far SMs are from each other, in blocks.
    pub(super) fn new(
        of_block: WarpTurns<'_, '_>,
        (launch, capacity): (&Launch, &Capacity),
        (run, turns): (Range<u64>, usize),
        apart: f64,
    ) -> InTurn {
        let all = run.end - run.start;
        let sms = capacity.sms.min(all) as usize;
        let resident = capacity.resident.min(all.div_ceil(capacity.sms)).max(1) as usize;
        let warps = launch.warps();
        let mut queue = Queue::new(of_block, &run, capacity.drift);
        let mut on_sms: Vec<Residents> = (0..sms).map(|_| Residents::new(resident)).collect();
        let mut blocks = vec![Started::default(); all as usize];
        for place in 0..resident {
            for (sm, residents) in on_sms.iter_mut().enumerate() {
                let Some((number, one)) = queue.next(0) else { continue };
                // As far along as any other, where blocks have come apart.
                let had = (apart * (golden(number + 1) - 0.5)).rem_euclid(1.0);
                let begin = residents.begin(place, one, &queue.kinds[usize::from(one.kind)], had);
                blocks[number as usize] = Started { begin, sm: sm as u16, kind: one.kind };
            }
        }
        // By when a block ends.
        let ends: Vec<Option<u32>> = on_sms.iter_mut().map(|residents| residents.run(&queue.kinds)).collect();
        let mut ends = Soonest::new(ends.into_iter());
        while let Some(sm) = ends.next() {
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
            ends.set(sm, residents.run(&queue.kinds));
        }
        InTurn {
            turns: turns as u32,
            drift: capacity.drift,
            first: run.start,
            blocks,
            kinds: queue.kinds,
            sms: on_sms.into_iter().map(Residents::over).collect(),
        }
    }

    /// When a warp of a block has a turn, and on which SM.
    #[inline(always)]
    pub(super) fn at(&self, block: u64, warp: u32, turn: u32) -> (u32, u16) {
        let Started { begin, sm, kind } = self.blocks[(block - self.first) as usize];
        let (own, before) = self.kinds[usize::from(kind)].turn(warp, turn, self.turns);
        let rotation = begin.rotation + pace(self.drift, block).of_sm(own) as i32;
        // What is over before the first one is over at once.
        let Ok(rotation) = u32::try_from(rotation) else { return (before, sm) };
        let after = if own == 0 { u32::from(begin.after) } else { 0 };
        let time = self.sms[usize::from(sm)].time(begin.stretch, rotation, begin.place.into());
        (time + after + before, sm)
    }
}

/// Which part of its chances a block takes.
#[inline(always)]
fn pace(drift: u32, block: u64) -> Pace {
    Pace::passing(if drift == 0 { 0 } else { schedule::passed(drift, block) as u32 })
}

/// Blocks that have not begun.
struct Queue<'c, 'a> {
    of_block: WarpTurns<'c, 'a>,
    first: u64,
    next: u64,
    end: u64,
    drift: u32,
    /// Number of the turns of the blocks up to some.
    turns: usize,
    alike: u64,
    kinds: Vec<Kind>,
    /// By number of turns and warp from which on a block begins: its kind.
    known: FxHashMap<(usize, u32), u16>,
    last: Option<((usize, u32), u16)>,
}

impl<'c, 'a> Queue<'c, 'a> {
    fn new(of_block: WarpTurns<'c, 'a>, run: &Range<u64>, drift: u32) -> Self {
        let Range { start, end } = *run;
        let (kinds, known) = (Vec::new(), FxHashMap::default());
        Queue { of_block, first: start, next: start, end, drift, turns: 0, alike: start, kinds, known, last: None }
    }

    /// The next block, by its number from the first one, of which this warp is the first one to have a turn.
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
        Some((block - self.first, Resident { kind, pace: pace(self.drift, block) }))
    }

    fn kind(&mut self, key: (usize, u32)) -> u16 {
        let turns = self.of_block.numbered(key.0);
        *self.known.entry(key).or_insert_with(|| {
            self.kinds.push(Kind::new(&turns.of_warps, key.1));
            self.kinds.len() as u16 - 1
        })
    }
}
