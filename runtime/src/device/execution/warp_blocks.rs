//! Basic blocks by warp: which warps ran a block, and with how many lanes over all its executions.
//!
//! The count cells of a launch are shared by all its warps, and a warp runs alone until it pauses. So what the cells
//! have grown by when it pauses is its own, and lowered code has nothing to do for it.

use std::ops::Range;
use warpline_format::abi::count_cells;
use warpline_format::event::WarpBlockCount;

/// Bits of a warp's state for one block: its lanes so far modulo 32, …
const LANES: u8 = 0x1f;
/// … that it ran it, …
const RAN: u8 = 0x20;
/// … and that it ran it with fewer lanes than it had live.
const PARTIAL: u8 = 0x40;

/// Cells of a block that a warp has already received.
#[derive(Clone, Copy, Default)]
struct ReceivedCells {
    lanes: u64,
    partial: u64,
}

/// Blocks of a launch by warp.
pub struct WarpBlocks {
    blocks: Range<u64>,
    seen: Vec<ReceivedCells>,
    /// One per warp slot and block.
    states: Vec<u8>,
    sums: Vec<WarpBlockCount>,
}

impl WarpBlocks {
    /// Creates a `WarpBlocks` for the `blocks` that a kernel may run, on `slots` warp slots.
    pub fn new(blocks: Range<u64>, slots: usize) -> WarpBlocks {
        let count = blocks.end.saturating_sub(blocks.start) as usize;
        let sums = (blocks.start..blocks.end).map(|block| WarpBlockCount { block: block as u32, ..Default::default() });
        let sums = sums.collect();
        WarpBlocks { blocks, seen: vec![ReceivedCells::default(); count], states: vec![0; count * slots], sums }
    }

    /// The warp in `slot` has run up to here, perhaps to its end; `cells` are the launch's.
    pub fn ran(&mut self, slot: usize, cells: &[u64], over: bool) {
        let per_block = count_cells::PER_BLOCK as usize;
        let first = self.blocks.start as usize * per_block;
        let states = &mut self.states[slot * self.seen.len()..][..self.seen.len()];
        let cells = cells.get(first..).unwrap_or_default().chunks_exact(per_block);
        for (((cell, seen), state), sum) in cells.zip(&mut self.seen).zip(states).zip(&mut self.sums) {
            let mut now = *state;
            let [all, partial] = [count_cells::LANES, count_cells::PARTIAL].map(|which| cell[which as usize]);
            // Every execution has a lane.
            if all != seen.lanes {
                let lanes = (all - seen.lanes + u64::from(now & LANES)) as u8 & LANES;
                let short = if partial != seen.partial { PARTIAL } else { now & PARTIAL };
                now = lanes | RAN | short;
                *seen = ReceivedCells { lanes: all, partial };
            }
            if over && now != 0 {
                count(sum, std::mem::take(&mut now));
            }
            if now != *state {
                *state = now;
            }
        }
    }

    /// The counts; warps that did not end count with what they ran.
    pub fn finish(mut self) -> Vec<WarpBlockCount> {
        if !self.seen.is_empty() {
            for slot in self.states.chunks_exact(self.seen.len()) {
                for (sum, state) in self.sums.iter_mut().zip(slot) {
                    count(sum, *state);
                }
            }
        }
        self.sums.retain(|sum| sum.warps != 0);
        self.sums
    }
}

fn count(sum: &mut WarpBlockCount, state: u8) {
    sum.warps += u64::from(state & RAN != 0);
    sum.uneven += u64::from(state & LANES != 0);
    sum.partial += u64::from(state & PARTIAL != 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// One execution: slot, block, lanes, of how many live; and whether the warp pauses or ends after it.
    type Step = (usize, u64, u64, u64, u8);

    fn add(cells: &mut [u64], block: u64, lanes: u64, live: u64) {
        let cell = &mut cells[3 * block as usize..][..3];
        cell[0] += 1;
        cell[1] += lanes;
        cell[2] += u64::from(lanes < live);
    }

    #[test]
    fn lanes_add_up_over_pauses() {
        let mut cells = vec![0; 12];
        let mut blocks = WarpBlocks::new(1..4, 2);
        // Slot 0 runs block 1 with all lanes; slot 1 with 12 of 32, and after a pause with the other 20.
        add(&mut cells, 1, 32, 32);
        blocks.ran(0, &cells, true);
        add(&mut cells, 1, 12, 32);
        blocks.ran(1, &cells, false);
        // The next warp of slot 0 has 8 lanes: full, and yet no multiple of 32.
        add(&mut cells, 2, 8, 8);
        blocks.ran(0, &cells, true);
        add(&mut cells, 1, 20, 32);
        add(&mut cells, 3, 31, 32);
        blocks.ran(1, &cells, false);
        let count = |block, warps, uneven, partial| WarpBlockCount { block, warps, uneven, partial };
        assert_eq!(blocks.finish(), [count(1, 2, 0, 1), count(2, 1, 1, 0), count(3, 1, 1, 1)]);
    }

    proptest! {
        #[test]
        fn as_from_a_list_of_all_executions(
            steps in prop::collection::vec((0usize..3, 0u64..4, 1u64..=32, 1u64..=32, 0u8..3), 0..200)
        ) {
            let mut cells = vec![0; 12];
            let mut blocks = WarpBlocks::new(0..4, 3);
            // By warp and block: lanes, and whether any execution was partial.
            let mut warps = [0, 1000, 2000];
            let mut table: BTreeMap<(i32, u64), (u64, bool)> = BTreeMap::new();
            let mut current = 0;
            for (slot, block, lanes, live, behind) in steps as Vec<Step> {
                if slot != current {
                    blocks.ran(current, &cells, false);
                    current = slot;
                }
                let live = live.max(lanes);
                add(&mut cells, block, lanes, live);
                let entry = table.entry((warps[slot], block)).or_default();
                entry.0 += lanes;
                entry.1 |= lanes < live;
                if behind != 0 {
                    blocks.ran(slot, &cells, behind == 2);
                    warps[slot] += i32::from(behind == 2);
                }
            }
            blocks.ran(current, &cells, false);
            let mut expected: BTreeMap<u64, WarpBlockCount> = BTreeMap::new();
            for ((_, block), (lanes, partial)) in table {
                let sum = expected.entry(block).or_default();
                sum.block = block as u32;
                sum.warps += 1;
                sum.uneven += u64::from(lanes % 32 != 0);
                sum.partial += u64::from(partial);
            }
            prop_assert_eq!(blocks.finish(), expected.into_values().collect::<Vec<_>>());
        }
    }
}
