//! Requests that the width of the block splits into rows.

use super::super::prelude::*;
use super::super::thresholds::launches::*;

/// Returns the accesses to global memory that a block of this width splits into rows, if longer rows would save
/// sectors.
pub fn split_rows<'f, 'a>(facts: &'f Facts<'a>, kernel: &Kernel, width: u64) -> Vec<&'f Access<'a>> {
    facts.accesses_of(kernel.id, "global").filter(|access| is_split(access, width)).collect()
}

fn is_split(access: &Access<'_>, width: u64) -> bool {
    let pattern = &access.pattern;
    // If all lanes of a row read one address, or all rows the same addresses, the length of a row has little effect.
    let is_repeated = access.operand.is_some_and(|operand| operand.thread_steps[..2].contains(&ThreadStep::None));
    !is_repeated
        && !access.is_opaque
        && width < WARP
        && share(pattern.rows, pattern.requests) >= LEAST_ROWS
        // Shorter rows contain only the lanes that a branch leaves active.
        && pattern.row_lanes.is_some_and(|lanes| lanes <= width && lanes.saturating_mul(4) >= width.saturating_mul(3))
        && share(saved_sectors(access), access.sums.sectors) >= LEAST_SAVED_SECTORS
}

/// Returns the number of sectors that would be saved if each request were one row with the same alignment as the
/// current rows.
pub fn saved_sectors(access: &Access<'_>) -> u64 {
    let sums = &access.sums;
    let Some(row) = access.pattern.row_lanes.filter(|&lanes| lanes > 0) else { return 0 };
    let aligned = row.saturating_mul(u64::from(access.bytes)).div_ceil(SECTOR_BYTES).max(1);
    let rows = sums.lanes.div_ceil(row);
    // Each row that starts within a sector touches at most one additional sector; further sectors have a different
    // cause.
    let off = share(sums.sectors.saturating_sub(rows.saturating_mul(aligned)), rows).min(1.0);
    let left = sums.ideal_sectors.saturating_add((off * sums.requests as f64) as u64);
    sums.sectors.saturating_sub(left)
}
