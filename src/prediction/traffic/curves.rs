//! How caches lose what was touched before, as functions of the footprint over the capacity.
//!
//! Their constants were fitted to this project's own simulation, see `docs/design/prediction.md` for how and how well. One set serves all
//! models.

/// What an LRU cache of hashed sets loses of what was touched before.
///
/// How many lines fall into one set is a matter of chance (Smith, CACM 21(3), 1978; Hill and Smith, IEEE TC 38(12), 1989), but of less
/// than if each line chose its set: the hash of a model is one to one within aligned chunks of as many lines as there are sets
/// (`hierarchy/array/placement.rs`), so a chunk that is touched whole gives each set one line. Of `C` chunks of which a share `q` is touched,
/// a set has a binomial number of lines, and has lost what was touched before them where they are as many as its ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sets {
    /// Lines of a set.
    pub ways: u32,
    /// Share of a chunk's lines that is touched, of the chunks that are touched at all.
    pub filled: f64,
}

/// `q`, fitted: blocks touch rows and planes, which fill most of the chunks that they lie in.
pub const FILLED: f64 = 0.75;

impl Sets {
    /// The share that is lost where lines of so many capacities are touched between two uses.
    pub fn lost(&self, full: f64) -> f64 {
        let chunks = full * f64::from(self.ways) / self.filled;
        // Between whole numbers of chunks.
        let (low, part) = (chunks.floor(), chunks.fract());
        let below = self.reached(low);
        below + (self.reached(low + 1.0) - below) * part
    }

    /// The probability that a whole number of chunks gives a set a line for each way.
    fn reached(&self, chunks: f64) -> f64 {
        if chunks < f64::from(self.ways) {
            return 0.0;
        }
        // Chunks that are touched whole give each set one line each.
        if self.filled >= 1.0 {
            return 1.0;
        }
        // Of no lines, one line, up to as many as there are ways, less one.
        let mut term = (1.0 - self.filled).powf(chunks);
        let mut kept = 0.0;
        for lines in 0..self.ways {
            kept += term;
            let lines = f64::from(lines);
            term *= (chunks - lines) / (lines + 1.0) * self.filled / (1.0 - self.filled);
        }
        (1.0 - kept).clamp(0.0, 1.0)
    }
}

/// `most · exp(-lag · exp(-steepness · O))`, the form of the paper: the share that misses at a footprint of `O` capacities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gompertz {
    /// Share at a footprint without end.
    pub most: f64,
    /// How late it rises.
    pub lag: f64,
    /// How steeply.
    pub steepness: f64,
}

/// Of L2, for what blocks that run side by side load again, in kernels without loops.
pub const WITHIN: Gompertz = Gompertz { most: 0.5, lag: 20.0, steepness: 1.0 };

impl Gompertz {
    /// The share of accesses that miss where so much, over the capacity, is touched between two uses.
    pub fn at(&self, full: f64) -> f64 {
        (self.most * (-self.lag * (-self.steepness * full).exp()).exp()).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the sum of the other end of the distribution, by factorials.
    #[test]
    fn sets_overflow_by_a_binomial_distribution() {
        let sets = Sets { ways: 4, filled: FILLED };
        let chance = |chunks: u32| -> f64 {
            let choose =
                |of: u32, some: u32| (0..some).map(|at| f64::from(of - at) / f64::from(at + 1)).product::<f64>();
            let of = |lines: u32| {
                choose(chunks, lines) * FILLED.powi(lines as i32) * (1.0 - FILLED).powi((chunks - lines) as i32)
            };
            (4..=chunks).map(of).sum()
        };
        for chunks in 4..20 {
            let full = FILLED * f64::from(chunks) / 4.0;
            assert!((sets.lost(full) - chance(chunks)).abs() < 1e-9, "{chunks}");
        }
        assert_eq!(sets.lost(0.0), 0.0);
        let sixteen = Sets { ways: 16, filled: FILLED };
        assert!(sixteen.lost(0.7) < 0.01 && sixteen.lost(1.6) > 0.999);
        let rising: Vec<f64> = (0..300).map(|step| sets.lost(f64::from(step) / 100.0)).collect();
        assert!(rising.is_sorted());
        // Of chunks that are touched whole nothing is lost as long as a set has a way for each.
        let whole = Sets { ways: 16, filled: 1.0 };
        assert_eq!([whole.lost(0.9), whole.lost(1.0), whole.lost(7.3)], [0.0, 1.0, 1.0]);
    }
}
