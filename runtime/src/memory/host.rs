//! Host allocations that rebuilt code reports, so that copies can be assigned to them. Only allocations that a copy or
//! a registration uses are added to the trace (or all allocations from the threshold on, if the user requests this).

use std::collections::BTreeMap;
use warpline_format::event::HostAllocationId;

/// Host allocations from this size in bytes on get a call path.
pub const PATH_FROM: u64 = 1024;

/// A host allocation.
#[derive(Clone, Debug)]
pub struct HostAllocation {
    /// The size in bytes.
    pub bytes: u64,
    /// The call that created it.
    pub kind: String,
    /// The variable's name, if known.
    pub name: Option<String>,
    /// The return addresses of its call path, innermost first; empty below the threshold.
    pub frames: Vec<u64>,
    /// The allocation's number in the trace, after it was added to the trace.
    pub id: Option<HostAllocationId>,
}

/// The live host allocations, by address.
#[derive(Debug, Default)]
pub struct HostAllocations {
    live: BTreeMap<u64, HostAllocation>,
    next: HostAllocationId,
}

impl HostAllocations {
    /// Adds an allocation. Existing allocations that it overlaps were freed by code that was not rebuilt.
    pub fn insert(&mut self, address: u64, allocation: HostAllocation) {
        let end = address + allocation.bytes.max(1);
        let overlaps = |(&start, old): (&u64, &HostAllocation)| (start + old.bytes.max(1) > address).then_some(start);
        while let Some(stale) = self.live.range(..end).next_back().and_then(overlaps) {
            self.live.remove(&stale);
        }
        self.live.insert(address, allocation);
    }

    /// Removes an allocation.
    pub fn remove(&mut self, address: u64) {
        self.live.remove(&address);
    }

    /// Returns the allocation that contains `address`.
    pub fn find(&mut self, address: u64) -> Option<&mut HostAllocation> {
        let (&start, live) = self.live.range_mut(..=address).next_back()?;
        (address - start < live.bytes.max(1)).then_some(live)
    }

    /// Returns the next number; numbers start at 1.
    pub fn next_id(&mut self) -> HostAllocationId {
        self.next += 1;
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(bytes: u64) -> HostAllocation {
        HostAllocation { bytes, kind: "malloc".into(), name: None, frames: Vec::new(), id: None }
    }

    #[test]
    fn a_new_allocation_ends_those_it_overlaps() {
        let mut host = HostAllocations::default();
        host.insert(100, note(50));
        host.insert(200, note(50));
        host.insert(300, note(50));
        host.insert(140, note(70));
        assert_eq!(host.find(150).map(|live| live.bytes), Some(70));
        assert!(host.find(110).is_none() && host.find(240).is_none());
        assert!(host.find(349).is_some() && host.find(350).is_none());
    }
}
