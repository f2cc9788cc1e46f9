//! Computes when and on which SM the blocks of a launch run.

use std::ops::Range;

use super::block_times::BlockTimes;
use super::code::Code;
use super::steady_state::SteadyState;
use super::turns::WarpTurns;
use crate::traffic::capacity::Capacity;

/// The times and SMs of the issue slots of some blocks.
pub struct Timeline {
    sms: usize,
    resident: usize,
    /// Number of issue slots that an SM uses while its first blocks run.
    length: u32,
    blocks: Range<u64>,
    warps: u32,
    turns: u32,
    times: Times,
}

/// How the times are computed.
enum Times {
    /// Separately for each block.
    Each(BlockTimes),
    /// By a formula that applies far from the start of a launch. It halves the time of a prediction.
    Steady(SteadyState),
}

/// The blocks of an SM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmBlocks {
    /// Blocks in the order of their starts, the resident ones first.
    pub blocks: Vec<u64>,
    /// Indexed by resident block: the completed share of the block.
    pub phases: Vec<f64>,
}

impl Timeline {
    /// Schedules the blocks `run` of a launch as if there were no others. The code has this many issue slots. `apart`
    /// is the drift between SMs, in blocks. Returns `None` if there are too many kinds of blocks.
    pub fn new(
        code: &Code<'_>,
        capacity: &Capacity<'_>,
        (run, turns): (Range<u64>, usize),
        apart: f64,
    ) -> Option<Timeline> {
        let all = run.end - run.start;
        let (sms, resident) = (capacity.sms.min(all) as u32, capacity.resident_of(all) as u32);
        let warps = code.launch.warps();
        let blocks = run.clone();
        // Blocks that have drifted apart by a whole block run independently.
        let times = if apart >= 1.0 {
            Times::Steady(SteadyState::new(run.start, (sms, resident), (warps, turns as u32 + 1)))
        } else {
            let of_block = WarpTurns::new(code, capacity.turn)?;
            Times::Each(BlockTimes::new(of_block, (code.launch, capacity), (run, turns), apart))
        };
        let length = resident * warps * turns as u32;
        let (sms, resident) = (sms as usize, resident as usize);
        Some(Timeline { sms, resident, length, blocks, warps, turns: turns as u32, times })
    }

    /// Returns the time of an issue slot, as the number of the SM's earlier issue slots, and the SM.
    #[inline(always)]
    pub fn at(&self, block: u64, warp: u32, turn: usize) -> (u32, u16) {
        match &self.times {
            Times::Each(times) => times.at(block, warp, turn as u32),
            Times::Steady(times) => times.at(block, warp, turn as u32),
        }
    }

    /// Returns the number of issue slots that an SM uses while its first blocks run.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Returns the number of SMs that have blocks.
    pub fn sms(&self) -> usize {
        self.sms
    }

    /// Returns whether SMs run blocks in step, generation after generation.
    pub fn is_in_step(&self) -> bool {
        matches!(&self.times, Times::Each(times) if times.is_in_step())
    }

    /// Returns whether the first block is the first block of the launch.
    pub fn has_start(&self) -> bool {
        self.blocks.start == 0
    }

    /// Returns up to `most` blocks of each wanted SM, starting at a share of its blocks with the blocks that are
    /// resident then.
    pub fn blocks_of(&self, wanted: &[(usize, f64)], most: usize) -> Vec<SmBlocks> {
        let mut lists: Vec<Vec<u64>> = vec![Vec::new(); self.sms];
        for block in self.blocks.clone() {
            let sm = match &self.times {
                Times::Each(times) => times.sm(block),
                Times::Steady(times) => times.at(block, 0, 0).1,
            };
            lists[usize::from(sm)].push(block);
        }
        wanted.iter().map(|&(sm, from)| self.part_of(&lists[sm], from, most)).collect()
    }

    fn part_of(&self, all: &[u64], from: f64, most: usize) -> SmBlocks {
        let first = (from * all.len() as f64) as usize;
        if first <= self.resident && self.has_start() {
            return SmBlocks { blocks: all[..most.min(all.len())].to_vec(), phases: Vec::new() };
        }
        // Earlier blocks that have not ended when this block starts.
        let now = self.at(all[first], 0, 0).0;
        let phase = |&block: &u64| {
            let begin = self.at(block, 0, 0).0;
            let end = self.at(block, self.warps - 1, self.turns.max(1) as usize - 1).0 + 1;
            (end > now).then(|| (block, f64::from(now - begin.min(now)) / f64::from(end - begin).max(1.0)))
        };
        let mut running: Vec<(u64, f64)> =
            all[..first].iter().rev().take(2 * self.resident).filter_map(phase).collect();
        running.truncate(self.resident - 1);
        running.reverse();
        running.push((all[first], 0.0));
        let phases = running.iter().map(|one| one.1.min(1.0)).collect();
        let later = all[first + 1..].iter().copied().take(most.saturating_sub(1));
        SmBlocks { blocks: running.iter().map(|one| one.0).chain(later).collect(), phases }
    }
}

