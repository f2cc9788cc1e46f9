//! Which turns of which blocks a launch's SMs run at about the same time.

use std::ops::Range;

use super::code::Code;
use super::in_turn::InTurn;
use super::requests::RequestPieces;
use super::turns::WarpTurns;
use super::under_way::UnderWay;
use crate::form::Bounds;
use crate::launch::Launch;
use crate::traffic::capacity::Capacity;
use crate::traffic::volumes::Affine;
use warpline_profile::model::Addresses;
use warpline_simulator::hierarchy::HierarchyConfig;

/// When the blocks of a launch have their turns, and on which SM.
pub struct Timeline {
    sms: usize,
    length: u32,
    way: Way,
}

/// What is known of it.
enum Way {
    InTurn(InTurn),
    UnderWay(UnderWay),
}

impl Timeline {
    /// Of some blocks of a launch, as if it had no others, whose code has so many turns. `apart`: how far blocks have come apart that began together, in blocks.
    /// `None` where each block would have to be looked at by itself.
    pub fn new(
        accesses: &[Affine],
        (addresses, launch): (&Addresses, &Launch),
        bounds: &Bounds,
        hierarchy: &HierarchyConfig,
        capacity: &Capacity,
        (run, turns): (Range<u64>, usize),
        apart: f64,
    ) -> Option<Timeline> {
        let all = run.end - run.start;
        let sms = capacity.sms.min(all) as usize;
        let resident = capacity.resident.min(all.div_ceil(capacity.sms)).max(1) as usize;
        let warps = launch.warps();
        let length = resident as u32 * warps * turns as u32;
        let is_under_way = apart >= 1.0;
        if is_under_way {
            let (of_sms, of_block) = ((sms as u32, resident as u32), (warps, turns as u32 + 1));
            return Some(Timeline { sms, length, way: Way::UnderWay(UnderWay::new(run.start, of_sms, of_block)) });
        }
        let mut pieces = RequestPieces::new(hierarchy);
        let code = Code::new(accesses, (addresses, launch), bounds, 1.0, &mut pieces);
        let of_block = WarpTurns::new(&code, capacity.turn);
        if !of_block.are_few() {
            return None;
        }
        let dealt = InTurn::new(of_block, (launch, capacity), (run, turns), apart);
        Some(Timeline { sms, length, way: Way::InTurn(dealt) })
    }

    /// When a warp of a block has a turn, and on which SM.
    #[inline(always)]
    pub fn at(&self, block: u64, warp: u32, turn: usize) -> (u32, u16) {
        match &self.way {
            Way::InTurn(dealt) => dealt.at(block, warp, turn as u32),
            Way::UnderWay(all) => all.at(block, warp, turn as u32),
        }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use proptest::prelude::*;
    use warpline_format::schedule::{self, Shape, TurnEnd, WarpStreams};
    use warpline_format::warp_order::Order;

    use super::*;
    use crate::form::{Form, Truth, block, thread};
    use warpline_simulator::models;

    /// Of a grid of such a size, whether blocks come in pairs where those from a border on along an axis make no requests.
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
            let shape = Shape { blocks: blocks.into(), warps, sms, resident, turn: 1, cluster: 1, order: Order::IN_STEP };
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
