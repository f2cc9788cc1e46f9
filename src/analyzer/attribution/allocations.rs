//! Maps addresses to allocations at the current position in the stream.
//!
//! Records, allocations and frees are in one order, so the map shows the memory at the time of the current access. An
//! address that is reused belongs to the newer allocation. A named part of an allocation is a nested allocation; an
//! address belongs to the innermost one.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpline_format::event::AllocationId;

/// A range of addresses that belong to the same allocation, or to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First address.
    pub low: u64,
    /// Last address.
    pub high: u64,
    /// The allocation; `None` for addresses outside all live allocations.
    pub allocation: Option<AllocationId>,
}

impl Segment {
    /// The empty range.
    pub const EMPTY: Segment = Segment { low: 1, high: 0, allocation: None };
}

/// Sort key: first address, then larger before smaller, then older before newer. Nested allocations therefore follow
/// the enclosing one.
type Key = (u64, u64, AllocationId);

#[derive(Clone, Copy, Debug)]
struct Live {
    high: u64,
    /// The row that counts requests to the allocation.
    row: AllocationId,
    inside: Option<Key>,
}

/// Reasons why an allocation cannot be added.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AllocationError {
    /// It partly overlaps a live allocation.
    #[error("allocation {new} overlaps the live allocation {old}")]
    Overlap {
        /// The new allocation.
        new: AllocationId,
        /// The live allocation.
        old: AllocationId,
    },
    /// It exceeds the address space.
    #[error("allocation {0} ends past the last address")]
    PastEnd(AllocationId),
    /// Its number is already in use.
    #[error("allocation {0} is announced twice")]
    Twice(AllocationId),
}

/// A change of an [`AllocationMap`], to be repeated on a copy of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapChange {
    /// A call of [`AllocationMap::insert_for`].
    Insert {
        /// Number of the allocation.
        id: AllocationId,
        /// The row that counts requests to it.
        row: AllocationId,
        /// Address of the first byte.
        address: u64,
        /// Size in bytes.
        bytes: u64,
    },
    /// A call of [`AllocationMap::remove`].
    Remove(AllocationId),
}

/// The live allocations by address.
#[derive(Clone, Debug, Default)]
pub struct AllocationMap {
    live: BTreeMap<Key, Live>,
    keys: FxHashMap<AllocationId, Key>,
}

impl AllocationMap {
    /// Adds `bytes` at `address`. Nothing is added for zero bytes.
    ///
    /// # Errors
    /// Returns an [`AllocationError`] and leaves the map unchanged.
    pub fn insert(&mut self, id: AllocationId, address: u64, bytes: u64) -> Result<(), AllocationError> {
        self.insert_for(id, id, address, bytes)
    }

    /// Like [`Self::insert`]. Requests are counted in `row`, which several allocations may share.
    ///
    /// # Errors
    /// Returns an [`AllocationError`] and leaves the map unchanged.
    pub fn insert_for(
        &mut self,
        id: AllocationId,
        row: AllocationId,
        address: u64,
        bytes: u64,
    ) -> Result<(), AllocationError> {
        if self.keys.contains_key(&id) {
            return Err(AllocationError::Twice(id));
        }
        if bytes == 0 {
            return Ok(());
        }
        let high = address.checked_add(bytes - 1).ok_or(AllocationError::PastEnd(id))?;
        let key = (address, u64::MAX - bytes, id);
        let mut around = self.live.range(..=key).next_back().map(|(key, live)| (*key, *live));
        while let Some((outer, live)) = around {
            if live.high >= high {
                break;
            }
            if live.high >= address {
                return Err(AllocationError::Overlap { new: id, old: outer.2 });
            }
            around = live.inside.map(|key| (key, self.live[&key]));
        }
        let inside = around.map(|(key, _)| key);
        let after = (key.0, key.1, key.2.saturating_add(1))..=(high, u64::MAX, AllocationId::MAX);
        if let Some((other, _)) = self.live.range(after.clone()).find(|(_, live)| live.high > high) {
            return Err(AllocationError::Overlap { new: id, old: other.2 });
        }
        for (_, live) in self.live.range_mut(after) {
            if live.inside == inside {
                live.inside = Some(key);
            }
        }
        self.live.insert(key, Live { high, row, inside });
        self.keys.insert(id, key);
        Ok(())
    }

    /// Removes an allocation and its nested parts. Returns all removed allocations; empty if it was not live.
    pub fn remove(&mut self, id: AllocationId) -> Vec<AllocationId> {
        let Some(key) = self.keys.get(&id).copied() else { return Vec::new() };
        let high = self.live[&key].high;
        let gone: Vec<Key> = self.live.range(key..=(high, u64::MAX, AllocationId::MAX)).map(|(key, _)| *key).collect();
        for key in &gone {
            self.live.remove(key);
            self.keys.remove(&key.2);
        }
        gone.into_iter().map(|key| key.2).collect()
    }

    /// Repeats a change of another map. All earlier changes must already be applied.
    pub fn apply(&mut self, change: MapChange) {
        match change {
            // The other map has accepted the change, so it succeeds.
            MapChange::Insert { id, row, address, bytes } => _ = self.insert_for(id, row, address, bytes),
            MapChange::Remove(id) => _ = self.remove(id),
        }
    }

    /// Returns the row, address and size of a live allocation and of its nested parts.
    pub fn with_parts(&self, id: AllocationId) -> Vec<(AllocationId, u64, u64)> {
        let Some(key) = self.keys.get(&id).copied() else { return Vec::new() };
        let last = (self.live[&key].high, u64::MAX, AllocationId::MAX);
        self.live.range(key..=last).map(|(key, live)| (live.row, key.0, u64::MAX - key.1)).collect()
    }

