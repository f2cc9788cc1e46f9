//! Which device allocation an address belongs to, now and before it was freed.

use super::allocator::AddressRange;
use super::windows::{Region, region};
use std::collections::BTreeMap;
use warpline_format::event::{AllocationId, AllocationKind, PathId};

/// Freed allocations that are remembered to name a use after free.
const REMEMBERED: usize = 4096;

/// How far from an allocation reads go unnoticed, bytes.
const NEAR: u64 = 4096;

/// A live allocation.
#[derive(Clone, Debug)]
pub struct Live {
    /// Number in the trace.
    pub id: AllocationId,
    /// How it came to be.
    pub kind: AllocationKind,
    /// First byte.
    pub address: u64,
    /// Requested size.
    pub bytes: u64,
    /// Variable's name where known.
    pub name: Option<String>,
    /// Call path of the allocation.
    pub path: PathId,
    /// Where the allocator put it; `None` for registered host memory.
    pub place: Option<AddressRange>,
    /// For registered host memory: its host address, which kernels use.
    pub host: Option<u64>,
    /// Elements of the memory, if they are known.
    pub elements: Option<Elements>,
}

/// The elements of an array, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Bytes of each.
    pub bytes: u32,
    /// Type and shape, as `float32[128, 64]`.
    pub shape: String,
    /// Bytes from the start of the memory to the first element of that array, which may be a part of it.
    pub offset: u64,
}

impl Live {
    /// Address that kernels use for the first byte.
    pub fn start(&self) -> u64 {
        self.host.unwrap_or(self.address)
    }

    /// Name for messages.
    pub fn label(&self) -> String {
        match (&self.name, self.kind) {
            (Some(name), _) => name.clone(),
            (None, AllocationKind::Managed) => "an unnamed cudaMallocManaged allocation".into(),
            (None, AllocationKind::Host) => "an unnamed cudaMallocHost allocation".into(),
            (None, AllocationKind::Registered) => "registered host memory".into(),
            (None, AllocationKind::DeviceHeap) => "a device-side malloc".into(),
            (None, AllocationKind::Compiler) => "a table made by the compiler".into(),
            (None, _) => "an unnamed device allocation".into(),
        }
    }
}

/// Where an address lies relative to the nearest live allocation.
#[derive(Clone, Copy, Debug)]
pub struct Near<'a> {
    /// The allocation.
    pub allocation: &'a Live,
    /// Bytes before its start (negative) or past its end (zero is the first byte past it).
    pub offset: i64,
}

impl<'a> Near<'a> {
    /// An address outside `allocation` as seen from there.
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
    /// Rises whenever an allocation ends, so that stale cached ranges are detected.
    pub epoch: u64,
    /// Whether any live allocation is registered host memory.
    pub registered: usize,
}

impl Registry {
    /// Returns the number for the next allocation, from 1.
    pub fn next_id(&mut self) -> AllocationId {
        self.next += 1;
        self.next
    }

    /// Enters an allocation.
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

    /// Gives registered memory the address that kernels use for it, once that is known.
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

    /// Returns the live allocation that holds `address`.
    #[inline]
    pub fn find(&self, address: u64) -> Option<&Live> {
        let (_, live) = self.live.range(..=address).next_back()?;
        (address - live.start() < live.bytes).then_some(live)
    }

    /// Returns the freed allocation that held `address` last.
    pub fn find_freed(&self, address: u64) -> Option<&Live> {
        let (_, old) = self.freed.range(..=address).next_back()?;
        (address - old.start() < old.bytes).then_some(old)
    }

    /// Returns the freed allocation that ended last of those that held a part of these bytes.
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

    /// Returns the array of an interpreted program that an address of host memory outside all allocations was most likely meant
    /// for: the nearest one that is no farther than it is large, or than [`NEAR`].
    pub fn nearest_array(&self, address: u64) -> Option<Near<'_>> {
        let near = self.nearest(address)?;
        let live = near.allocation;
        let close = near.offset.unsigned_abs() <= live.bytes.max(NEAR);
        (live.kind == AllocationKind::Tensor && close).then_some(near)
    }

    /// Returns whether a read of `bytes` bytes outside all allocations is so close to a live one on the device that a
    /// GPU, which maps memory in pages of 2 MiB, would hardly notice it.
    pub fn tolerates(&self, address: u64, bytes: u64) -> bool {
        if region(address) != Region::Device {
            return false;
        }
        let near = |live: &Live| {
            let (start, end) = (live.start(), live.start() + live.bytes);
            // In front of it, or after it, or over its end.
            live.host.is_none()
                && (address + bytes <= start && start - address <= NEAR
                    || address >= start && address <= end + NEAR - bytes)
        };
        self.live.range(..=address + NEAR).rev().take(2).any(|(_, live)| near(live))
    }

    /// All live allocations, by address.
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
