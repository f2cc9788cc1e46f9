//! The caches of the model that a profile's first figures are of.

use super::super::prelude::*;
use warpline_simulator::hierarchy::HierarchyConfig;
use warpline_simulator::models;

impl Facts<'_> {
    /// Returns the model's caches; `None` of an unknown one.
    pub fn hierarchy(&self) -> Option<HierarchyConfig> {
        models::find(self.profile.run.models.first()?).ok()?.hierarchy().ok()
    }

    /// Bytes of a lookup in L2.
    pub fn l2_lookup_bytes(&self) -> u64 {
        self.profile.run.lookup_bytes.values().next().map_or(32, |bytes| bytes.l2.max(1))
    }
}