    /// Returns the row, address and size of each live allocation.
    pub fn all(&self) -> Vec<(AllocationId, u64, u64)> {
        self.live.iter().map(|(key, live)| (live.row, key.0, u64::MAX - key.1)).collect()
    }

    /// Returns the first address of the allocation that contains `address`.
    pub fn start(&self, address: u64) -> Option<u64> {
        let mut around = self.live.range(..=(address, u64::MAX, AllocationId::MAX)).next_back();
        while let Some((key, live)) = around {
            if live.high >= address {
                return Some(key.0);
            }
            around = live.inside.and_then(|key| self.live.get_key_value(&key));
        }
        None
    }

    /// Returns the allocation of `address`, with the surrounding range of addresses that belong to the same allocation.
    pub fn find(&self, address: u64) -> Segment {
        let mut low = 0;
        let mut around = self.live.range(..=(address, u64::MAX, AllocationId::MAX)).next_back();
        let next = self.live.range((address.saturating_add(1), 0, 0)..).next().map(|(key, _)| key.0);
        let before_next = match next {
            Some(next) if next > address => next - 1,
            _ => u64::MAX,
        };
        while let Some((key, live)) = around {
            if live.high >= address {
                return Segment { low: low.max(key.0), high: live.high.min(before_next), allocation: Some(live.row) };
            }
            low = live.high + 1;
            around = live.inside.map(|key| self.live.get_key_value(&key).expect("links lead to live entries"));
        }
        Segment { low, high: before_next, allocation: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reused_address_belongs_to_the_newer_allocation() {
        let mut map = AllocationMap::default();
        map.insert(1, 100, 50).unwrap();
        assert_eq!((map.find(149).allocation, map.start(149), map.start(150)), (Some(1), Some(100), None));
        assert_eq!(map.remove(1), [1]);
        assert_eq!(map.find(120).allocation, None);
        map.insert(2, 120, 10).unwrap();
        assert_eq!(map.find(125), Segment { low: 120, high: 129, allocation: Some(2) });
        assert_eq!(map.find(110), Segment { low: 0, high: 119, allocation: None });
        assert_eq!(map.find(u64::MAX), Segment { low: 130, high: u64::MAX, allocation: None });
    }

    #[test]
    fn named_parts_count_for_themselves_and_end_with_the_whole() {
        let mut map = AllocationMap::default();
        map.insert(1, 1000, 100).unwrap();
        map.insert(2, 1000, 10).unwrap();
        map.insert(3, 1050, 10).unwrap();
        map.insert(4, 1040, 40).unwrap();
        map.insert(5, 1000, 100).unwrap();
        assert_eq!(map.find(1005), Segment { low: 1000, high: 1009, allocation: Some(2) });
        assert_eq!(map.find(1010), Segment { low: 1010, high: 1039, allocation: Some(5) });
        assert_eq!(map.find(1045), Segment { low: 1040, high: 1049, allocation: Some(4) });
        assert_eq!(map.find(1062), Segment { low: 1060, high: 1079, allocation: Some(4) });
        assert_eq!(map.find(1090), Segment { low: 1080, high: 1099, allocation: Some(5) });
        assert_eq!(map.insert(9, 1095, 10), Err(AllocationError::Overlap { new: 9, old: 5 }));
        assert_eq!(map.insert(9, 990, 20), Err(AllocationError::Overlap { new: 9, old: 1 }));
        map.remove(1);
        assert_eq!(map.find(1045), Segment { low: 0, high: u64::MAX, allocation: None });
    }

    proptest! {
        /// Compares the map with a plain list: the expected allocation is the newest among the smallest ones that
        /// contain the address.
        #[test]
        fn agrees_with_a_list(steps in prop::collection::vec((0u64..60, 0u64..30, any::<bool>()), 1..60)) {
            let mut map = AllocationMap::default();
            let mut list: Vec<(u64, u64, u64)> = Vec::new();
            for (number, (low, bytes, remove)) in steps.into_iter().enumerate() {
                let id = number as u64 + 1;
                if remove && !list.is_empty() {
                    let (gone, ..) = list[low as usize % list.len()];
                    let ids = map.remove(gone);
                    prop_assert!(ids.contains(&gone));
                    list.retain(|entry| !ids.contains(&entry.0));
                } else {
                    let high = (low + bytes).wrapping_sub(1);
                    let crosses = |entry: &&(u64, u64, u64)| bytes > 0 && entry.1 <= high && low <= entry.2
                        && !(entry.1 <= low && high <= entry.2) && !(low <= entry.1 && entry.2 <= high);
                    prop_assert_eq!(map.insert(id, low, bytes).is_err(), list.iter().any(|entry| crosses(&entry)));
                    if bytes > 0 && !list.iter().any(|entry| crosses(&entry)) {
                        list.push((id, low, high));
                    }
                }
                for address in 0..100 {
                    let want = list.iter().filter(|entry| entry.1 <= address && address <= entry.2)
                        .min_by_key(|entry| (entry.2 - entry.1, std::cmp::Reverse(entry.0))).map(|entry| entry.0);
                    let got = map.find(address);
                    prop_assert_eq!(got.allocation, want);
                    prop_assert!(got.low <= address && address <= got.high);
                    prop_assert_eq!(map.find(got.low).allocation, want);
                    prop_assert_eq!(map.find(got.high).allocation, want);
                }
            }
        }
    }
}
