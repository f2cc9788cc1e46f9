//! The value that most of a sequence have, from sums that can be added in any order.

/// Counts, for each bit, how often it is set, weighted. Where one value has more than half of the weight, each of its bits
/// agrees with the majority of that bit, so that the value is read off; where none has, what is read off may be no value of
/// the sequence, and [`Majority::share`] is at most what it could have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Majority<const BITS: usize> {
    total: u64,
    set: [u64; BITS],
}

impl<const BITS: usize> Default for Majority<BITS> {
    fn default() -> Self {
        Majority { total: 0, set: [0; BITS] }
    }
}

impl<const BITS: usize> Majority<BITS> {
    /// Adds a value, of which the lowest `BITS` bits count.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        self.total = self.total.saturating_add(weight);
        for (bit, set) in self.set.iter_mut().enumerate() {
            *set = set.saturating_add(if value >> bit & 1 != 0 { weight } else { 0 });
        }
    }

    /// Adds another sequence.
    pub fn merge(&mut self, other: &Self) {
        self.total = self.total.saturating_add(other.total);
        for (set, more) in self.set.iter_mut().zip(&other.set) {
            *set = set.saturating_add(*more);
        }
    }

    /// The value of the majority, if there is one.
    pub fn value(&self) -> u64 {
        let bits = self.set.iter().enumerate();
        bits.fold(0, |value, (bit, &set)| value | u64::from(set > self.total / 2) << bit)
    }

    /// The value of the majority, as a signed number of `BITS` bits.
    pub fn signed(&self) -> i64 {
        let unused = 64 - BITS as u32;
        ((self.value() << unused) as i64) >> unused
    }

    /// Weight of the values that are [`Self::value`], at most.
    pub fn share(&self) -> u64 {
        let agree = |&set: &u64| set.max(self.total - set);
        self.set.iter().map(agree).min().unwrap_or(self.total)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What more than half of the values are is found, whatever the others are and in whichever order they come.
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
            prop_assert_eq!(one.value(), u64::from(value));
            prop_assert_eq!(one.signed(), i64::from(value as i16));
            let count = all.iter().filter(|&&known| known == value).count() as u64;
            prop_assert!(one.share() >= count);
        }
    }
}
