//! How caches lose what was touched before, as functions of the footprint over the capacity.
//!
//! The form is that of the paper (a Gompertz curve of misses); the constants were fitted to this project's own simulation, see
//! `docs/design/prediction.md` for how and how well.

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

/// The curves of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curves {
    /// Of L2, for what earlier waves of blocks touched.
    pub l2: Miss,
    /// Of L2, for what a wave itself touches again.
    pub within: Miss,
}

/// The curves of a model by its key.
pub fn of_model(_key: &str) -> Curves {
    Curves { l2: Miss { most: 1.0, lag: 37.1, steepness: 3.2 }, within: Miss { most: 0.6, lag: 8.0, steepness: 0.7 } }
}
