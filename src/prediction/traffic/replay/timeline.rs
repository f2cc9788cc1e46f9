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
use super::soonest::Soonest;
use super::turns::WarpTurns;
use crate::hierarchy::HierarchyConfig;
use crate::prediction::form::Bounds;
use crate::prediction::launch::Launch;
use crate::prediction::traffic::capacity::Capacity;
use crate::prediction::traffic::volumes::Affine;
use crate::profile::model::Addresses;

/// A block on an SM.
struct Resident {
    /// Where the time of its next rotation is kept, and how many more are.
    time: usize,
    kept: usize,
    /// Its next rotation, in [`Timeline::live`], and how many it has left.
    live: usize,
    left: usize,
    /// Warps up to the last one of the last rotation.
    end: u32,
    /// Turns that it takes of those that it could, and the part of the next one that it has come to.
    pace: f64,
    due: f64,
}

impl Resident {
    /// Goes on as if it had had so many rotations.
    fn skip(&mut self, rotations: usize) {
        let kept = rotations.min(self.kept);
        (self.time, self.kept) = (self.time + kept, self.kept - kept);
        (self.live, self.left) = (self.live + rotations, self.left - rotations);
    }
}

/// When the blocks of a launch have their turns, and on which SM.
pub struct Timeline {
    /// Rotations of a block whose times are kept.
    rotations: usize,
    /// The first block.
    first: u64,
    /// By block from that one on: its SM, and the number of its kind.
    places: Vec<(u16, u16)>,
    kinds: Vec<Kind>,
    /// By kind, one after the other, and rotation: warps that have a turn.
    live: Vec<u32>,
    /// By block and rotation: when it begins for the block, in turns that the SM has given before.
    times: Vec<u32>,
    sms: usize,
    length: u32,
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
        let of_block = WarpTurns::new(&code, capacity.turn);
        if !of_block.are_few() {
            return None;
        }
        let blocks = run.end - run.start;
        let sms = capacity.sms.min(blocks) as usize;
        let resident = capacity.resident.min(blocks.div_ceil(capacity.sms)).max(1) as usize;
        let (warps, rotations) = (launch.warps(), turns + 1);
        let mut found = Timeline {
            rotations,
            first: run.start,
            places: vec![(0, 0); blocks as usize],
            kinds: Vec::new(),
            live: Vec::new(),
            times: vec![0; blocks as usize * rotations],
            sms,
            length: resident as u32 * warps * turns as u32,
        };
        let mut queue = Queue::new(of_block, &run, capacity.drift);
        let mut on_sms: Vec<Vec<Option<Resident>>> = (0..sms).map(|_| Vec::new()).collect();
        for _ in 0..resident {
            for (sm, places) in on_sms.iter_mut().enumerate() {
                let mut first = queue.start((sm, 0), &mut found);
                if let Some(first) = first.as_mut().filter(|_| apart > 0.0) {
                    let part = (apart * (golden(queue.next - run.start) - 0.5)).rem_euclid(1.0);
                    first.skip(((part * first.left as f64) as usize).min(first.left - 1));
                }
                places.push(first);
            }
        }
        let mut on_sms: Vec<Sm> = on_sms.into_iter().map(|places| Sm { places, next: 0, time: 0, ended: 0 }).collect();
        // By when a block ends.
        let ends: Vec<Option<u32>> = on_sms.iter_mut().map(|sm| sm.run(&mut found)).collect();
        let mut ends = Soonest::new(ends.into_iter());
        while let Some(number) = ends.next() {
            let sm = &mut on_sms[number];
            let place = sm.next - 1;
            // Warps behind the one with which the block before ended have their turn in the same rotation.
            let late = if sm.ended < warps { sm.ended } else { 0 };
            sm.next -= usize::from(late > 0);
            sm.places[place] = queue.start((number, late), &mut found);
            ends.set(number, sm.run(&mut found));
        }
        Some(found)
    }

    /// When a warp of a block has a turn, and on which SM.
    #[inline(always)]
    pub fn at(&self, block: u64, warp: u32, turn: usize) -> (u32, u16) {
        let block = (block - self.first) as usize;
        let (sm, kind) = self.places[block];
        let kind = &self.kinds[usize::from(kind)];
        if kind.even && kind.rotations >= self.rotations - 1 {
            return (self.times[block * self.rotations + turn] + warp, sm);
        }
        // Warps that do not come to all of the code take fewer turns.
        let own = kind.of_warps[warp as usize] as usize;
        let turn = if own < self.rotations - 1 { turn * own / (self.rotations - 1) } else { turn };
        let rotation = turn + usize::from(warp < kind.late);
        let before = kind.before.get(rotation).map_or(0, |before| before[warp as usize]);
        (self.times[block * self.rotations + rotation] + before, sm)
    }

    /// Turns that an SM gives in the time in which its first blocks have all of theirs.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// How many SMs have blocks.
    pub fn sms(&self) -> usize {
        self.sms
    }
}

