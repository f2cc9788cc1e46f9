//! Accesses of host code to device memory, by place and allocation (`--check-host`).

use std::collections::BTreeMap;

use warpline_format::event::{AllocationId, HostAccess, PathId};

/// Most places that are kept; accesses elsewhere are counted together.
const MOST_PLACES: usize = 10_000;

/// Accesses of one row: the first of each allocation between two calls of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAccessSum {
    /// Bytes from the start of the allocation to the first access.
    pub offset: u64,
    /// Number of accesses.
    pub count: u64,
}

/// All that the check of host accesses reported of device memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostAccesses {
    /// The run had the check.
    pub checked: bool,
    /// By row of the allocation, call path, and whether it writes.
    pub places: BTreeMap<(AllocationId, PathId, bool), HostAccessSum>,
    /// Accesses at places beyond [`MOST_PLACES`].
    pub more: u64,
}

impl HostAccesses {
    /// Adds an access to a row of allocations that starts at `start`.
    pub(super) fn add(&mut self, row: AllocationId, start: u64, access: &HostAccess) {
        let key = (row, access.path, access.is_store);
        if self.places.len() >= MOST_PLACES && !self.places.contains_key(&key) {
            self.more = self.more.saturating_add(1);
            return;
        }
        let first = HostAccessSum { offset: access.address.saturating_sub(start), count: 0 };
        let sum = self.places.entry(key).or_insert(first);
        sum.count = sum.count.saturating_add(1);
    }
}
