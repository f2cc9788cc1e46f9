//! Finds the index of a line by its number.
//!
//! A slot contains the index of a line and the high bits of its hash. The numbers are in the list of lines, which the
//! caller needs anyway, and are compared only if these bits are equal: most lines of a scope are new, and reading the
//! numbers of others would be a cache miss for each. An insertion continues at the slot where the search ended.

use crate::simd::processor;

/// An open-addressing hash table of indices into a list of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct LineIndex {
    /// The bits of the hash and the index + 1 of the line in each slot; 0 if the slot is empty. The length is a power of
    /// two, or 0.
    slots: Vec<u64>,
    /// Number of used slots.
    used: usize,
}

/// Number of slots of the smallest table.
const SMALLEST: usize = 64;
/// Slots that [`LineIndex::clear`] keeps at most. Emptying a larger table would take longer than a small scope.
const KEPT: usize = 1 << 12;
/// The part of a slot that contains bits of the hash.
const TAG: u64 = !0 << 32;

/// Returns a number whose high bits depend on all bits of the line's number. Lines at equal distances are spread evenly.
#[inline(always)]
fn hash(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns one of `1 << log` positions for a line; neighbouring lines get different positions.
#[inline(always)]
pub(super) fn position(number: u64, log: u32) -> usize {
    position_of_hash(hash(number), log)
}

#[inline(always)]
fn position_of_hash(hash: u64, log: u32) -> usize {
    (hash >> (u64::BITS - log)) as usize
}

/// Returns the index + 1 in a slot.
#[inline(always)]
fn entry(slot: u64) -> u32 {
    slot as u32
}

impl LineIndex {
    #[inline(always)]
    fn log(&self) -> u32 {
        self.slots.len().trailing_zeros()
    }

    /// Returns the slot of a line, or the empty slot where the search ended. `number_of` returns the number of an
    /// existing line. The table must have slots.
    #[inline(always)]
    fn search(&self, number: u64, number_of: impl Fn(u32) -> u64) -> usize {
        let mask = self.slots.len() - 1;
        let hash = hash(number);
        let mut at = position_of_hash(hash, self.log());
        loop {
            let slot = self.slots[at & mask];
            let same_tag = (slot ^ hash) & TAG == 0;
            if entry(slot) == 0 || (same_tag && number_of(entry(slot) - 1) == number) {
                return at & mask;
            }
            at += 1;
        }
    }

    /// Prefetches the slot where the search for a line starts.
    #[inline(always)]
    pub(super) fn prefetch(&self, number: u64) {
        if !self.slots.is_empty() {
            processor::read(&self.slots, position(number, self.log()));
        }
    }

    /// Returns the index of the line with which the search for a line compares first, if it does so at its first slot.
    #[inline(always)]
    pub(super) fn first_candidate(&self, number: u64) -> Option<u32> {
        let slot = *self.slots.get(position(number, self.slots.len().checked_ilog2()?))?;
        if (slot ^ hash(number)) & TAG == 0 { entry(slot).checked_sub(1) } else { None }
    }

    /// Returns the index of a line.
    #[inline(always)]
    pub(super) fn find(&self, number: u64, number_of: impl Fn(u32) -> u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        entry(self.slots[self.search(number, number_of)]).checked_sub(1)
    }

    /// Returns the index of a line. If it is absent, inserts it with the index `next`, which is returned.
    #[inline(always)]
    pub(super) fn find_or_insert(&mut self, number: u64, next: u32, number_of: impl Fn(u32) -> u64) -> u32 {
        if 2 * (self.used + 1) > self.slots.len() {
            self.grow();
        }
        let slot = self.search(number, number_of);
        match entry(self.slots[slot]).checked_sub(1) {
            Some(index) => index,
            None => {
                self.slots[slot] = hash(number) & TAG | u64::from(next + 1);
                self.used += 1;
                next
            }
        }
    }

    /// Doubles the table. The bits of the hash in a slot determine its new position, as a table has at most 2^32 slots.
    #[cold]
    fn grow(&mut self) {
        let length = (2 * self.slots.len()).max(SMALLEST);
        let old = std::mem::replace(&mut self.slots, vec![0; length]);
        for slot in old.into_iter().filter(|slot| entry(*slot) != 0) {
            let mut at = position_of_hash(slot & TAG, self.log());
            while entry(self.slots[at & (length - 1)]) != 0 {
                at += 1;
            }
            self.slots[at & (length - 1)] = slot;
        }
    }

    /// Removes all lines; frees memory that a small scope does not need.
    pub(super) fn clear(&mut self) {
        self.slots.truncate(KEPT);
        if self.used != 0 {
            self.slots.fill(0);
        }
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn lines_have_the_indices_of_their_insertion(
            stride in prop_oneof![Just(1u64), Just(64), Just(1 << 40), any::<u64>()],
            steps in prop::collection::vec((0u64..400, 0u32..100), 0..900),
        ) {
            let (mut fast, mut lines) = (LineIndex::default(), Vec::new());
            let mut slow: HashMap<u64, u32> = HashMap::new();
            for (number, kind) in steps {
                let number = number.wrapping_mul(stride);
                if kind == 0 {
                    fast.clear();
                    lines.clear();
                    slow.clear();
                }
                prop_assert_eq!(fast.find(number, |index| lines[index as usize]), slow.get(&number).copied());
                if kind % 2 == 0 {
                    let next = lines.len() as u32;
                    let got = fast.find_or_insert(number, next, |index| lines[index as usize]);
                    if got == next {
                        lines.push(number);
                    }
                    prop_assert_eq!(got, *slow.entry(number).or_insert(next));
                }
            }
        }
    }
}
