//! Finding a line's way: by looking at every way of the set where there are few, by a hash table
//! over the whole cache where there are many.

/// No line.
pub(super) const EMPTY: u32 = u32::MAX;
/// Most ways that are searched one by one.
const MOST_SCANNED: u32 = 32;

/// Keys of all ways, and the way to find them.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    ways: usize,
    keys: Vec<u32>,
    /// Entry + 1 by hash of its key, 0 where free; empty when sets are scanned. A power of two long.
    table: Vec<u32>,
    shift: u32,
}

impl Ways {
    pub(super) fn new(sets: u32, ways: u32) -> Ways {
        let entries = sets as usize * ways as usize;
        let places = if ways > MOST_SCANNED { (4 * entries).next_power_of_two() } else { 0 };
        let shift = 32 - (places.max(2) as u32).trailing_zeros();
        Ways { ways: ways as usize, keys: vec![EMPTY; entries], table: vec![0; places], shift }
    }

    /// The key in an entry, or [`EMPTY`].
    #[inline]
    pub(super) fn key(&self, entry: usize) -> u32 {
        self.keys[entry]
    }

    #[inline]
    fn place_of(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    /// The entry that holds `key` in the set.
    #[inline]
    pub(super) fn find(&self, set: u32, key: u32) -> Option<usize> {
        if self.table.is_empty() {
            let first = set as usize * self.ways;
            let keys = &self.keys[first..first + self.ways];
            let mut base = 0;
            let mut chunks = keys.chunks_exact(8);
            for chunk in &mut chunks {
                let mut found = 0u32;
                for (index, &other) in chunk.iter().enumerate() {
                    found |= u32::from(other == key) << index;
                }
                if found != 0 {
                    return Some(first + base + found.trailing_zeros() as usize);
                }
                base += 8;
            }
            return chunks.remainder().iter().position(|&other| other == key).map(|at| first + base + at);
        }
        let mask = self.table.len() - 1;
        let mut place = self.place_of(key);
        loop {
            let entry = self.table[place];
            if entry == 0 {
                return None;
            }
            if self.keys[entry as usize - 1] == key {
                return Some(entry as usize - 1);
            }
            place = (place + 1) & mask;
        }
    }

    /// Puts `key` in an entry; what was there is forgotten.
    #[inline]
    pub(super) fn put(&mut self, entry: usize, key: u32) {
        if self.table.is_empty() {
            self.keys[entry] = key;
            return;
        }
        if self.keys[entry] != EMPTY {
            self.take_out(self.keys[entry], entry);
        }
        self.keys[entry] = key;
        if key != EMPTY {
            let mask = self.table.len() - 1;
            let mut place = self.place_of(key);
            while self.table[place] != 0 {
                place = (place + 1) & mask;
            }
            self.table[place] = entry as u32 + 1;
        }
    }

    /// Closes the gap that the key leaves, so that no probe ends early.
    fn take_out(&mut self, key: u32, entry: usize) {
        let mask = self.table.len() - 1;
        let mut hole = self.place_of(key);
        while self.table[hole] != entry as u32 + 1 {
            hole = (hole + 1) & mask;
        }
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let other = self.table[at];
            if other == 0 {
                break;
            }
            let home = self.place_of(self.keys[other as usize - 1]);
            // The entry may move back to the hole unless its home lies after the hole.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.table[hole] = other;
                hole = at;
            }
        }
        self.table[hole] = 0;
    }

    pub(super) fn clear(&mut self) {
        self.keys.fill(EMPTY);
        self.table.fill(0);
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