/// Returns up to `most` blocks of each wanted SM, starting at a share of its blocks, if SMs get blocks round-robin.
pub fn round_robin(blocks: u64, capacity: &Capacity<'_>, wanted: &[(usize, f64)], most: usize) -> Vec<SmBlocks> {
    let sms = capacity.sms.min(blocks).max(1);
    let of_sm = |&(sm, from): &(usize, f64)| {
        let generations = blocks.div_ceil(sms * capacity.resident_of(blocks));
        let skipped = (from * generations as f64) as u64 * capacity.resident_of(blocks);
        let all = (sm as u64..blocks).step_by(sms as usize);
        let blocks: Vec<u64> = all.skip(skipped as usize).take(most).collect();
        let resident = capacity.resident_of(sms * capacity.resident) as usize;
        let phases = if skipped > 0 { vec![0.0; resident.min(blocks.len())] } else { Vec::new() };
        SmBlocks { blocks, phases }
    };
    wanted.iter().map(of_sm).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use proptest::prelude::*;
    use warpline_format::schedule::{self, Shape, TurnEnd, WarpStreams};
    use warpline_format::warp_order::Order;

    use super::*;
    use crate::form::{Bounds, Form, Truth, block, thread};
    use crate::launch::Launch;
    use crate::traffic::access::MemoryAccess;
    use warpline_profile::model::Addresses;
    use warpline_simulator::models;

    /// Records the time and the SM of each warp's issue slots in a grid. Blocks may come in pairs, and warps after a
    /// border along an axis make no requests.
    struct Recorded<'a> {
        turns: &'a dyn Fn(u64, u32) -> u32,
        slots: Vec<(u64, u32, u32)>,
        of_sm: u32,
        warps: u32,
        given: Vec<u32>,
        found: BTreeMap<(u64, u32, usize), (u32, u16)>,
    }

    impl WarpStreams for Recorded<'_> {
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
        /// Compares the times with the scheduler's. Threads after a border make no requests, in whole warps and whole
        /// blocks.
        #[test]
        fn turns_are_when_the_scheduler_gives_them(sms in 1u32..5, resident in 1u32..4, warps in 1u32..4, blocks in 1u32..40, accesses in 1usize..4,
                border in 1i64..60) {
            let launch = Launch::new([32, warps, 1], [blocks, 1, 1], BTreeMap::new());
            let bounds = Bounds(launch.indices.into_iter().chain(launch.grid).map(|size| (0, i64::from(size) - 1)).collect());
            // The condition is true for every warp of the blocks before the border, and for the first warp of the
            // blocks after it.
            let condition = Truth::AtLeast(Form { constant: border, terms: vec![(thread(1), -100), (block(0), -1)] });
            let condition = if warps > 1 { condition } else { Truth::Known(true) };
            let all: Vec<MemoryAccess> = (0..accesses).map(|site| {
                let form = Form { constant: 1 << 20, terms: vec![(0, 4), (block(0), 128)] };
                MemoryAccess { site, item: site, ..MemoryAccess::load(form, condition.clone(), 4) }
            }).collect();
            let hierarchy = models::find("v100").unwrap().hierarchy().unwrap();
            let capacity = Capacity { hierarchy: &hierarchy, drift: 0, sms: sms.into(), resident: resident.into(), l1_lines: 8, turn: 1 };
            let addresses = Addresses::default();
            let code = Code::new(&all, (&addresses, &launch), &bounds, 1.0);
            let found = Timeline::new(&code, &capacity, (0..launch.blocks(), accesses), 0.0).expect("few kinds");
            let is_made = |own: u64, warp: u32| warps == 1 || border - 100 * i64::from(warp) - own as i64 >= 0;
            // A warp has one issue slot per request, and one in which it ends.
            let turns = |own: u64, warp: u32| if is_made(own, warp) { accesses as u32 + 1 } else { 1 };
            let resident = resident.min(blocks.div_ceil(sms));
            let shape = Shape { blocks: blocks.into(), warps, sms, resident, turn: 1, cluster: 1, order: Order::IN_STEP };
            let slots = shape.slots_per_sm();
            let mut recorded = Recorded { turns: &turns, slots: vec![(0, 0, 0); (slots * sms) as usize], of_sm: slots, warps,
                given: vec![0; sms as usize], found: BTreeMap::new() };
            schedule::run(&shape, &mut recorded).unwrap();
            for (&(own, warp, turn), &(time, sm)) in &recorded.found {
                if turn < accesses && is_made(own, warp) {
                    prop_assert_eq!(found.at(own, warp, turn), (time, sm), "block {}, warp {}, turn {}", own, warp, turn);
                }
            }
        }
    }
}
