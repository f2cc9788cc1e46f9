//! Estimates how long an SM's L1 keeps a line.
//!
//! A sample is too small to simulate a separate cache for each SM. But the replay of some SMs gives the share of loads
//! that miss L1, and an LRU cache hits if a line is reused soon enough. The lifetime is the reuse time at which the
//! same share of the sample misses. This inverts the working-set model (Denning, CACM 11(5), 1968).

use rustc_hash::FxHashMap;

/// Number of sectors that is treated as zero.
const LITTLE: f64 = 1e-6;

/// The time for which an L1 keeps a line after its last use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lifetime {
    /// Lines that are reused sooner hit; lines that are reused later miss.
    pub(super) time: u32,
    /// Share of hits among the lines that are reused exactly after `time`.
    pub(super) share: f64,
}

/// Number of sectors by the time since their SM's last use.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    by_time: FxHashMap<u32, u64>,
    all: u64,
}

impl Gaps {
    /// Adds sectors; `gap` is `None` for a first use.
    fn add(&mut self, gap: Option<u32>, sectors: u32) {
        self.all += u64::from(sectors);
        if let Some(gap) = gap.filter(|_| sectors > 0) {
            *self.by_time.entry(gap).or_default() += u64::from(sectors);
        }
    }

    /// Adds the sectors of a touch that follows the previous one after `gap`; the sectors `known` were touched before.
    pub(super) fn touch(&mut self, gap: u32, sectors: u8, known: u8) {
        self.add(Some(gap), (sectors & known).count_ones());
        self.add(None, (sectors & !known).count_ones());
    }

    /// Returns the number of sectors.
    pub(super) fn sectors(&self) -> f64 {
        self.all as f64
    }

    /// Returns the lifetime at which the share `missed` of the sectors misses.
    pub(super) fn lifetime(&self, missed: f64) -> Lifetime {
        let hits = (1.0 - missed) * self.all as f64;
        let mut by_time: Vec<(u32, u64)> = self.by_time.iter().map(|(&time, &sectors)| (time, sectors)).collect();
        by_time.sort_unstable();
        let mut before = 0.0;
        for (time, sectors) in by_time {
            if before + sectors as f64 > hits + LITTLE {
                return Lifetime { time, share: ((hits - before) / sectors as f64).clamp(0.0, 1.0) };
            }
            before += sectors as f64;
        }
        Lifetime { time: u32::MAX, share: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_misses_as_is_known_to() {
        let mut gaps = Gaps::default();
        for (gap, sectors) in [(None, 4), (Some(7), 2), (Some(3), 1), (Some(7), 2), (Some(20), 1)] {
            gaps.add(gap, sectors);
        }
        // Of ten sectors, four are new; one is reused after 3 steps, four after 7 and one after 20.
        assert_eq!(gaps.lifetime(1.0), Lifetime { time: 3, share: 0.0 });
        assert!(gaps.lifetime(0.9).share < 1e-6 && gaps.lifetime(0.9).time == 7);
        let Lifetime { time, share } = gaps.lifetime(0.7);
        assert!(time == 7 && (share - 0.5).abs() < 1e-6, "{time} {share}");
        // First uses miss at any share.
        assert_eq!(gaps.lifetime(0.1), Lifetime { time: u32::MAX, share: 1.0 });
    }
}
