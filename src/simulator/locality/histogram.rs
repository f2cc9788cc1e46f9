//! Histograms of reuse distances.

/// Number of buckets: distance 0, 1, 2 to 3, 4 to 7, … up to 2^32 − 1.
const BUCKETS: usize = 33;

/// Distances at one granularity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseHistogram {
    counts: [u64; BUCKETS],
    /// First uses, and first uses after a store.
    pub infinite: u64,
    /// Sum of the finite distances.
    pub sum: u64,
    /// Number of finite distances that are at least each of the sizes in [`Limits`]. An LRU cache of that size misses
    /// them.
    pub beyond: [u64; 2],
}

/// Cache sizes, in the unit of the distances.
pub type Limits = [u32; 2];

impl Default for ReuseHistogram {
    fn default() -> Self {
        ReuseHistogram { counts: [0; BUCKETS], infinite: 0, sum: 0, beyond: [0; 2] }
    }
}

impl ReuseHistogram {
    /// Counts `times` uses with the same distance.
    #[inline(always)]
    pub fn count(&mut self, distance: u32, times: u64, limits: Limits) {
        for (beyond, limit) in self.beyond.iter_mut().zip(limits) {
            *beyond += if distance >= limit { times } else { 0 };
        }
        self.counts[(32 - distance.leading_zeros()) as usize] += times;
        self.sum += u64::from(distance) * times;
    }

    /// Adds another histogram.
    pub fn add(&mut self, other: &ReuseHistogram) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
        self.infinite += other.infinite;
        self.sum += other.sum;
        self.beyond = [self.beyond[0] + other.beyond[0], self.beyond[1] + other.beyond[1]];
    }

    /// Returns the number of uses with a finite distance.
    pub fn finite(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the mean of the finite distances.
    pub fn mean(&self) -> Option<f64> {
        let finite = self.finite();
        (finite > 0).then(|| self.sum as f64 / finite as f64)
    }

    /// Returns the highest distance and the count of each bucket, up to the last bucket that is not empty.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let used = self.counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        (0..used).map(|index| ((1u64 << index) - 1, self.counts[index])).collect()
    }

    /// Returns whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.infinite == 0 && self.finite() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_end_at_their_highest_distance() {
        let mut histogram = ReuseHistogram::default();
        for distance in [0, 1, 2, 3, 4, 7, 8, u32::MAX] {
            histogram.count(distance, 1, [3, 8]);
        }
        let buckets = histogram.buckets();
        assert_eq!(&buckets[..5], &[(0, 1), (1, 1), (3, 2), (7, 2), (15, 1)]);
        assert_eq!(buckets.last(), Some(&(u64::from(u32::MAX), 1)));
        assert_eq!(histogram.finite(), 8);
        assert_eq!(histogram.beyond, [5, 2]);
    }

    #[test]
    fn nothing_finite_has_no_mean() {
        let histogram = ReuseHistogram { infinite: 8, ..ReuseHistogram::default() };
        assert_eq!(histogram.mean(), None);
        assert!(histogram.buckets().is_empty());
    }
}
