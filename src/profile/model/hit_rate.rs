//! Hit rates of caches: the definitions that every report, table and comparison uses.
//!
//! The hit rate of L1 includes loads only. L1 writes through, so a store that finds its line saves no traffic; stores
//! have a separate rate. The hit rate of L2 includes all lookups, because L2 keeps written data.

use super::metrics::{LevelMetrics, Metrics};

/// Number of lookups in a cache level, and of those that hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitRate {
    /// Number of lookups that found their data.
    pub hits: u64,
    /// Number of all lookups that the rate includes.
    pub lookups: u64,
}

impl HitRate {
    /// Returns hits divided by lookups; `None` if there were no lookups.
    pub fn share(self) -> Option<f64> {
        (self.lookups > 0).then(|| self.hits as f64 / self.lookups as f64)
    }
}

impl LevelMetrics {
    /// Returns the hit rate of these L1 lookups, which is that of loads.
    pub fn as_l1_rate(&self) -> HitRate {
        HitRate { hits: self.load_hits, lookups: self.load_lookups }
    }

    /// Returns the rate at which stores and atomics find their line in L1.
    pub fn as_l1_store_rate(&self) -> HitRate {
        HitRate {
            hits: self.hits.saturating_sub(self.load_hits),
            lookups: self.lookups.saturating_sub(self.load_lookups),
        }
    }

    /// Returns the hit rate of these L2 lookups, which includes all of them.
    pub fn as_l2_rate(&self) -> HitRate {
        HitRate { hits: self.hits, lookups: self.lookups }
    }
}

impl Metrics {
    /// Returns the hit rate of L1; it has no lookups if no L1 was simulated.
    pub fn l1_hit_rate(&self) -> HitRate {
        self.l1.as_ref().map(LevelMetrics::as_l1_rate).unwrap_or_default()
    }

    /// Returns the hit rate of L1's stores; it has no lookups if no L1 was simulated.
    pub fn l1_store_hit_rate(&self) -> HitRate {
        self.l1.as_ref().map(LevelMetrics::as_l1_store_rate).unwrap_or_default()
    }

    /// Returns the hit rate of L2; it has no lookups if no L2 was simulated.
    pub fn l2_hit_rate(&self) -> HitRate {
        self.l2.as_ref().map(LevelMetrics::as_l2_rate).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_loads_and_stores_are_separate() {
        let l1 = LevelMetrics { lookups: 12, hits: 7, load_lookups: 4, load_hits: 1, ..LevelMetrics::default() };
        assert_eq!(l1.as_l1_rate().share(), Some(0.25));
        assert_eq!(l1.as_l1_store_rate().share(), Some(0.75));
        assert_eq!(l1.as_l2_rate().share(), Some(7.0 / 12.0));
        assert_eq!(HitRate::default().share(), None);
        assert_eq!(Metrics::default().l1_hit_rate().share(), None);
    }
}
