//! What branches cost: the instructions of each side, and the lanes that stay idle because of them.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::site_table::SiteTable;

use crate::analysis::KernelData;
use crate::profile::build::rows::rows::{idle_in_part, instructions};

/// Of one branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::profile::build) struct BranchCost {
    /// Warp instructions issued in blocks that run because of each side, however deep inside of it.
    pub(in crate::profile::build) instructions: Vec<u64>,
    /// Lane slots that stay idle in blocks that part of a warp's live lanes run, where this is the innermost branch that
    /// diverged among those that decide over the block.
    pub(in crate::profile::build) idle_slots: u64,
}

/// The branches of a kernel that cost anything, by number.
pub(in crate::profile::build) fn costs(table: &SiteTable, kernel: &KernelData) -> BTreeMap<u32, BranchCost> {
    let diverged = |branch: u32| kernel.branches.get(&branch).map_or(0, |sum| sum.divergent);
    let mut costs: BTreeMap<u32, BranchCost> = BTreeMap::new();
    for (&block, sum) in &kernel.blocks {
        let once = instructions(&table.blocks[block as usize].mix);
        let issued = sum.executions.saturating_mul(once);
        let idle = idle_in_part(sum.executions.saturating_mul(32).saturating_sub(sum.lanes), sum.partial);
        let mut idle = (idle > 0).then(|| idle.saturating_mul(once));
        let mut seen: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut blocks = BTreeSet::from([block]);
        // Level by level, from the branches that decide over the block to those that decide over these.
        let mut level = vec![block];
        while !level.is_empty() {
            let decisions: Vec<_> = level.drain(..).flat_map(|block| table.decisions_of(block)).collect();
            // Of branches that decide alike, as the two ends of a rotated loop do, the one that diverged most.
            let guilty = decisions.iter().map(|decision| decision.branch).filter(|&branch| diverged(branch) > 0);
            let guilty = guilty.max_by_key(|&branch| (diverged(branch), std::cmp::Reverse(branch)));
            if let Some(branch) = guilty
                && let Some(idle) = idle.take()
            {
                let cost = costs.entry(branch).or_default();
                cost.idle_slots = cost.idle_slots.saturating_add(idle);
            }
            for decision in decisions {
                if seen.insert((decision.branch, decision.side)) {
                    let sides = table.branches[decision.branch as usize].sides as usize;
                    let cost = costs.entry(decision.branch).or_default();
                    cost.instructions.resize(sides, 0);
                    let side = &mut cost.instructions[decision.side as usize];
                    *side = side.saturating_add(issued);
                }
                if let Some(&outer) = table.branch_blocks.get(decision.branch as usize)
                    && blocks.insert(outer)
                {
                    level.push(outer);
                }
            }
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{BlockSum, BranchSum};
    use warpline_format::site_table::{Block, Branch, Decision, InstructionMix};

    /// 0: `if` that parts lanes; 1: begins its side, with an `if` of its own; 2: that one's side; 3: the rest of the first side,
    /// ten instructions; 4: behind both.
    fn nested() -> SiteTable {
        let block = |int| Block { mix: InstructionMix { int, ..InstructionMix::default() }, ..Block::default() };
        let decision = |block, branch, side| Decision { block, branch, side };
        SiteTable {
            blocks: [1, 1, 2, 10, 1].map(block).into(),
            branches: vec![Branch { sides: 2, ..Branch::default() }; 2],
            decisions: vec![decision(1, 0, 0), decision(2, 1, 0), decision(3, 0, 0)],
            branch_blocks: vec![0, 1],
            ..SiteTable::default()
        }
    }

    fn run(table: &SiteTable, lanes: [u64; 5], divergent: [u64; 2]) -> BTreeMap<u32, BranchCost> {
        let blocks = (0..).zip(lanes).filter(|(_, lanes)| *lanes > 0).map(|(block, lanes)| {
            let partial = u64::from(lanes < 32);
            (block, BlockSum { executions: 1, lanes, partial, by_warp: None })
        });
        let branches = (0..)
            .zip(divergent)
            .map(|(branch, divergent)| (branch, BranchSum { executions: 1, divergent, lanes: vec![16, 16] }));
        let kernel = KernelData { blocks: blocks.collect(), branches: branches.collect(), ..KernelData::default() };
        costs(table, &kernel)
    }

    #[test]
    fn idle_lanes_belong_to_the_innermost_branch_that_diverged() {
        let table = nested();
        let cost = |instructions: &[u64], idle_slots| BranchCost { instructions: instructions.to_vec(), idle_slots };
        // Both part lanes: what follows the inner one is not its own.
        let both = run(&table, [32, 16, 4, 16, 32], [1, 1]);
        assert_eq!(both[&0], cost(&[13, 0], 16 + 160));
        assert_eq!(both[&1], cost(&[2, 0], 28 * 2));
        // The inner one does not: its side, too, has few lanes because of the outer one.
        let outer = run(&table, [32, 16, 16, 16, 32], [1, 0]);
        assert_eq!(outer[&0], cost(&[13, 0], 16 + 32 + 160));
        assert_eq!(outer[&1], cost(&[2, 0], 0));
        assert_eq!(run(&SiteTable { decisions: Vec::new(), ..table }, [32, 16, 4, 16, 32], [1, 1]), BTreeMap::new());
    }

    #[test]
    fn loops_are_counted_once() {
        // 0: guard, 1: body that ends in the loop's own branch.
        let block = Block { mix: InstructionMix { int: 3, ..InstructionMix::default() }, ..Block::default() };
        let decision = |branch| Decision { block: 1, branch, side: 0 };
        let table = SiteTable {
            blocks: vec![block; 2],
            branches: vec![Branch { sides: 2, ..Branch::default() }; 2],
            decisions: vec![decision(0), decision(1)],
            branch_blocks: vec![0, 1],
            ..SiteTable::default()
        };
        let sum = |executions, lanes, partial| BlockSum { executions, lanes, partial, by_warp: None };
        let branches = [(0, 0), (1, 4)]
            .map(|(branch, divergent)| (branch, BranchSum { executions: 5, divergent, lanes: vec![64, 32] }));
        let kernel = KernelData {
            blocks: [(0, sum(1, 32, 0)), (1, sum(5, 96, 4))].into(),
            branches: branches.into(),
            ..KernelData::default()
        };
        let costs = costs(&table, &kernel);
        assert_eq!(costs[&1], BranchCost { instructions: vec![15, 0], idle_slots: 64 * 3 });
        assert_eq!(costs[&0], BranchCost { instructions: vec![15, 0], idle_slots: 0 });
    }
}
