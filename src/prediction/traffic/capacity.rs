//! What one launch has of a GPU model.

use warpline_simulator::hierarchy::HierarchyConfig;

/// Caches and SMs of a model, as far as a launch has them.
#[derive(Clone, Copy, Debug)]
pub struct Capacity<'a> {
    /// Rules of the caches.
    pub hierarchy: &'a HierarchyConfig,
    /// Lines of L1 that the launch's shared memory leaves.
    pub l1_lines: u32,
    /// Streaming multiprocessors.
    pub sms: u64,
    /// Blocks that share an SM.
    pub resident: u64,
    /// Requests of a warp's turn.
    pub turn: u32,
    /// How far the blocks of an SM drift apart (`Order::drift`).
    pub drift: u32,
}

impl Capacity<'_> {
    /// Blocks that the SMs hold at a time.
    pub fn wave(&self) -> u64 {
        (self.sms * self.resident).max(1)
    }

    /// Blocks that share an SM in a launch of `blocks` blocks.
    pub fn resident_of(&self, blocks: u64) -> u64 {
        self.resident.min(blocks.div_ceil(self.sms.max(1))).max(1)
    }

    /// Returns whether L1 keeps what plain loads load.
    pub fn caches_loads(&self) -> bool {
        self.hierarchy.l1.caches_global_loads
    }

    /// Bytes of L2.
    pub fn l2_bytes(&self) -> f64 {
        self.hierarchy.l2.bytes() as f64
    }
}
