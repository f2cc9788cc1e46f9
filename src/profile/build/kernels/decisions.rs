//! Computes the costs of branches: the instructions of each side, and the lanes that are idle because of them.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::site_table::{Decision, SiteTable};

use crate::build::rows::rows::{idle_in_part, instructions};
use warpline_analyzer::analysis::{BlockSum, KernelData};

/// Number of lanes per warp.
const WARP: f64 = 32.0;

/// The cost of one branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::build) struct BranchCost {
    /// Warp instructions issued in blocks that run because of each side, including nested blocks.
    pub(in crate::build) instructions: Vec<u64>,
    /// Lane slots that are idle in partial executions of blocks because of this branch. It is the innermost divergent
    /// branch that controls the block. Only lanes that reached the branch count.
    pub(in crate::build) idle_slots: u64,
}

/// Returns the largest average number of active lanes over the blocks that each side of a branch controls. It
/// approximates the lanes that reach nested branches.
fn fullest(table: &SiteTable, kernel: &KernelData) -> BTreeMap<(u32, u32), f64> {
    let mut sides: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (&block, sum) in &kernel.blocks {
        for decision in table.decisions_of(block) {
            let most = sides.entry((decision.branch, decision.side)).or_default();
            *most = most.max(active(sum));
        }
    }
    sides
}

/// Returns the average number of active lanes of a block.
fn active(sum: &BlockSum) -> f64 {
    sum.lanes as f64 / sum.executions.max(1) as f64
}

/// Returns an upper bound of the lanes that a branch excludes from a block's executions by taking other sides. The
/// remaining idle lanes never existed or left elsewhere. The bound does not apply to the branches of a loop, whose
/// lanes also miss later iterations.
fn left_out(table: &SiteTable, kernel: &KernelData, decision: &Decision, sum: &BlockSum) -> Option<u64> {
    if decides_over_itself(table, decision.branch) {
        return None;
    }
    let branch = kernel.branches.get(&decision.branch)?;
    let side = *branch.lanes.get(decision.side as usize)?;
    let all = branch.lanes.iter().fold(0u64, |sum, lanes| sum.saturating_add(*lanes));
    let others = (all - side.min(all)).min(branch.divergent.saturating_mul(31));
    // A block in a loop runs more often than its side of the branch is taken. The side gets at least its share of the
    // lanes.
    let taken = (branch.executions as f64 * side as f64 / all.max(1) as f64).max(branch.divergent as f64).max(1.0);
    Some((others as f64 * (sum.executions as f64 / taken).max(1.0)).ceil() as u64)
}

/// Returns whether a branch controls, directly or through other branches, how often it is reached, as branches at the
/// end or exit of a loop do.
fn decides_over_itself(table: &SiteTable, branch: u32) -> bool {
    let Some(&own) = table.branch_blocks.get(branch as usize) else { return true };
    let (mut seen, mut left) = (BTreeSet::from([own]), vec![own]);
    while let Some(block) = left.pop() {
        for decision in table.decisions_of(block) {
            if decision.branch == branch {
                return true;
            }
            let outer = table.branch_blocks.get(decision.branch as usize);
            left.extend(outer.filter(|&&outer| seen.insert(outer)));
        }
    }
    false
}

/// Idle lane slots of a block that are not attributed to a branch yet.
struct Idle {
    slots: u64,
    /// The branch that is responsible for idle lanes among those that reached it, and the maximum number.
    inner: Option<(u32, u64)>,
}

impl Idle {
    /// Attributes idle lanes. Lanes that an outer branch excluded are not attributed to an inner one.
    fn share(&mut self, lanes: f64, came: f64, costs: &mut BTreeMap<u32, BranchCost>) {
        let Some((branch, most)) = self.inner.take() else { return };
        let part = if lanes < WARP { ((came - lanes) / (WARP - lanes)).clamp(0.0, 1.0) } else { 1.0 };
        let own = ((self.slots as f64 * part).round() as u64).min(self.slots).min(most);
        self.slots -= own;
        let cost = costs.entry(branch).or_default();
        cost.idle_slots = cost.idle_slots.saturating_add(own);
    }
}

