//! The caches of the model that a profile's first figures are of.

use super::profile::Facts;
use warpline_simulator::hierarchy::HierarchyConfig;
use warpline_simulator::models;

/// Share of L2 that data can have for itself, at most, beside what else passes.
const OF_L2: f64 = 0.5;

impl Facts<'_> {
    /// The model's caches; `None` of an unknown one.
    pub(in super::super) fn hierarchy(&self) -> Option<HierarchyConfig> {
        models::find(self.profile.run.models.first()?).ok()?.hierarchy().ok()
    }

    /// Bytes of a lookup in L2.
    pub(in super::super) fn l2_lookup_bytes(&self) -> u64 {
        self.profile.run.lookup_bytes.values().next().map_or(32, |bytes| bytes.l2.max(1))
    }

    /// Whether so many bytes of data fit into L2, and what they are a part of does not.
    pub(in super::super) fn part_fits_l2(&self, part: u64, whole: u64) -> bool {
        self.hierarchy().is_some_and(|caches| {
            let l2 = caches.l2.bytes();
            part as f64 <= OF_L2 * l2 as f64 && whole > l2
        })
    }
}
