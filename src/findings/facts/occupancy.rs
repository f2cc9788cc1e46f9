//! Blocks that share an SM, and what limits their number.

use super::super::prelude::*;
use warpline_simulator::models;

/// Shared memory that a block takes and does not store to.
pub struct UnusedShared {
    /// Bytes that a block takes.
    pub requested: u64,
    /// Bytes that a block stores: it uses no more.
    pub stored: u64,
    /// Blocks that share an SM.
    pub blocks: u32,
    /// The same if each took what it stores.
    pub possible: u32,
    pub warps_of_block: u64,
    /// Warps that an SM holds at most.
    pub most_warps: u64,
}

impl UnusedShared {
    pub fn occupancy(&self, blocks: u32) -> f64 {
        share(u64::from(blocks).saturating_mul(self.warps_of_block), self.most_warps).min(1.0)
    }
}

/// Shared memory of a kernel's first launch; `None` where the model, or what blocks store, is not known.
pub fn unused_shared(facts: &Facts<'_>, kernel: &Kernel) -> Option<UnusedShared> {
    let launch = kernel.launches.first()?;
    if !facts.is_whole_run() || launch.block_share != 1 || launch.resident_blocks == 0 {
        return None;
    }
    let device = models::find(facts.profile.run.models.first()?).ok()?.run_device().ok()?.device;
    let requested = u64::from(launch.dynamic_shared_bytes).saturating_add(launch.static_shared_bytes.into());
    // What is read was stored before, by the block itself.
    let accesses = || facts.accesses_of(kernel.id, "shared");
    let stores = accesses().filter(|access| !access.is_load());
    let stored = stores.map(|access| access.sums.bytes).total().div_ceil(blocks(kernel).max(1));
    if stored == 0 && accesses().next().is_some() {
        return None;
    }
    let threads = launch.block.iter().copied().fold(1, u32::saturating_mul);
    let fits = |bytes: u64| device.resident_blocks(threads, launch.registers, u32::try_from(bytes).unwrap_or(u32::MAX));
    // An SM gets no more blocks than its part of the grid.
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
