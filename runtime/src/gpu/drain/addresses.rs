//! Translates the addresses of a GPU to the synthetic addresses of the trace, which depend only on the order and the
//! sizes of allocations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first address on the device.
    pub device: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The first address in the trace.
    pub synthetic: u64,
}

impl Range {
    #[inline]
    fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.device) < self.bytes
    }
}

/// The live allocations, sorted by device address. The program's threads change the map. The threads that drain read
/// it; each keeps a snapshot until the generation changes.
#[derive(Debug, Default)]
pub struct AddressMap {
    ranges: Mutex<Arc<Vec<Range>>>,
    generation: AtomicU64,
}

impl AddressMap {
    fn change(&self, change: impl FnOnce(&mut Vec<Range>)) {
        let mut ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut ranges));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Inserts an allocation and removes earlier allocations that share its bytes.
    pub fn insert(&self, range: Range) {
        self.change(|ranges| {
            ranges.retain(|old| old.device >= range.device + range.bytes || old.device + old.bytes <= range.device);
            let at = ranges.partition_point(|other| other.device < range.device);
            ranges.insert(at, range);
        });
    }

    /// Removes the allocation that starts at `device`.
    pub fn remove(&self, device: u64) {
        self.change(|ranges| ranges.retain(|range| range.device != device));
    }

    fn snapshot(&self) -> (Arc<Vec<Range>>, u64) {
        // The generation is read first: if the map changes in between, the only effect is that the snapshot is taken
        // again.
        let generation = self.generation.load(Ordering::Acquire);
        (self.ranges.lock().unwrap_or_else(PoisonError::into_inner).clone(), generation)
    }
}

/// The number of sites whose last allocation is cached.
const REMEMBERED: usize = 1 << 10;

/// A reader of an [`AddressMap`].
#[derive(Debug)]
pub struct Translator<'m> {
    map: &'m AddressMap,
    ranges: Arc<Vec<Range>>,
    generation: u64,
    last: Vec<u32>,
}

impl<'m> Translator<'m> {
    /// Creates a reader of `map`.
    pub fn new(map: &'m AddressMap) -> Translator<'m> {
        let (ranges, generation) = map.snapshot();
        Translator { map, ranges, generation, last: vec![0; REMEMBERED] }
    }

    /// Updates the snapshot with the changes made so far.
    pub fn refresh(&mut self) {
        if self.map.generation.load(Ordering::Acquire) != self.generation {
            (self.ranges, self.generation) = self.map.snapshot();
        }
    }

    /// Returns the allocation that contains an address. `site` only makes the search faster, because an instruction
    /// mostly stays in one allocation.
    #[inline]
    pub fn find(&mut self, site: u32, address: u64) -> Option<Range> {
        let last = &mut self.last[site as usize % REMEMBERED];
        if let Some(range) = self.ranges.get(*last as usize)
            && range.holds(address)
        {
            return Some(*range);
        }
        let at = self.ranges.partition_point(|range| range.device <= address).checked_sub(1)?;
        let range = self.ranges[at];
        if !range.holds(address) {
            return None;
        }
        *last = at as u32;
        Some(range)
    }

    /// Returns the trace address for a device address. An address outside every allocation stays unchanged.
    #[inline]
    pub fn translate(&mut self, site: u32, address: u64) -> u64 {
        self.find(site, address).map_or(address, |range| range.synthetic + (address - range.device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_their_allocation() {
        let map = AddressMap::default();
        map.insert(Range { device: 0x2000, bytes: 0x100, synthetic: 0x9000 });
        map.insert(Range { device: 0x1000, bytes: 0x100, synthetic: 0x8000 });
        let mut reader = Translator::new(&map);
        assert_eq!(reader.translate(1, 0x1010), 0x8010);
        assert_eq!(reader.translate(1, 0x20ff), 0x90ff);
        assert_eq!(reader.translate(1, 0x2100), 0x2100, "outside");
        assert_eq!(reader.translate(1, 0x10), 0x10);
        map.remove(0x1000);
        map.insert(Range { device: 0x2080, bytes: 0x10, synthetic: 0x7000 });
        assert_eq!(reader.translate(1, 0x1010), 0x8010, "the snapshot holds until it is refreshed");
        reader.refresh();
        assert_eq!(reader.translate(1, 0x1010), 0x1010);
        assert_eq!(reader.translate(1, 0x2081), 0x7001);
        assert_eq!(reader.translate(1, 0x2001), 0x2001, "the older allocation there is over");
    }
}
