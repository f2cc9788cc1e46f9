//! Which allocation an address belongs to, at this moment of the stream.
//!
//! Records, allocations and frees come in one order, so the map always shows the memory as it was
//! for the current access; an address that is used again belongs to the newer allocation. A named
//! part of an allocation is an allocation of its own inside it; the innermost one counts.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpline_format::event::AllocationId;

/// Addresses that belong to the same allocation, or to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First address.
    pub low: u64,
    /// Last address.
    pub high: u64,
    /// Allocation; `None` for addresses outside all live ones.
    pub allocation: Option<AllocationId>,
}

impl Segment {
    /// No addresses.
    pub const EMPTY: Segment = Segment { low: 1, high: 0, allocation: None };
}

/// First address, then larger before smaller, then older before newer: what lies inside comes later.
type Key = (u64, u64, AllocationId);

#[derive(Clone, Copy, Debug)]
struct Live {
    high: u64,
    /// What requests to it count for.
    row: AllocationId,
    inside: Option<Key>,
}

/// Why an allocation cannot be added.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AllocationError {
    /// It overlaps a live one without lying inside it, or the other way round.
    #[error("allocation {new} overlaps the live allocation {old}")]
    Overlap {
        /// The one announced.
        new: AllocationId,
        /// The one that is there.
        old: AllocationId,
    },
    /// It does not end within the address space.
    #[error("allocation {0} ends past the last address")]
    PastEnd(AllocationId),
    /// Its number is in use.
    #[error("allocation {0} is announced twice")]
    Twice(AllocationId),
}

/// A change of an [`AllocationMap`], for those who keep one of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapChange {
    /// See [`AllocationMap::insert_for`].
    Insert {
        /// Allocation.
        id: AllocationId,
        /// What requests to it count for.
        row: AllocationId,
        /// First byte.
        address: u64,
        /// Size.
        bytes: u64,
    },
    /// See [`AllocationMap::remove`].
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
    /// [`AllocationError`]; the map is then unchanged.
    pub fn insert(&mut self, id: AllocationId, address: u64, bytes: u64) -> Result<(), AllocationError> {
        self.insert_for(id, id, address, bytes)
    }

    /// Like [`Self::insert`]; requests count for `row`, which allocations may share.
    ///
    /// # Errors
    /// [`AllocationError`]; the map is then unchanged.
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

    /// Takes an allocation out, and the named parts that end with it. Returns all that went; empty
    /// when it was not live.
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

    /// Follows a map that has made this change, and all before it.
    pub fn apply(&mut self, change: MapChange) {
        match change {
            // The other map has taken it.
            MapChange::Insert { id, row, address, bytes } => _ = self.insert_for(id, row, address, bytes),
            MapChange::Remove(id) => _ = self.remove(id),
        }
    }

    /// Row, address and size of a live allocation and of the named parts that end with it.
    pub fn with_parts(&self, id: AllocationId) -> Vec<(AllocationId, u64, u64)> {
        let Some(key) = self.keys.get(&id).copied() else { return Vec::new() };
        let last = (self.live[&key].high, u64::MAX, AllocationId::MAX);
        self.live.range(key..=last).map(|(key, live)| (live.row, key.0, u64::MAX - key.1)).collect()
    }

    /// Row, address and size of each live allocation.
    pub fn all(&self) -> Vec<(AllocationId, u64, u64)> {
        self.live.iter().map(|(key, live)| (live.row, key.0, u64::MAX - key.1)).collect()
    }

    /// First address of the allocation that `address` belongs to.
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

    /// What `address` belongs to, with the neighbouring addresses that belong to the same.
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
        /// Against a plain list: the last one added among the smallest that contain the address.
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
