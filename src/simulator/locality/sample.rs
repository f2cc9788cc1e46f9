//! Which lines an approximate scope follows: those whose hash is low enough, and fewer as it meets more lines (fixed-size
//! spatial sampling: Waldspurger and others, "Efficient MRC construction with SHARDS", FAST 2015, section 3.2).

/// Halvings at most, so that weights fit 32 bits with the lanes of a request.
const MOST_HALVINGS: u32 = 20;

/// A share of all lines, 1 / 2^`halvings`.
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
    /// At most about `most` lines at a time.
    pub(super) fn of_at_most(most: usize) -> Sample {
        Sample { most: most.max(128), ..Sample::default() }
    }

    /// Begins again with all lines. Scopes with another salt choose other lines, so that their errors cancel.
    pub(super) fn restart(&mut self, salt: u64) {
        self.salt = salt;
        self.halvings = 0;
    }

    /// Returns whether a line is followed.
    #[inline(always)]
    pub(super) fn takes(&self, line: u64) -> bool {
        self.halvings == 0 || (line ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.halvings) == 0
    }

    /// Lines that a followed one stands for.
    #[inline(always)]
    pub(super) fn weight(&self) -> u32 {
        1 << self.halvings
    }

    /// Returns whether a request, which has up to 64 lines, could make them too many.
    #[inline(always)]
    pub(super) fn is_full(&self, lines: usize) -> bool {
        lines > self.most - 64 && self.halvings < MOST_HALVINGS
    }

    /// Takes half as many from now on.
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
