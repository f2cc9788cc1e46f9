//! Runs the cache and locality engines over the requests of a trace.
//!
//! Each worker of the analysis has a [`Simulation`] that serves the SMs of its share: coalescing,
//! level 1 and reuse distances. What leaves the SMs goes to the [`Stage`] that all workers share; it
//! puts each batch of the trace back into its order and serves level 2. So the figures are the same
//! for any number of workers.

#[cfg(test)]
mod delta_tests;
mod follower;
mod reorder;
mod stage;
#[cfg(test)]
mod wavefront_tests;

pub use follower::Simulation;
pub use reorder::Reorder;
pub use stage::{SharedStage, Stage};

use std::collections::BTreeMap;

use crate::hierarchy::HierarchyConfig;
use crate::locality::Stores;

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The GPU's memory hierarchy.
    pub hierarchy: HierarchyConfig,
    /// Copies leave their data in level 2.
    pub warm_copies: bool,
    /// What stores do to reuse distances.
    pub stores: Stores,
}

impl Settings {
    /// What the profile says about the state of the caches.
    pub fn assumptions(&self) -> BTreeMap<String, String> {
        let copies = if self.warm_copies { "warm" } else { "cold" };
        let restart = if self.stores == Stores::Restart { "on" } else { "off" };
        [
            ("l1", "empty at each launch"),
            ("l2", "kept between launches"),
            ("l2_copies", copies),
            ("reuse_scope", "thread block"),
            ("reuse_restart", restart),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }
}
