//! Copies that brought nothing new.

use rustc_hash::FxHashSet;
use warpline_format::event::AllocationId;

use crate::analysis::CopyKey;

/// Follows which allocations kernels store to, and judges copies that found their bytes at the destination already.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Stored to since the last copy of it.
    stored: FxHashSet<AllocationId>,
    /// Filled by a copy, or by a kernel, since it was allocated: fresh memory holds nothing that anybody could count on, though on
    /// the CPU device it is zero.
    filled: FxHashSet<AllocationId>,
    /// What the last copy was counted as, where its ends had not been stored to since the copy before.
    last: Vec<CopyKey>,
}

impl Contents {
    /// An allocation begins.
    pub(super) fn allocated(&mut self, allocation: AllocationId) {
        self.filled.remove(&allocation);
    }

    /// A launch stored to an allocation.
    pub(super) fn stored(&mut self, allocation: AllocationId) {
        self.stored.insert(allocation);
        self.filled.insert(allocation);
    }

    /// A copy, as it was counted, and the allocation that it writes.
    pub(super) fn copied(&mut self, keys: &[CopyKey], destination: Option<AllocationId>) {
        self.last.clear();
        let fresh = destination.filter(|&allocation| self.filled.insert(allocation));
        // A kernel may store what was there before: the copy was needed for all the program could know.
        self.last.extend(keys.iter().filter(|key| !self.stored.remove(&key.0) && Some(key.0) != fresh));
    }

    /// Returns the copy found its bytes there: what it counts for, unless a kernel has stored there meanwhile.
    pub(super) fn unchanged(&mut self) -> Vec<CopyKey> {
        std::mem::take(&mut self.last)
    }
}
