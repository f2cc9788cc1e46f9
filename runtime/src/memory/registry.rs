//! Finds the device allocation to which an address belongs, or to which it belonged before the allocation was freed.

use super::allocator::AddressRange;
use super::windows::{Region, region};
use std::collections::BTreeMap;
use warpline_format::event::{AllocationId, AllocationKind, PathId};

/// The number of freed allocations that are kept, to name the allocation after a use after free.
const REMEMBERED: usize = 4096;

/// The distance from an allocation, in bytes, within which a GPU does not detect reads.
const NEAR: u64 = 4096;

/// A live allocation.
#[derive(Clone, Debug)]
pub struct Live {
    /// The allocation's number in the trace.
    pub id: AllocationId,
    /// The function that created it.
    pub kind: AllocationKind,
    /// The first byte.
    pub address: u64,
    /// The requested size.
    pub bytes: u64,
    /// The variable's name, if known.
    pub name: Option<String>,
    /// The call path of the allocation.
    pub path: PathId,
    /// The range that the allocator assigned; `None` for registered host memory.
    pub place: Option<AddressRange>,
    /// For registered host memory: its host address, which kernels use.
    pub host: Option<u64>,
    /// The elements of the memory, if they are known.
    pub elements: Option<Elements>,
}

/// The elements of an array, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The size of each element in bytes.
    pub bytes: u32,
    /// The type and shape, such as `float32[128, 64]`.
    pub shape: String,
    /// The number of bytes from the start of the memory to the first element of the array, which may be a part of the
    /// memory.
    pub offset: u64,
}

impl Live {
    /// Returns the address that kernels use for the first byte.
    pub fn start(&self) -> u64 {
        self.host.unwrap_or(self.address)
    }

    /// Returns the allocation's name for messages.
    pub fn label(&self) -> String {
        match (&self.name, self.kind) {
            (Some(name), _) => name.clone(),
            (None, AllocationKind::Managed) => "an unnamed cudaMallocManaged allocation".into(),
            (None, AllocationKind::Host) => "an unnamed cudaMallocHost allocation".into(),
            (None, AllocationKind::Registered) => "registered host memory".into(),
            (None, AllocationKind::DeviceHeap) => "a device-side malloc".into(),
            (None, AllocationKind::Compiler) => "a table that the compiler created".into(),
            (None, _) => "an unnamed device allocation".into(),
        }
    }
}

/// The position of an address relative to the nearest live allocation.
#[derive(Clone, Copy, Debug)]
pub struct Near<'a> {
    /// The allocation.
    pub allocation: &'a Live,
    /// The number of bytes before the start (negative), or after the end (zero is the first byte after the end).
    pub offset: i64,
}

impl<'a> Near<'a> {
    /// Creates the position of an address outside `allocation`, relative to it.
    pub fn new(allocation: &'a Live, address: u64) -> Near<'a> {
        let from_start = address.wrapping_sub(allocation.start()) as i64;
        let offset = if from_start < 0 { from_start } else { from_start - allocation.bytes as i64 };
        Near { allocation, offset }
    }
}

/// All allocations.
#[derive(Debug, Default)]
pub struct Registry {
    live: BTreeMap<u64, Live>,
    freed: BTreeMap<u64, Live>,
    next: AllocationId,
    /// Increases whenever an allocation ends, so that stale cached ranges are detected.
    pub epoch: u64,
    /// The number of live allocations that are registered host memory.
    pub registered: usize,
}

impl Registry {
    /// Returns the number for the next allocation; numbers start at 1.
    pub fn next_id(&mut self) -> AllocationId {
        self.next += 1;
        self.next
    }

    /// Adds an allocation.
    pub fn insert(&mut self, allocation: Live) {
        let start = allocation.start();
        let end = start + allocation.bytes.max(1);
        let stale: Vec<u64> = self
            .freed
            .range(..end)
            .rev()
            .take_while(|(_, old)| old.start() + old.bytes.max(1) > start)
            .map(|(&at, _)| at)
            .collect();
        for at in stale {
            self.freed.remove(&at);
        }
        self.registered += usize::from(allocation.host.is_some());
        self.live.insert(start, allocation);
    }

    /// Sets the address that kernels use for registered memory, once it is known.
    pub fn move_to(&mut self, start: u64, host: u64) {
        if let Some(live) = self.live.remove(&start) {
            self.live.insert(host, Live { host: Some(host), ..live });
        }
    }

    /// Returns the live allocation that starts at `start`.
    pub fn at(&self, start: u64) -> Option<&Live> {
        self.live.get(&start)
    }

    /// Records the elements of the allocation that starts at `start`.
    pub fn describe(&mut self, start: u64, elements: Elements) {
        if let Some(live) = self.live.get_mut(&start) {
            live.elements = Some(elements);
        }
    }

