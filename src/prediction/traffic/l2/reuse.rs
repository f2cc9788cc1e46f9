//! Computes the mean number of lines that are touched within a time window of a launch.
//!
//! The algorithm is equation 1 of Xiang, Ding, Luo and Bao (HOTL, ASPLOS 2013). A line is absent from the windows that
//! lie completely between two of its uses, before its first use or after its last use.

/// Mean footprints of windows, from the gaps between uses of sampled lines in a launch.
#[derive(Debug)]
pub(super) struct Footprint {
    /// Indexed by window length: the number of pairs of a window and a line that is absent from it.
    missing: Vec<f64>,
    lines: f64,
}

/// Number of gaps by length.
#[derive(Debug)]
pub(super) struct GapLengths {
    by_length: Vec<u32>,
    /// Indexed by line: the time after its last use.
    next: Vec<Option<u32>>,
    end: u32,
}

impl GapLengths {
    /// Creates an instance for `lines` lines and the times before `end`.
    pub(super) fn new(lines: usize, end: u32) -> GapLengths {
        GapLengths { by_length: vec![0; end as usize + 1], next: vec![None; lines], end }
    }

    /// Adds a use of a line and returns the time of its previous use. Uses must be added in time order.
    #[inline(always)]
    pub(super) fn add(&mut self, line: u32, time: u32) -> Option<u32> {
        let next = &mut self.next[line as usize];
        let from = next.unwrap_or(0);
        self.by_length[time.saturating_sub(from) as usize] += 1;
        next.replace(time + 1).map(|next| next - 1)
    }

    /// Sums up the pairs of windows and absent lines.
    pub(super) fn footprint(mut self) -> Footprint {
        let mut lines = 0.0;
        for next in self.next.iter().flatten() {
            lines += 1.0;
            self.by_length[self.end.saturating_sub(*next) as usize] += 1;
        }
        // A gap of `g` steps contains `g - length + 1` windows. The sums are computed from the longest gap down.
        let mut missing: Vec<f64> = self.by_length.iter().map(|&count| count.into()).collect();
        for _ in 0..2 {
            let mut sum = 0.0;
            for one in missing.iter_mut().rev() {
                sum += *one;
                *one = sum;
            }
        }
        Footprint { missing, lines }
    }
}

impl Footprint {
    /// Returns the mean number of distinct lines that are touched within a window of this length.
    pub(super) fn within(&self, time: u32) -> f64 {
        let windows = (self.missing.len() as f64 - 1.0 - f64::from(time) + 1.0).max(1.0);
        let missing = self.missing.get(time as usize).copied().unwrap_or(0.0);
        (self.lines - missing / windows).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares footprints with a count over all windows.
        #[test]
        fn footprints_are_means_over_windows(uses in prop::collection::vec(0u32..5, 1..40), same in prop::collection::vec(any::<bool>(), 40)) {
            // Several lines may be used at the same time.
            let mut time = 0;
            let uses: Vec<(u32, u32)> = uses.iter().zip(&same).enumerate().map(|(number, (&line, &same))| {
                time += u32::from(!same && number > 0);
                (line, time)
            }).collect();
            let end = time + 1;
            let mut gaps = GapLengths::new(5, end);
            for (number, &(line, time)) in uses.iter().enumerate() {
                let before = uses[..number].iter().rev().find(|one| one.0 == line).map(|one| one.1);
                prop_assert_eq!(gaps.add(line, time), before);
            }
            let footprint = gaps.footprint();
            for length in 1..=end {
                let windows = (0..=end - length).map(|first| {
                    (0..5).filter(|line| uses.iter().any(|(own, time)| own == line && (first..first + length).contains(time))).count()
                });
                let mean = windows.sum::<usize>() as f64 / f64::from(end - length + 1);
                prop_assert!((footprint.within(length) - mean).abs() < 1e-9, "{length}: {} {mean}", footprint.within(length));
            }
        }
    }
}