/// An SM's blocks, place by place.
struct Sm {
    places: Vec<Option<Resident>>,
    /// The next one that has its turn.
    next: usize,
    time: u32,
    /// Warps up to the one with which the last block to end did.
    ended: u32,
}

impl Sm {
    /// Gives turns until a block has had its last one; when it had. `None` where no block is left.
    fn run(&mut self, found: &mut Timeline) -> Option<u32> {
        let mut is_empty = false;
        loop {
            if self.next == self.places.len() {
                if is_empty {
                    return None;
                }
                (self.next, is_empty) = (0, true);
            }
            let place = &mut self.places[self.next];
            self.next += 1;
            let Some(one) = place else { continue };
            is_empty = false;
            if one.pace < 1.0 {
                one.due += one.pace;
                if one.due < 1.0 {
                    continue;
                }
                one.due -= 1.0;
            }
            if one.kept > 0 {
                found.times[one.time] = self.time;
                (one.time, one.kept) = (one.time + 1, one.kept - 1);
            }
            self.time += found.live[one.live];
            (one.live, one.left) = (one.live + 1, one.left - 1);
            if one.left == 0 {
                self.ended = one.end;
                *place = None;
                return Some(self.time);
            }
        }
    }
}

/// Blocks that have not begun.
struct Queue<'c, 'a> {
    of_block: WarpTurns<'c, 'a>,
    next: u64,
    end: u64,
    drift: u32,
    /// Number of the turns of the blocks up to some.
    turns: usize,
    alike: u64,
    /// By number of turns and warp from which on a block begins: its kind.
    kinds: FxHashMap<(usize, u32), usize>,
    last: Option<((usize, u32), usize)>,
}

impl<'c, 'a> Queue<'c, 'a> {
    fn new(of_block: WarpTurns<'c, 'a>, run: &Range<u64>, drift: u32) -> Self {
        let (kinds, last) = (FxHashMap::default(), None);
        Queue { of_block, next: run.start, end: run.end, drift, turns: 0, alike: run.start, kinds, last }
    }

    /// The next block begins on an SM.
    fn start(&mut self, (sm, late): (usize, u32), found: &mut Timeline) -> Option<Resident> {
        let block = (self.next < self.end).then_some(self.next)?;
        self.next += 1;
        if block >= self.alike {
            (self.turns, self.alike) = self.of_block.number_of(block);
        }
        let key = (self.turns, late);
        let kind = match self.last {
            Some((last, kind)) if last == key => kind,
            _ => {
                let turns = self.of_block.numbered(self.turns);
                *self.kinds.entry(key).or_insert_with(|| {
                    let kind = Kind::new(&turns.of_warps, late, &mut found.live);
                    found.kinds.push(kind);
                    found.kinds.len() - 1
                })
            }
        };
        self.last = Some((key, kind));
        let number = (block - found.first) as usize;
        found.places[number] = (sm as u16, kind as u16);
        let passed = if self.drift == 0 { 0 } else { schedule::passed(self.drift, block) };
        let Kind { live, rotations, end, .. } = found.kinds[kind];
        let (time, kept) = (number * found.rotations, rotations.min(found.rotations));
        Some(Resident { time, kept, live, left: rotations, end, pace: 1.0 - passed as f64 / 100.0, due: 0.0 })
    }
}

/// Blocks whose warps take as many turns, and that begin at the same one of their warps.
struct Kind {
    of_warps: Box<[u32]>,
    /// Warps that have their first turn a rotation after the others: those before the one at which the block before in the place ended.
    late: u32,
    /// Where its rotations begin in [`Timeline::live`], and how many there are.
    live: usize,
    rotations: usize,
    /// All warps have a turn in each of them.
    even: bool,
    /// By rotation and warp: those before it that have one.
    before: Vec<Vec<u32>>,
    /// Warps up to the last one of the last rotation.
    end: u32,
}

impl Kind {
    fn new(of_warps: &[u32], late: u32, live: &mut Vec<u32>) -> Kind {
        let takes = |rotation: u32| {
            (0..).zip(of_warps).map(move |(warp, &turns)| match warp < late {
                true => (1..=turns).contains(&rotation),
                false => rotation < turns,
            })
        };
        let rotations = (0..).zip(of_warps).map(|(warp, &turns)| turns + u32::from(warp < late)).max().unwrap_or(1);
        let before = |rotation: u32| {
            let mut sum = 0;
            let each = takes(rotation).map(|takes| {
                sum += u32::from(takes);
                sum - u32::from(takes)
            });
            each.collect()
        };
        let first = live.len();
        live.extend((0..rotations).map(|rotation| takes(rotation).filter(|takes| *takes).count() as u32));
        Kind {
            of_warps: of_warps.into(),
            late,
            live: first,
            rotations: rotations as usize,
            even: live[first..].iter().all(|&live| live as usize == of_warps.len()),
            before: (0..rotations).map(before).collect(),
            end: takes(rotations - 1).enumerate().filter(|one| one.1).last().map_or(0, |one| one.0 as u32 + 1),
        }
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
