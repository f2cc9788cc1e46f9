//! Assigns addresses to device allocations. An address depends only on the order and the sizes of the earlier
//! allocations and frees, so two runs give the same addresses.
//!
//! As in CUDA, small allocations start at multiples of 512 bytes. There is a gap of at least [`GAP`] bytes after each,
//! so that an access just after the end touches no neighbour. As on a GPU, large allocations start at a multiple of 2
//! MiB, with at least one free page after each.

use std::collections::BTreeMap;

/// The minimum distance between the end of an allocation and the next allocation.
pub const GAP: u64 = 256;
/// Small allocations start at multiples of this number of bytes.
pub const SMALL_UNIT: u64 = 512;
/// Allocations from this size on have their own pages.
pub const LARGE_FROM: u64 = 1 << 20;
/// Large allocations start at multiples of this number of bytes.
pub const LARGE_UNIT: u64 = 2 << 20;

/// One arena: address-ordered first fit.
#[derive(Debug)]
struct Arena {
    holes: BTreeMap<u64, u64>,
}

impl Arena {
    fn new(base: u64, bytes: u64) -> Arena {
        Arena { holes: BTreeMap::from([(base, bytes)]) }
    }

    fn take(&mut self, bytes: u64) -> Option<u64> {
        let (&address, &length) = self.holes.iter().find(|(_, length)| **length >= bytes)?;
        self.holes.remove(&address);
        if length > bytes {
            self.holes.insert(address + bytes, length - bytes);
        }
        Some(address)
    }

    fn give(&mut self, mut address: u64, mut bytes: u64) {
        if let Some((&before, &length)) = self.holes.range(..address).next_back()
            && before + length == address
        {
            self.holes.remove(&before);
            address = before;
            bytes += length;
        }
        if let Some(length) = self.holes.remove(&(address + bytes)) {
            bytes += length;
        }
        self.holes.insert(address, bytes);
    }
}

/// The address range of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// The first byte.
    pub address: u64,
    /// The number of reserved bytes from the first byte on, including the gap.
    pub reserved: u64,
    /// Whether the allocation has its own pages.
    pub large: bool,
}

/// The address allocator of the device window.
#[derive(Debug)]
pub struct Allocator {
    small: Arena,
    large: Arena,
}

impl Allocator {
    /// Creates an allocator for `base .. base + bytes`. The first `small` bytes are for small allocations, and the next
    /// `apart` bytes stay unused. All four values are multiples of [`LARGE_UNIT`].
    pub fn new(base: u64, bytes: u64, small: u64, apart: u64) -> Allocator {
        let large = small + apart;
        Allocator { small: Arena::new(base, small), large: Arena::new(base + large, bytes - large) }
    }

    /// Returns an address range for `bytes` bytes, or `None` if the window is full.
    pub fn allocate(&mut self, bytes: u64) -> Option<AddressRange> {
        if bytes >= LARGE_FROM {
            return self.allocate_pages(bytes);
        }
        let reserved = (bytes + GAP).next_multiple_of(SMALL_UNIT);
        Some(AddressRange { address: self.small.take(reserved)?, reserved, large: false })
    }

    /// Returns a place with pages of its own, whatever its size.
    pub fn allocate_pages(&mut self, bytes: u64) -> Option<AddressRange> {
        let reserved = bytes.checked_add(super::windows::PAGE)?.checked_next_multiple_of(LARGE_UNIT)?;
        Some(AddressRange { address: self.large.take(reserved)?, reserved, large: true })
    }

    /// Frees an address range.
    pub fn free(&mut self, place: AddressRange) {
        let arena = if place.large { &mut self.large } else { &mut self.small };
        arena.give(place.address, place.reserved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BASE: u64 = 1 << 44;

    fn allocator() -> Allocator {
        Allocator::new(BASE, 1 << 40, 1 << 30, LARGE_UNIT)
    }

    #[test]
    fn a_freed_place_is_used_again() {
        let mut allocator = allocator();
        let first = allocator.allocate(1000).unwrap();
        let second = allocator.allocate(1000).unwrap();
        allocator.free(first);
        assert_eq!(allocator.allocate(900).unwrap().address, first.address);
        assert_eq!(first.address, BASE);
        assert_eq!(second.address, BASE + 1536);
    }

    #[test]
    fn a_full_window_is_no_place() {
        let mut allocator = allocator();
        assert!(allocator.allocate(1 << 41).is_none());
        assert!(allocator.allocate(u64::MAX).is_none());
        assert!(allocator.allocate(64).is_some());
    }

    proptest! {
        #[test]
        fn places_are_apart_and_repeatable(steps in prop::collection::vec((any::<bool>(), 1u64..5_000_000, any::<prop::sample::Index>()), 1..200)) {
            let run = || {
                let mut allocator = allocator();
                let mut live: Vec<(AddressRange, u64)> = Vec::new();
                let mut log = Vec::new();
                for (free, bytes, which) in &steps {
                    if *free && !live.is_empty() {
                        allocator.free(live.remove(which.index(live.len())).0);
                    } else {
                        let place = allocator.allocate(*bytes).unwrap();
                        prop_assert_eq!(place.address % 256, 0);
                        for (other, size) in &live {
                            prop_assert!(place.address + bytes + GAP <= other.address || other.address + size + GAP <= place.address);
                        }
                        live.push((place, *bytes));
                        log.push(place.address);
                    }
                }
                Ok(log)
            };
            prop_assert_eq!(run()?, run()?);
        }
    }
}
