//! Host allocations noted by rebuilt code, so that copies can be tied to them. Only those that a
//! copy or a registration uses enter the trace (all from the threshold on, where the user asks).

use std::collections::BTreeMap;
use warpline_format::event::HostAllocationId;

/// From this size on a host allocation gets a call path.
pub const PATH_FROM: u64 = 1024;

/// One noted host allocation.
#[derive(Clone, Debug)]
pub struct HostAllocation {
    /// Size.
    pub bytes: u64,
    /// Call that made it.
    pub kind: String,
    /// Variable's name where known.
    pub name: Option<String>,
    /// Return addresses of its call path, innermost first; empty below the threshold.
    pub frames: Vec<u64>,
    /// Number in the trace, once it is there.
    pub id: Option<HostAllocationId>,
}

/// Live host allocations by address.
#[derive(Debug, Default)]
pub struct HostAllocations {
    live: BTreeMap<u64, HostAllocation>,
    next: HostAllocationId,
}

impl HostAllocations {
    /// Notes an allocation.
    pub fn insert(&mut self, address: u64, allocation: HostAllocation) {
        self.live.insert(address, allocation);
    }

    /// Forgets one.
    pub fn remove(&mut self, address: u64) {
        self.live.remove(&address);
    }

    /// The allocation that holds `address`.
    pub fn find(&mut self, address: u64) -> Option<&mut HostAllocation> {
        let (&start, live) = self.live.range_mut(..=address).next_back()?;
        (address - start < live.bytes.max(1)).then_some(live)
    }

    /// The next number, from 1.
    pub fn next_id(&mut self) -> HostAllocationId {
        self.next += 1;
        self.next
    }
}
