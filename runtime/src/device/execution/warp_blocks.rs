//! Basic blocks by warp: which warps executed a block, and with how many lanes in all executions.
//!
//! All warps of a launch share its count cells, and a warp runs alone until it pauses. So the increase of the cells up
//! to a pause belongs to this warp, and lowered code needs no extra instructions for it.

use std::ops::Range;
use warpline_format::abi::count_cells;
use warpline_format::event::WarpBlockCount;

/// Bits of a warp's state for one block: the number of its lanes so far modulo 32.
const LANES: u8 = 0x1f;
/// The warp executed the block.
const RAN: u8 = 0x20;
/// The warp executed the block with fewer lanes than it had live.
const PARTIAL: u8 = 0x40;

/// The part of a block's cells that has already been assigned to warps.
#[derive(Clone, Copy, Default)]
struct ReceivedCells {
    lanes: u64,
    partial: u64,
}

/// Blocks of a launch by warp.
pub struct WarpBlocks {
    blocks: Range<u64>,
    seen: Vec<ReceivedCells>,
    /// One state per warp slot and block.
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

    /// Records that the warp in `slot` has run up to this point, or to its end if `over` is set; `cells` are the
    /// launch's cells.
    pub fn ran(&mut self, slot: usize, cells: &[u64], over: bool) {
        let per_block = count_cells::PER_BLOCK as usize;
        let first = self.blocks.start as usize * per_block;
        let states = &mut self.states[slot * self.seen.len()..][..self.seen.len()];
        let cells = cells.get(first..).unwrap_or_default().chunks_exact(per_block);
        for (((cell, seen), state), sum) in cells.zip(&mut self.seen).zip(states).zip(&mut self.sums) {
            let mut now = *state;
            let [all, partial] = [count_cells::LANES, count_cells::PARTIAL].map(|which| cell[which as usize]);
            // Every execution has at least one lane.
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

    /// Returns the counts. A warp that did not end contributes the blocks that it executed.
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

    /// One execution: slot, block, lanes, number of live lanes, and whether the warp pauses or ends after it.
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
        // Slot 0 executes block 1 with all lanes; slot 1 executes it with 12 of 32 lanes, and after a pause with the
        // other 20.
        add(&mut cells, 1, 32, 32);
        blocks.ran(0, &cells, true);
        add(&mut cells, 1, 12, 32);
        blocks.ran(1, &cells, false);
        // The next warp of slot 0 has 8 lanes: it is full, although 8 is not a multiple of 32.
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
            // For each warp and block: the lanes, and whether any execution was partial.
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