    /// Ends the allocation that starts at `start`.
    pub fn remove(&mut self, start: u64) -> Option<Live> {
        let live = self.live.remove(&start)?;
        self.epoch += 1;
        self.registered -= usize::from(live.host.is_some());
        if self.freed.len() >= REMEMBERED {
            self.freed.pop_first();
        }
        self.freed.insert(start, live.clone());
        Some(live)
    }

    /// Returns the live allocations that start in `first .. end`.
    pub fn within(&self, first: u64, end: u64) -> impl Iterator<Item = &Live> {
        self.live.range(first..end).map(|(_, live)| live)
    }

    /// Returns the live allocation that contains `address`.
    #[inline]
    pub fn find(&self, address: u64) -> Option<&Live> {
        let (_, live) = self.live.range(..=address).next_back()?;
        (address - live.start() < live.bytes).then_some(live)
    }

    /// Returns the freed allocation that contained `address` last.
    pub fn find_freed(&self, address: u64) -> Option<&Live> {
        let (_, old) = self.freed.range(..=address).next_back()?;
        (address - old.start() < old.bytes).then_some(old)
    }

    /// Among the freed allocations that contained a part of these bytes, returns the one that ended last.
    pub fn freed_within(&self, start: u64, bytes: u64) -> Option<AllocationId> {
        let overlaps = |old: &&Live| old.start() + old.bytes.max(1) > start;
        let before = self.freed.range(..start).next_back().map(|(_, old)| old).filter(overlaps);
        let inside = self.freed.range(start..start + bytes.max(1)).map(|(_, old)| old);
        before.into_iter().chain(inside).map(|old| old.id).max()
    }

    /// Returns the live allocation nearest to an address outside all of them.
    pub fn nearest(&self, address: u64) -> Option<Near<'_>> {
        let before = self.live.range(..=address).next_back().map(|(_, live)| Near::new(live, address));
        let after = self.live.range(address..).next().map(|(_, live)| Near::new(live, address));
        match (before, after) {
            (Some(low), Some(high)) => Some(if low.offset <= -high.offset { low } else { high }),
            (low, high) => low.or(high),
        }
    }

    /// Returns the array of an interpreted program for which an address of host memory outside all allocations was most
    /// likely intended. It is the nearest array, if its distance is not larger than its own size or than [`NEAR`].
    pub fn nearest_array(&self, address: u64) -> Option<Near<'_>> {
        let near = self.nearest(address)?;
        let live = near.allocation;
        let close = near.offset.unsigned_abs() <= live.bytes.max(NEAR);
        (live.kind == AllocationKind::Tensor && close).then_some(near)
    }

    /// Returns whether a GPU would hardly notice a read of `bytes` bytes outside all allocations. This is the case if
    /// the read is close to a live allocation on the device, because a GPU maps memory in pages of 2 MiB.
    pub fn tolerates(&self, address: u64, bytes: u64) -> bool {
        if region(address) != Region::Device {
            return false;
        }
        let near = |live: &Live| {
            let (start, end) = (live.start(), live.start() + live.bytes);
            // The read is before the allocation, after it, or across its end.
            live.host.is_none()
                && (address + bytes <= start && start - address <= NEAR
                    || address >= start && address <= end + NEAR - bytes)
        };
        self.live.range(..=address + NEAR).rev().take(2).any(|(_, live)| near(live))
    }

    /// Returns all live allocations, by address.
    pub fn iter(&self) -> impl Iterator<Item = &Live> {
        self.live.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(registry: &mut Registry, address: u64, bytes: u64) {
        let id = registry.next_id();
        registry.insert(Live {
            id,
            kind: AllocationKind::Malloc,
            address,
            bytes,
            name: None,
            path: 0,
            place: None,
            host: None,
            elements: None,
        });
    }

    #[test]
    fn finds_by_interval() {
        let mut registry = Registry::default();
        live(&mut registry, 1000, 100);
        live(&mut registry, 2000, 100);
        assert_eq!(registry.find(1000).unwrap().id, 1);
        assert_eq!(registry.find(1099).unwrap().id, 1);
        assert!(registry.find(1100).is_none());
        assert!(registry.find(999).is_none());
        assert_eq!(registry.nearest(1103).unwrap().offset, 3);
        let near = registry.nearest(1990).unwrap();
        assert_eq!((near.allocation.id, near.offset), (2, -10));
    }

    #[test]
    fn a_freed_place_is_known_until_used_again() {
        let mut registry = Registry::default();
        live(&mut registry, 1000, 100);
        assert!(registry.remove(1001).is_none());
        assert_eq!(registry.remove(1000).unwrap().id, 1);
        assert!(registry.remove(1000).is_none());
        assert_eq!(registry.find_freed(1050).unwrap().id, 1);
        assert_eq!([registry.freed_within(990, 11), registry.freed_within(1099, 50)], [Some(1); 2]);
        assert_eq!([registry.freed_within(990, 10), registry.freed_within(1100, 50)], [None; 2]);
        live(&mut registry, 1040, 10);
        assert!(registry.find_freed(1050).is_none());
    }
}
