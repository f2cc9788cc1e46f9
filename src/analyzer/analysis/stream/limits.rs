//! Detects figures that are impossible for any run. A record with such figures is damaged even if its checksum is
//! correct.

use std::collections::BTreeSet;

use warpline_format::event::{BlockCount, BranchCount, Copy, LaunchEnd, LaunchId, WarpBlockCount};
use warpline_format::site_table::SiteTable;

/// Maximum number of executions of a block, a branch or a warp in one launch. A GPU would take months for more.
const MOST_EXECUTIONS: u64 = 1 << 48;
/// Maximum bytes of a copy, because device addresses have 48 bits.
const MOST_COPIED: u64 = 1 << 48;

/// A figure that is impossible for any run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum FigureError {
    /// The size of the copy exceeds the address space.
    #[error("a copy of {rows} rows of {bytes} bytes is larger than any memory")]
    Copy { rows: u64, bytes: u64 },
    /// The module does not contain the block.
    #[error("launch {launch}: block {block} of {blocks}")]
    NoBlock { launch: LaunchId, block: u32, blocks: usize },
    /// The number of executions or of lanes is impossible.
    #[error("launch {launch}: impossible counts of block {block}")]
    Block { launch: LaunchId, block: u32 },
    /// The number of warps contradicts the executions of the block.
    #[error("launch {launch}: impossible warps of block {block}")]
    Warps { launch: LaunchId, block: u32 },
    /// The module does not contain the branch, or contains it with another number of sides.
    #[error("launch {launch}: counts of branch {branch} do not fit it")]
    NoBranch { launch: LaunchId, branch: u32 },
    /// The number of executions or of lanes is impossible.
    #[error("launch {launch}: impossible counts of branch {branch}")]
    Branch { launch: LaunchId, branch: u32 },
}

/// Returns the bytes of a copy.
///
/// # Errors
/// Returns an error if they exceed the address space.
pub(super) fn copied_bytes(copy: &Copy) -> Result<u64, FigureError> {
    let bytes = copy.width.checked_mul(copy.height).filter(|&bytes| bytes <= MOST_COPIED);
    bytes.ok_or(FigureError::Copy { rows: copy.height, bytes: copy.width })
}

/// Checks that a launch's counts of blocks and branches are possible and belong to its module.
///
/// # Errors
/// Returns the reason if they are invalid.
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

/// Checks that a launch's counts of blocks by warp are possible and belong to its module.
///
/// # Errors
/// Returns the reason if they are invalid.
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
