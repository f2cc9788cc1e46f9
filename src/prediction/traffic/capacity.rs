//! The resources of a GPU model that one launch uses.

use warpline_simulator::hierarchy::HierarchyConfig;

/// Caches and SMs of a model that are available to one launch.
#[derive(Clone, Copy, Debug)]
pub struct Capacity<'a> {
    /// Rules of the caches.
    pub hierarchy: &'a HierarchyConfig,
    /// Number of L1 lines that remain after the launch's shared memory is allocated.
    pub l1_lines: u32,
    /// Streaming multiprocessors.
    pub sms: u64,
    /// Number of blocks that are resident on an SM.
    pub resident: u64,
    /// Number of requests in a warp's issue slot.
    pub turn: u32,
    /// Distance by which the blocks of an SM drift apart (`Order::drift`).
    pub drift: u32,
}

impl Capacity<'_> {
    /// Returns the number of blocks that are resident on all SMs together.
    pub fn wave(&self) -> u64 {
        (self.sms * self.resident).max(1)
    }

    /// Returns the number of resident blocks per SM in a launch of `blocks` blocks.
    pub fn resident_of(&self, blocks: u64) -> u64 {
        self.resident.min(blocks.div_ceil(self.sms.max(1))).max(1)
    }

    /// Returns whether L1 caches plain loads.
    pub fn caches_loads(&self) -> bool {
        self.hierarchy.l1.caches_global_loads
    }

    /// Returns the bytes of L2.
    pub fn l2_bytes(&self) -> f64 {
        self.hierarchy.l2.bytes() as f64
    }
}
