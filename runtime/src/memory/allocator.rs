//! Places device allocations. The place depends on nothing but the order and the sizes of the
//! allocations and frees before, so two runs give the same addresses.
//!
//! Small allocations are packed at 512 bytes as CUDA does, with a gap of at least
//! [`GAP`] bytes after each, so that an access just past the end hits no neighbour. Large ones
//! start at a multiple of 2 MiB, as on a GPU, with at least a page after them.

use std::collections::BTreeMap;

/// Distance between the end of an allocation and the next one, at least.
pub const GAP: u64 = 256;
/// Placement unit of small allocations.
pub const SMALL_UNIT: u64 = 512;
/// From this size on an allocation has pages of its own.
pub const LARGE_FROM: u64 = 1 << 20;
/// Placement unit of large allocations.
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

/// A place for an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// First byte.
    pub address: u64,
    /// Bytes set aside from there, gap included.
    pub reserved: u64,
    /// Has pages of its own.
    pub large: bool,
}

/// Address allocator of the device window.
#[derive(Debug)]
pub struct Allocator {
    small: Arena,
    large: Arena,
}

impl Allocator {
    /// Allocates from `base .. base + bytes`; the first `small` bytes serve small allocations, and the next `apart` none.
    /// All four are multiples of [`LARGE_UNIT`].
    pub fn new(base: u64, bytes: u64, small: u64, apart: u64) -> Allocator {
        let large = small + apart;
        Allocator { small: Arena::new(base, small), large: Arena::new(base + large, bytes - large) }
    }

    /// Returns a place for `bytes` bytes, or `None` when the window is full.
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

    /// Takes a place back.
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