/// Returns the branches of a kernel with a cost, by number.
pub(in crate::build) fn costs(table: &SiteTable, kernel: &KernelData) -> BTreeMap<u32, BranchCost> {
    let diverged = |branch: u32| kernel.branches.get(&branch).map_or(0, |sum| sum.divergent);
    let fullest = fullest(table, kernel);
    let mut costs: BTreeMap<u32, BranchCost> = BTreeMap::new();
    for (&block, sum) in &kernel.blocks {
        let once = instructions(&table.blocks[block as usize].mix);
        let issued = sum.executions.saturating_mul(once);
        let idle = idle_in_part(sum.executions.saturating_mul(32).saturating_sub(sum.lanes), sum.partial);
        let mut idle = Idle { slots: idle.saturating_mul(once), inner: None };
        let mut seen: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut blocks = BTreeSet::from([block]);
        // The loop proceeds from the branches that control the block to the branches that control these.
        let mut level = vec![block];
        while !level.is_empty() {
            let decisions: Vec<_> = level.drain(..).flat_map(|block| table.decisions_of(block)).collect();
            // If several branches control the block in the same way, such as the two ends of a rotated loop, the one
            // that diverged most is responsible.
            let guilty = decisions.iter().filter(|decision| diverged(decision.branch) > 0);
            let guilty = guilty.max_by_key(|decision| (diverged(decision.branch), std::cmp::Reverse(decision.branch)));
            if let Some(decision) =
                guilty.filter(|decision| idle.slots > 0 && !seen.contains(&(decision.branch, decision.side)))
            {
                let came = fullest.get(&(decision.branch, decision.side)).copied().unwrap_or(WARP);
                idle.share(active(sum), came, &mut costs);
                let most = left_out(table, kernel, decision, sum).map_or(u64::MAX, |most| most.saturating_mul(once));
                idle.inner = Some((decision.branch, most));
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
        // No outer branch excluded lanes.
        idle.share(active(sum), WARP, &mut costs);
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_analyzer::analysis::BranchSum;
    use warpline_format::site_table::{Block, Branch, InstructionMix};

    /// Block 0 has an `if` that diverges; block 1 starts its side and has a nested `if`; block 2 is the side of the
    /// nested `if`; block 3 is the rest of the first side, with ten instructions; block 4 follows both.
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
        // Both branches diverge. The block after the inner branch is attributed to the outer one only.
        let both = run(&table, [32, 16, 4, 16, 32], [1, 1]);
        // The inner branch excludes 12 of the 16 lanes that reached it.
        assert_eq!(both[&0], cost(&[13, 0], 16 + 16 * 2 + 160));
        assert_eq!(both[&1], cost(&[2, 0], 12 * 2));
        // The inner branch does not diverge. Its side also has few lanes because of the outer branch.
        let outer = run(&table, [32, 16, 16, 16, 32], [1, 0]);
        assert_eq!(outer[&0], cost(&[13, 0], 16 + 32 + 160));
        assert_eq!(outer[&1], cost(&[2, 0], 0));
        assert_eq!(run(&SiteTable { decisions: Vec::new(), ..table }, [32, 16, 4, 16, 32], [1, 1]), BTreeMap::new());
    }

    #[test]
    fn a_branch_answers_for_the_lanes_that_it_parts_alone() {
        // Blocks have five threads. In one of twenty warps, four lanes leave at the border. The 27 lanes that do not
        // exist are not counted.
        let table = SiteTable { decisions: vec![Decision { block: 3, branch: 0, side: 0 }], ..nested() };
        let sum = |executions, lanes, partial| BlockSum { executions, lanes, partial, by_warp: None };
        let kernel = KernelData {
            blocks: [(0, sum(20, 100, 0)), (3, sum(20, 96, 1))].into(),
            branches: [(0, BranchSum { executions: 20, divergent: 1, lanes: vec![96, 4] })].into(),
            ..KernelData::default()
        };
        assert_eq!(costs(&table, &kernel)[&0].idle_slots, 5 * 10);
    }

    #[test]
    fn loops_are_counted_once() {
        // Block 0 is a guard; block 1 is a loop body that ends in the loop's branch.
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
