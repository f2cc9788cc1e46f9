//! Figures that no run can give. A record that has them is damaged, even if its checksum is right.

use std::collections::BTreeSet;

use warpline_format::event::{BlockCount, BranchCount, Copy, LaunchEnd, LaunchId, WarpBlockCount};
use warpline_format::site_table::SiteTable;

/// Most executions of a block, a branch or a warp in one launch: a GPU would take months.
const MOST_EXECUTIONS: u64 = 1 << 48;
/// Most bytes of a copy: device addresses have 48 bits.
const MOST_COPIED: u64 = 1 << 48;

/// A figure that no run can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum FigureError {
    /// No memory is that large.
    #[error("a copy of {rows} rows of {bytes} bytes is larger than any memory")]
    Copy { rows: u64, bytes: u64 },
    /// A block that the module does not have.
    #[error("launch {launch}: block {block} of {blocks}")]
    NoBlock { launch: LaunchId, block: u32, blocks: usize },
    /// More executions than time, or lanes than warps have.
    #[error("launch {launch}: impossible counts of block {block}")]
    Block { launch: LaunchId, block: u32 },
    /// The number of warps contradicts the executions of the block.
    #[error("launch {launch}: impossible warps of block {block}")]
    Warps { launch: LaunchId, block: u32 },
    /// A branch that the module does not have, or with other sides.
    #[error("launch {launch}: counts of branch {branch} do not fit it")]
    NoBranch { launch: LaunchId, branch: u32 },
    /// More executions than time, or lanes than warps have.
    #[error("launch {launch}: impossible counts of branch {branch}")]
    Branch { launch: LaunchId, branch: u32 },
}

/// Bytes of a copy.
///
/// # Errors
/// No memory is that large.
pub(super) fn copied_bytes(copy: &Copy) -> Result<u64, FigureError> {
    let bytes = copy.width.checked_mul(copy.height).filter(|&bytes| bytes <= MOST_COPIED);
    bytes.ok_or(FigureError::Copy { rows: copy.height, bytes: copy.width })
}

/// Returns whether a launch's counts of blocks and branches are possible, and of what its module has.
///
/// # Errors
/// Returns what is wrong.
pub(super) fn launch_end(end: &LaunchEnd, table: &SiteTable) -> Result<(), FigureError> {
    let mut seen = BTreeSet::new();
    for &BlockCount { block, executions, lanes, partial } in &end.blocks {
        if block as usize >= table.blocks.len() {
            return Err(FigureError::NoBlock { launch: end.id, block, blocks: table.blocks.len() });
        }
        if executions > MOST_EXECUTIONS || lanes > 32 * executions || partial > executions || !seen.insert(block) {
            return Err(FigureError::Block { launch: end.id, block });
        }
    }
    seen.clear();
    for BranchCount { branch, executions, divergent, lanes } in &end.branches {
        let sides = table.branches.get(*branch as usize).map(|branch| branch.sides as usize);
        if sides != Some(lanes.len()) {
            return Err(FigureError::NoBranch { launch: end.id, branch: *branch });
        }
        let all = lanes.iter().try_fold(0u64, |sum, &lanes| sum.checked_add(lanes));
        let possible = *executions <= MOST_EXECUTIONS
            && divergent <= executions
            && all.is_some_and(|all| all <= 32 * executions)
            && seen.insert(*branch);
        if !possible {
            return Err(FigureError::Branch { launch: end.id, branch: *branch });
        }
    }
    Ok(())
}

/// Returns whether a launch's counts of blocks by warp are possible, and of what its module has.
///
/// # Errors
/// Returns what is wrong.
pub(super) fn warp_blocks(launch: LaunchId, counts: &[WarpBlockCount], table: &SiteTable) -> Result<(), FigureError> {
    let mut seen = BTreeSet::new();
    for &WarpBlockCount { block, warps, uneven, partial } in counts {
        if block as usize >= table.blocks.len() {
            return Err(FigureError::NoBlock { launch, block, blocks: table.blocks.len() });
        }
        if warps > MOST_EXECUTIONS || uneven > warps || partial > warps || !seen.insert(block) {
            return Err(FigureError::Warps { launch, block });
        }
    }
    Ok(())
}
