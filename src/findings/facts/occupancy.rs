//! Blocks that share an SM, and the limits of their number.

use super::super::prelude::*;
use warpline_simulator::models;

/// Shared memory that a block reserves but does not use.
pub struct UnusedShared {
    /// Number of bytes that a block reserves.
    pub requested: u64,
    /// Number of bytes to which a block stores, which is the maximum that it uses.
    pub stored: u64,
    /// Number of blocks that share an SM.
    pub blocks: u32,
    /// Number of blocks that would share an SM if each block reserved only the bytes to which it stores.
    pub possible: u32,
    pub warps_of_block: u64,
    /// Maximum number of warps per SM.
    pub most_warps: u64,
}

impl UnusedShared {
    pub fn occupancy(&self, blocks: u32) -> f64 {
        share(u64::from(blocks).saturating_mul(self.warps_of_block), self.most_warps).min(1.0)
    }
}

/// Returns the shared memory of a kernel's first launch; `None` if the model, or the stores of a block, are unknown.
pub fn unused_shared(facts: &Facts<'_>, kernel: &Kernel) -> Option<UnusedShared> {
    let launch = kernel.launches.first()?;
    if !facts.is_whole_run() || launch.block_share != 1 || launch.resident_blocks == 0 {
        return None;
    }
    let device = models::find(facts.profile.run.models.first()?).ok()?.run_device().ok()?.device;
    let requested = u64::from(launch.dynamic_shared_bytes).saturating_add(launch.static_shared_bytes.into());
    // A block can read only data that it stored itself.
    let accesses = || facts.accesses_of(kernel.id, "shared");
    let stores = accesses().filter(|access| !access.is_load());
    let stored = stores.map(|access| access.sums.bytes).total().div_ceil(blocks(kernel).max(1));
    if stored == 0 && accesses().next().is_some() {
        return None;
    }
    let threads = launch.block.iter().copied().fold(1, u32::saturating_mul);
    let fits = |bytes: u64| device.resident_blocks(threads, launch.registers, u32::try_from(bytes).unwrap_or(u32::MAX));
    // The number of blocks in the grid also limits the blocks per SM.
    let of_grid = launch.grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    let of_sm = u32::try_from(of_grid.div_ceil(u64::from(device.sms).max(1))).unwrap_or(u32::MAX);
    Some(UnusedShared {
        requested,
        stored,
        blocks: launch.resident_blocks,
        possible: fits(stored).min(of_sm).max(launch.resident_blocks),
        warps_of_block: u64::from(threads).div_ceil(32),
        most_warps: u64::from(device.threads_per_sm) / 32,
    })
}
