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
    /// Of L2, for what earlier blocks touched.
    pub l2: Miss,
    /// Of L2, for what blocks that run side by side load again, in kernels without loops.
    pub within: Miss,
}

/// The curves of a model by its key.
pub fn of_model(_key: &str) -> Curves {
    Curves { l2: Miss { most: 1.0, lag: 25.0, steepness: 2.6 }, within: Miss { most: 0.5, lag: 20.0, steepness: 1.0 } }
}
