//! Finds the way of a line: by a scan of the set's ways if there are few, otherwise by a hash table over the whole
//! cache.

use crate::simd::processor;

/// Marks a way without a line.
pub(crate) const EMPTY: u32 = u32::MAX;
/// Maximum number of ways that are scanned.
pub(crate) const MOST_SCANNED: u32 = 32;
/// Maximum number of entries of a cache with a hash table.
pub(crate) const MOST_HASHED: u64 = u16::MAX as u64 - 1;

/// Keys of all ways, and the structure to find them.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    ways: usize,
    keys: Vec<u32>,
    /// First entry + 1 of the chain of each hash, or 0 if the chain is empty. The vector is empty if sets are scanned.
    heads: Vec<u16>,
    /// Next entry + 1 in the chain of each entry.
    next: Vec<u16>,
    shift: u32,
}

impl Ways {
    pub(crate) fn new(sets: u32, ways: u32) -> Ways {
        let entries = sets as usize * ways as usize;
        let hashed = ways > MOST_SCANNED;
        let heads = if hashed { (2 * entries).next_power_of_two() } else { 0 };
        let shift = 32 - (heads.max(2) as u32).trailing_zeros();
        let next = vec![0; if hashed { entries } else { 0 }];
        Ways { ways: ways as usize, keys: vec![EMPTY; entries], heads: vec![0; heads], next, shift }
    }

    /// Returns the key in an entry, or [`EMPTY`].
    #[inline]
    pub(crate) fn key(&self, entry: usize) -> u32 {
        self.keys[entry]
    }

    /// Prefetches the keys of a set, if sets are scanned.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: u32) {
        if self.heads.is_empty() {
            processor::read(&self.keys, set as usize * self.ways);
        }
    }

    #[inline]
    fn chain_of(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    /// Returns the entry of the set that contains `key`.
    #[inline(always)]
    pub(crate) fn find(&self, set: u32, key: u32) -> Option<usize> {
        if self.heads.is_empty() {
            let first = set as usize * self.ways;
            let keys = &self.keys[first..first + self.ways];
            let (chunks, remainder) = keys.as_chunks::<8>();
            for (index, chunk) in chunks.iter().enumerate() {
                let found = processor::equal(chunk, key);
                if found != 0 {
                    return Some(first + 8 * index + found.trailing_zeros() as usize);
                }
            }
            let at = remainder.iter().position(|&other| other == key)?;
            return Some(first + keys.len() - remainder.len() + at);
        }
        let mut entry = self.heads[self.chain_of(key)];
        while entry != 0 {
            if self.keys[entry as usize - 1] == key {
                return Some(entry as usize - 1);
            }
            entry = self.next[entry as usize - 1];
        }
        None
    }

    /// Stores `key` in an entry and discards the entry's previous key.
    #[inline]
    pub(crate) fn put(&mut self, entry: usize, key: u32) {
        let old = std::mem::replace(&mut self.keys[entry], key);
        if self.heads.is_empty() {
            return;
        }
        let name = entry as u16 + 1;
        if old != EMPTY {
            let chain = self.chain_of(old);
            let after = self.next[entry];
            if self.heads[chain] == name {
                self.heads[chain] = after;
            } else {
                let mut at = self.heads[chain] as usize - 1;
                while self.next[at] != name {
                    at = self.next[at] as usize - 1;
                }
                self.next[at] = after;
            }
        }
        if key != EMPTY {
            let chain = self.chain_of(key);
            self.next[entry] = self.heads[chain];
            self.heads[chain] = name;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.keys.fill(EMPTY);
        self.heads.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn table_and_scan_find_what_was_put(ways in prop_oneof![1u32..32, 33u32..100], moves in prop::collection::vec((any::<u32>(), 0u32..200), 0..400)) {
            let mut fast = Ways::new(1, ways);
            let mut slow = vec![EMPTY; ways as usize];
            for (place, key) in moves {
                let entry = (place % ways) as usize;
                if !slow.contains(&key) {
                    fast.put(entry, key);
                    slow[entry] = key;
                }
                for wanted in [key, key / 2, 7] {
                    prop_assert_eq!(fast.find(0, wanted), slow.iter().position(|other| *other == wanted));
                }
            }
        }
    }
}
