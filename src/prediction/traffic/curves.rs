//! How caches lose what was touched before, as functions of the footprint over the capacity.
//!
//! The form is that of the paper (a Gompertz curve of misses); the constants were fitted to this project's own simulation, see
//! `docs/design/prediction.md` for how and how well. One set serves all models.

/// `most · exp(-lag · exp(-steepness · O))`: the share that misses at a footprint of `O` capacities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miss {
    /// Share at a footprint without end.
    pub most: f64,
    /// How late it rises.
    pub lag: f64,
    /// How steeply.
    pub steepness: f64,
}

/// Of L2, for what earlier blocks touched.
pub const L2: Miss = Miss { most: 1.0, lag: 25.0, steepness: 2.6 };

/// Of L2, for what blocks that run side by side load again, in kernels without loops.
pub const WITHIN: Miss = Miss { most: 0.5, lag: 20.0, steepness: 1.0 };

impl Miss {
    /// The share of accesses that miss where so much, over the capacity, is touched between two uses.
    pub fn at(&self, full: f64) -> f64 {
        (self.most * (-self.lag * (-self.steepness * full).exp()).exp()).clamp(0.0, 1.0)
    }
}
