//! Rows of reuse distances.

use std::collections::BTreeMap;

use crate::words::label;
use warpline_profile::Profile;
use warpline_profile::model::{Distances, ReuseMetrics};

/// Reuse of the sectors that loads access.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    /// Number of uses of sectors.
    pub uses: u64,
    /// Number of first uses.
    pub first: u64,
    /// Number of uses at a distance of at least the size of L1, and of L2.
    pub beyond: [u64; 2],
    /// Number of uses of elements, and of those used only once.
    pub elements: u64,
    pub streaming: u64,
    /// Number of uses, by the highest distance of the bucket.
    buckets: BTreeMap<u64, u64>,
}

fn finite(distances: &Distances) -> u64 {
    distances.buckets.iter().fold(0, |sum, bucket| sum.saturating_add(bucket.count))
}

impl Row {
    fn add(&mut self, reuse: &ReuseMetrics) {
        let sector = &reuse.sector;
        self.uses = self.uses.saturating_add(finite(sector)).saturating_add(sector.infinite);
        self.first = self.first.saturating_add(sector.infinite);
        let beyond = sector.beyond.unwrap_or_default();
        self.beyond[0] = self.beyond[0].saturating_add(beyond.l1);
        self.beyond[1] = self.beyond[1].saturating_add(beyond.l2);
        self.elements = self.elements.saturating_add(finite(&reuse.element)).saturating_add(reuse.element.infinite);
        self.streaming = self.streaming.saturating_add(reuse.streaming);
        for bucket in &sector.buckets {
            let sum = self.buckets.entry(bucket.upto).or_default();
            *sum = sum.saturating_add(bucket.count);
        }
    }

    /// Returns the distance that this share of the reuses does not exceed, as a power of two.
    pub fn within(&self, share: f64) -> Option<u64> {
        let all: u64 = self.buckets.values().fold(0, |sum, count| sum.saturating_add(*count));
        let mut sum = 0u64;
        self.buckets.iter().find_map(|(upto, count)| {
            sum = sum.saturating_add(*count);
            (all > 0 && sum as f64 >= share * all as f64).then_some(*upto)
        })
    }
}

/// Returns kernels in descending order of the uses that a separate L1 cache would miss.
pub(crate) fn by_kernel(profile: &Profile) -> Vec<(String, Row)> {
    let mut rows: Vec<(u32, String, Row)> = Vec::new();
    for kernel in &profile.kernels {
        let mut row = Row::default();
        kernel.metrics.values().filter_map(|metrics| metrics.reuse.as_ref()).for_each(|reuse| row.add(reuse));
        rows.push((kernel.id, label(profile, kernel), row));
    }
    rows.retain(|(_, _, row)| row.uses > 0);
    rows.sort_by_key(|(id, _, row)| (std::cmp::Reverse(row.beyond[0]), std::cmp::Reverse(row.uses), *id));
    rows.into_iter().map(|(_, name, row)| (name, row)).collect()
}

/// Returns lines (file and line) in the same order.
pub(crate) fn by_line(profile: &Profile) -> Vec<((&str, u32), Row)> {
    let mut lines: BTreeMap<(&str, u32), Row> = BTreeMap::new();
    for site in &profile.sites {
        if let Some(reuse) = &site.metrics.reuse {
            lines.entry((&site.file, site.line)).or_default().add(reuse);
        }
    }
    let mut rows: Vec<_> = lines.into_iter().filter(|(_, row)| row.uses > 0).collect();
    rows.sort_by_key(|(place, row)| (std::cmp::Reverse(row.beyond[0]), std::cmp::Reverse(row.uses), *place));
    rows
}

/// Returns the scope of the figures, for a heading.
pub(crate) fn heading(profile: &Profile) -> String {
    let said = |name: &str| profile.run.assumptions.get(name).map(String::as_str);
    let scope = said("reuse_scope").unwrap_or("thread block");
    let stores = match said("reuse_restart") {
        Some("off") => "stores are uses",
        _ => "a store begins anew",
    };
    // If distances were not computed, there are no rows.
    let about = if said("reuse_distances").is_some() { "APPROXIMATE " } else { "" };
    let article = if scope.starts_with('S') { "an" } else { "a" };
    format!("{about}REUSE of loaded sectors within {article} {scope} ({stores}; used once: of elements)")
}
