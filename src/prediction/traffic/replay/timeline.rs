//! Which turns of which blocks a launch's SMs run at about the same time.
//!
//! By the rules of [`warpline_format::schedule`], block by block: in a rotation an SM gives each of its warps a turn, and all SMs advance in step, a
//! turn at a time. So an SM whose warps end early is sooner through its rotation, and gets its next block sooner.

use std::ops::Range;

use rustc_hash::FxHashMap;
use warpline_format::schedule;

use super::code::Code;
use super::requests::RequestPieces;
use super::sample::golden;
use super::residents::{Begin, Kind, Pace, Resident, Residents};
use super::rotations::Rotations;
use super::soonest::Soonest;
use super::turns::WarpTurns;
use crate::hierarchy::HierarchyConfig;
use crate::prediction::form::Bounds;
use crate::prediction::launch::Launch;
use crate::prediction::traffic::capacity::Capacity;
use crate::prediction::traffic::volumes::Affine;
use crate::profile::model::Addresses;

/// When the blocks of a launch have their turns, and on which SM.
pub struct Timeline {
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
    length: u32,
}

/// A block that has begun.
#[derive(Clone, Copy, Default)]
struct Started {
    begin: Begin,
    sm: u16,
    kind: u16,
}

impl Timeline {
    /// Of some blocks of a launch, as if it had no others, whose code has so many turns. `None` where each block would have to be looked at by itself.
    pub fn new(
        accesses: &[Affine],
        (addresses, launch): (&Addresses, &Launch),
        bounds: &Bounds,
        hierarchy: &HierarchyConfig,
        capacity: &Capacity,
        (run, turns): (Range<u64>, usize),
        apart: f64,
    ) -> Option<Timeline> {
        let mut pieces = RequestPieces::new(hierarchy);
        let code = Code::new(accesses, (addresses, launch), bounds, 1.0, &mut pieces);
        let mut of_block = WarpTurns::new(&code, capacity.turn);
        if !of_block.are_few() {
            return None;
        }
        let all = run.end - run.start;
        let sms = capacity.sms.min(all) as usize;
        let resident = capacity.resident.min(all.div_ceil(capacity.sms)).max(1) as usize;
        let warps = launch.warps();
        // SMs that get alike blocks one after the other have done so since the launch began: those of an L2's sides have blocks of even and odd numbers.
        let sides = u64::from(capacity.l2_partitions.max(1));
        let in_step = if run.start.is_multiple_of(sides) && of_block.come_in_groups(sides) { sides } else { 1 };
        let mut queue = Queue::new(of_block, &run, capacity.drift);
        let mut on_sms: Vec<Residents> = (0..sms).map(|_| Residents::new(resident)).collect();
        let mut blocks = vec![Started::default(); all as usize];
        for place in 0..resident {
            for (sm, residents) in on_sms.iter_mut().enumerate() {
                let Some((number, one)) = queue.next(0) else { continue };
                // As far along as any other, where blocks have come apart.
                let had = (apart * (golden(number / in_step + 1) - 0.5)).rem_euclid(1.0);
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
        Some(Timeline {
            turns: turns as u32,
            drift: capacity.drift,
            first: run.start,
            blocks,
            kinds: queue.kinds,
            sms: on_sms.into_iter().map(Residents::over).collect(),
            length: resident as u32 * warps * turns as u32,
        })
    }

    /// When a warp of a block has a turn, and on which SM.
    #[inline(always)]
    pub fn at(&self, block: u64, warp: u32, turn: usize) -> (u32, u16) {
        let Started { begin, sm, kind } = self.blocks[(block - self.first) as usize];
        let (own, before) = self.kinds[usize::from(kind)].turn(warp, turn as u32, self.turns);
        let rotation = begin.rotation + pace(self.drift, block).of_sm(own) as i32;
        // What is over before the first one is over at once.
        let Ok(rotation) = u32::try_from(rotation) else { return (before, sm) };
        let after = if own == 0 { u32::from(begin.after) } else { 0 };
        let time = self.sms[usize::from(sm)].time(begin.stretch, rotation, begin.place.into());
        (time + after + before, sm)
    }

    /// Turns that an SM gives in the time in which its first blocks have all of theirs.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// How many SMs have blocks.
    pub fn sms(&self) -> usize {
        self.sms.len()
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use proptest::prelude::*;
    use warpline_format::schedule::{Shape, TurnEnd, WarpStreams};

    use super::*;
    use crate::models;
    use crate::prediction::form::{Form, Truth, block, thread};

    /// Warps that make their turns; keeps when each has which, and where.
    struct Told<'a> {
        turns: &'a dyn Fn(u64, u32) -> u32,
        slots: Vec<(u64, u32, u32)>,
        of_sm: u32,
        warps: u32,
        given: Vec<u32>,
        found: BTreeMap<(u64, u32, usize), (u32, u16)>,
    }

    impl WarpStreams for Told<'_> {
        type Error = Infallible;

        fn start_block(&mut self, block: u64, first_slot: u32) -> Result<(), Infallible> {
            for warp in 0..self.warps {
                self.slots[(first_slot + warp) as usize] = (block, warp, 0);
            }
            Ok(())
        }

        fn turn(&mut self, slot: u32, _: u32) -> Result<TurnEnd, Infallible> {
            let sm = (slot / self.of_sm) as usize;
            let (block, warp, turn) = &mut self.slots[slot as usize];
            self.found.insert((*block, *warp, *turn as usize), (self.given[sm], sm as u16));
            self.given[sm] += 1;
            *turn += 1;
            Ok(if *turn == (self.turns)(*block, *warp) { TurnEnd::Finished } else { TurnEnd::Budget })
        }

        fn end_block(&mut self, _: u64, _: u32) -> Result<(), Infallible> {
            Ok(())
        }
    }

    proptest! {
        /// Against the scheduler: threads from a border on make no requests, in whole warps and whole blocks.
        #[test]
        fn turns_are_when_the_scheduler_gives_them(sms in 1u32..5, resident in 1u32..4, warps in 1u32..4, blocks in 1u32..40, accesses in 1usize..4,
                border in 1i64..60) {
            let launch = Launch::new([32, warps, 1], [blocks, 1, 1], BTreeMap::new());
            let bounds = Bounds(launch.indices.into_iter().chain(launch.grid).map(|size| (0, i64::from(size) - 1)).collect());
            // Every warp of blocks before the border, and the first one of those behind it.
            let condition = Truth::AtLeast(Form { constant: border, terms: vec![(thread(1), -100), (block(0), -1)] });
            let condition = if warps > 1 { condition } else { Truth::Known(true) };
            let all: Vec<Affine> = (0..accesses).map(|site| {
                let form = Form { constant: 1 << 20, terms: vec![(0, 4), (block(0), 128)] };
                Affine { site, item: site, ..Affine::load(form, condition.clone(), 4) }
            }).collect();
            let hierarchy = models::find("v100").unwrap().hierarchy().unwrap();
            let capacity = Capacity { l1: 1024.0, l2: 1024.0, l2_all: 1024.0, l2_partitions: 1, drift: 0, l2_ways: 16, sms: sms.into(),
                resident: resident.into(), caches_loads: true, l1_lines: 8, turn: 1 };
            let scope = (&Addresses::default(), &launch);
            let found = Timeline::new(&all, scope, &bounds, &hierarchy, &capacity, (0..launch.blocks(), accesses), 0.0).expect("few kinds");
            let is_made = |own: u64, warp: u32| warps == 1 || border - 100 * i64::from(warp) - own as i64 >= 0;
            // One turn for each request, and one in which the warp learns that it is over.
            let turns = |own: u64, warp: u32| if is_made(own, warp) { accesses as u32 + 1 } else { 1 };
            let resident = resident.min(blocks.div_ceil(sms));
            let shape = Shape { blocks: blocks.into(), warps, sms, resident, turn: 1, drift: 0 };
            let slots = shape.slots_per_sm();
            let mut told = Told { turns: &turns, slots: vec![(0, 0, 0); (slots * sms) as usize], of_sm: slots, warps,
                given: vec![0; sms as usize], found: BTreeMap::new() };
            schedule::run(&shape, &mut told).unwrap();
            for (&(own, warp, turn), &(time, sm)) in &told.found {
                if turn < accesses && is_made(own, warp) {
                    prop_assert_eq!(found.at(own, warp, turn), (time, sm), "block {}, warp {}, turn {}", own, warp, turn);
                }
            }
        }
    }
}
