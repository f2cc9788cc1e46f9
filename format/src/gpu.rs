//! What the pass and the runtime agree on for code that runs on a real GPU: names in the fat binary, and the
//! count cells that hooks add to. What the device sends is described in `runtime/device/wire.h`.

use crate::event::{BlockCount, BranchCount};
use crate::site_table::SiteTable;

/// Appended to a kernel's mangled name: its hooked form, which has the parameters of [`TARGET_PARAMETERS`] more.
pub const HOOKED_SUFFIX: &str = "__warpline";
/// Kernel that runs behind a hooked one, in the same stream.
pub const FINISH_KERNEL: &str = "__warpline_finish";
/// Parameters that a hooked kernel has after its own: `rings`, `data`, `counts`, `flags`, 64 bits each.
pub const TARGET_PARAMETERS: usize = 4;

/// Cells of a basic block: executions with 32 lanes; other executions; lanes of those; other executions with all
/// live lanes. Full warps, the common case, thus cost the device one addition.
pub const BLOCK_CELLS: u64 = 4;
/// Cells of a branch before its sides: executions that the sides' cells do not tell; divergent ones. Then for each
/// side: executions in which 32 lanes went there; lanes of other executions.
pub const BRANCH_CELLS: u64 = 2;

/// Where the count cells of a module's blocks and branches lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountLayout {
    blocks: u64,
    /// First cell and number of sides.
    branches: Vec<(u64, u32)>,
    cells: u64,
}

impl CountLayout {
    /// The layout for a module.
    pub fn of(table: &SiteTable) -> CountLayout {
        let blocks = table.blocks.len() as u64;
        let mut cells = blocks * BLOCK_CELLS;
        let branches = table
            .branches
            .iter()
            .map(|branch| {
                let first = cells;
                cells += BRANCH_CELLS + 2 * u64::from(branch.sides);
                (first, branch.sides)
            })
            .collect();
        CountLayout { blocks, branches, cells }
    }

    /// Number of 64-bit cells.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// First cell of a block.
    pub fn block(&self, block: u32) -> u64 {
        u64::from(block) * BLOCK_CELLS
    }

    /// First cell of a branch.
    pub fn branch(&self, branch: u32) -> u64 {
        self.branches[branch as usize].0
    }

    /// The counts that cells stand for; only blocks and branches that ran.
    ///
    /// # Panics
    /// If `cells` is shorter than [`Self::cells`].
    pub fn counts(&self, cells: &[u64]) -> (Vec<BlockCount>, Vec<BranchCount>) {
        let blocks = (0..self.blocks)
            .filter_map(|block| {
                let cell = &cells[(block * BLOCK_CELLS) as usize..][..BLOCK_CELLS as usize];
                let executions = cell[0] + cell[1];
                let lanes = 32 * cell[0] + cell[2];
                (executions != 0).then(|| BlockCount {
                    block: block as u32,
                    executions,
                    lanes,
                    partial: cell[1] - cell[3].min(cell[1]),
                })
            })
            .collect();
        let branches = self
            .branches
            .iter()
            .enumerate()
            .filter_map(|(branch, &(first, sides))| {
                let cell = &cells[first as usize..][..(BRANCH_CELLS + 2 * u64::from(sides)) as usize];
                let sides = cell[BRANCH_CELLS as usize..].chunks_exact(2);
                let executions = cell[0] + sides.clone().map(|side| side[0]).sum::<u64>();
                let lanes = sides.map(|side| 32 * side[0] + side[1]).collect();
                (executions != 0).then_some(BranchCount {
                    branch: branch as u32,
                    executions,
                    divergent: cell[1],
                    lanes,
                })
            })
            .collect();
        (blocks, branches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_table::{Block, Branch};

    #[test]
    fn cells_tell_executions_lanes_and_sides() {
        let table = SiteTable {
            blocks: vec![Block::default(); 2],
            branches: vec![Branch { sides: 2, ..Branch::default() }, Branch { sides: 3, ..Branch::default() }],
            ..SiteTable::default()
        };
        let layout = CountLayout::of(&table);
        assert_eq!((layout.block(1), layout.branch(0), layout.branch(1), layout.cells()), (4, 8, 14, 22));
        let mut cells = vec![0; 22];
        // Block 1: ten full warps, three others with 50 lanes, one of which had all its live lanes.
        cells[4..8].copy_from_slice(&[10, 3, 50, 1]);
        // Branch 0: five warps all to side 0, two to side 1, four mixed with 20 and 60 lanes.
        cells[8..14].copy_from_slice(&[4, 4, 5, 20, 2, 60]);
        let (blocks, branches) = layout.counts(&cells);
        assert_eq!(blocks, [BlockCount { block: 1, executions: 13, lanes: 370, partial: 2 }]);
        assert_eq!(branches, [BranchCount { branch: 0, executions: 11, divergent: 4, lanes: vec![180, 124] }]);
    }
}
