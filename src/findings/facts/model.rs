//! Caches of the GPU model for which the profile's first figures were computed.

use super::super::prelude::*;
use warpline_simulator::hierarchy::HierarchyConfig;
use warpline_simulator::models;

impl Facts<'_> {
    /// Returns the model's caches; `None` if the model is unknown.
    pub fn hierarchy(&self) -> Option<HierarchyConfig> {
        models::find(self.profile.run.models.first()?).ok()?.hierarchy().ok()
    }

    /// Returns the number of bytes of a lookup in L2.
    pub fn l2_lookup_bytes(&self) -> u64 {
        self.profile.run.lookup_bytes.values().next().map_or(32, |bytes| bytes.l2.max(1))
    }
}
