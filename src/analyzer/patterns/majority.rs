//! Finds the majority value of a sequence from sums that can be added in any order.

/// Counts for each bit how often it is set, weighted. If one value has more than half of the weight, each of its bits
/// is the majority of that bit, so the value can be read from the counts. If no value has a majority, the result may
/// not occur in the sequence; the returned weight is an upper bound.
#[derive(Clone, Debug)]
pub struct Majority<const BITS: usize> {
    total: u64,
    set: [u64; BITS],
    /// The last value, and its weight that is not counted yet. Consecutive values are usually equal.
    last: u64,
    pending: u64,
}

impl<const BITS: usize> Default for Majority<BITS> {
    fn default() -> Self {
        Majority { total: 0, set: [0; BITS], last: 0, pending: 0 }
    }
}

impl<const BITS: usize> Majority<BITS> {
    /// Adds a value; only the lowest `BITS` bits are used.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        if value == self.last {
            self.pending = self.pending.saturating_add(weight);
            return;
        }
        self.settle();
        (self.last, self.pending) = (value, weight);
    }

    /// Counts the pending value.
    fn settle(&mut self) {
        let (value, weight) = (self.last, std::mem::take(&mut self.pending));
        self.total = self.total.saturating_add(weight);
        for (bit, set) in self.set.iter_mut().enumerate() {
            *set = set.saturating_add(if value >> bit & 1 != 0 { weight } else { 0 });
        }
    }

    /// Returns a copy without a pending value.
    fn settled(&self) -> Self {
        let mut settled = self.clone();
        settled.settle();
        settled
    }

    /// Adds another sequence.
    pub fn merge(&mut self, other: &Self) {
        self.settle();
        let other = other.settled();
        self.total = self.total.saturating_add(other.total);
        for (set, more) in self.set.iter_mut().zip(&other.set) {
            *set = set.saturating_add(*more);
        }
    }

    /// Returns the majority value, if there is one, and an upper bound of its weight.
    pub fn found(&self) -> (u64, u64) {
        self.found_low(BITS)
    }

    /// Like [`Self::found`], for only the lowest `bits` bits: the remainder by a power of two.
    pub fn found_low(&self, bits: usize) -> (u64, u64) {
        let Majority { total, set, .. } = self.settled();
        let set = &set[..bits.min(BITS)];
        let value = set.iter().enumerate().fold(0, |value, (bit, &set)| value | u64::from(set > total / 2) << bit);
        (value, set.iter().map(|&set| set.max(total - set)).min().unwrap_or(total))
    }

    /// Like [`Self::found`], with the value as a signed number of `BITS` bits.
    pub fn found_signed(&self) -> (i64, u64) {
        let (value, weight) = self.found();
        let unused = 64 - BITS as u32;
        (((value << unused) as i64) >> unused, weight)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that a value with more than half of the weight is found, regardless of the other values and their
        /// order.
        #[test]
        fn a_majority_is_found(value in any::<u16>(), others in prop::collection::vec(any::<u16>(), 0..20), cut in 0usize..40) {
            let mut all: Vec<u16> = others.clone();
            all.extend(std::iter::repeat_n(value, others.len() + 1));
            let (mut one, mut two) = (Majority::<16>::default(), Majority::<16>::default());
            for (index, &value) in all.iter().rev().enumerate() {
                let part = if index < cut { &mut one } else { &mut two };
                part.add(value.into(), 1);
            }
            one.merge(&two);
            let (found, weight) = one.found();
            prop_assert_eq!((found, one.found_signed().0), (u64::from(value), i64::from(value as i16)));
            let count = all.iter().filter(|&&known| known == value).count() as u64;
            prop_assert!(weight >= count);
        }
    }
}
