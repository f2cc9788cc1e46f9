//! Selects the lines that an approximate scope samples: those with a sufficiently low hash. The threshold falls as the
//! scope meets more lines (fixed-size spatial sampling: Waldspurger and others, "Efficient MRC construction with
//! SHARDS", FAST 2015, section 3.2).

/// Maximum number of halvings, so that weights multiplied by the lanes of a request fit into 32 bits.
const MOST_HALVINGS: u32 = 20;

/// A sample of the share 1 / 2^`halvings` of all lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    salt: u64,
    halvings: u32,
    most: usize,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample { salt: 0, halvings: 0, most: usize::MAX }
    }
}

impl Sample {
    /// Creates a sample of at most about `most` lines at a time.
    pub(super) fn of_at_most(most: usize) -> Sample {
        Sample { most: most.max(128), ..Sample::default() }
    }

    /// Restarts with all lines. Scopes with different salts select different lines, so that their errors cancel.
    pub(super) fn restart(&mut self, salt: u64) {
        self.salt = salt;
        self.halvings = 0;
    }

    /// Returns whether a line is in the sample.
    #[inline(always)]
    pub(super) fn takes(&self, line: u64) -> bool {
        self.halvings == 0 || (line ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.halvings) == 0
    }

    /// Returns the number of lines that a sampled line represents.
    #[inline(always)]
    pub(super) fn weight(&self) -> u32 {
        1 << self.halvings
    }

    /// Returns whether a request, which has up to 64 lines, could exceed the limit.
    #[inline(always)]
    pub(super) fn is_full(&self, lines: usize) -> bool {
        lines > self.most - 64 && self.halvings < MOST_HALVINGS
    }

    /// Halves the sampled share from now on.
    pub(super) fn halve(&mut self) {
        self.halvings += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_lines_stand_for_more() {
        let mut sample = Sample::of_at_most(256);
        sample.restart(77);
        let mut before: std::collections::BTreeSet<u64> = (0..1 << 16).collect();
        for halvings in 0..6 {
            let taken: std::collections::BTreeSet<u64> = (0..1 << 16).filter(|line| sample.takes(*line)).collect();
            assert!(taken.is_subset(&before), "what is left out stays out");
            let stands_for = taken.len() as f64 * f64::from(sample.weight());
            assert!((stands_for / 65536.0 - 1.0).abs() < 0.05, "{halvings}: {stands_for}");
            before = taken;
            sample.halve();
        }
    }
}
