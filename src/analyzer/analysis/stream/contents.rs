//! Detects copies that transfer no new data.

use rustc_hash::FxHashSet;
use warpline_format::event::AllocationId;

use crate::analysis::CopyKey;

/// Tracks which allocations kernels store to, and identifies copies whose bytes were already at the destination.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Allocations with stores since their last copy.
    stored: FxHashSet<AllocationId>,
    /// Allocations that a copy or a kernel has written. Programs cannot rely on the contents of fresh memory, although
    /// it is zero on the CPU device.
    filled: FxHashSet<AllocationId>,
    /// Keys of the last copy, without the keys of allocations that kernels stored to since the copy before it.
    last: Vec<CopyKey>,
}

impl Contents {
    /// Records a new allocation.
    pub(super) fn allocated(&mut self, allocation: AllocationId) {
        self.filled.remove(&allocation);
    }

    /// Records a store of a launch to an allocation.
    pub(super) fn stored(&mut self, allocation: AllocationId) {
        self.stored.insert(allocation);
        self.filled.insert(allocation);
    }

    /// Records a copy with its keys and the written allocation.
    pub(super) fn copied(&mut self, keys: &[CopyKey], destination: Option<AllocationId>) {
        self.last.clear();
        let fresh = destination.filter(|&allocation| self.filled.insert(allocation));
        // A kernel may have stored the same values again. The copy is then not redundant, because the program could not
        // know that.
        self.last.extend(keys.iter().filter(|key| !self.stored.remove(&key.0) && Some(key.0) != fresh));
    }

    /// Returns the keys of a copy whose bytes were already at the destination, except for allocations that a kernel has
    /// stored to since.
    pub(super) fn unchanged(&mut self) -> Vec<CopyKey> {
        std::mem::take(&mut self.last)
    }
}
