//! Values that accesses transfer, by site and allocation.

use std::collections::BTreeMap;

use warpline_format::event::{AllocationId, PathId};
use warpline_format::values::{MOST_DISTINCT, SiteValues, ZeroBlocks};

/// Maximum number of kept pairs of site and allocation.
const MOST_PLACES: usize = 10_000;

/// Identifies a row of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueKey {
    /// Number of the kernel.
    pub kernel: u32,
    /// Index into the site table's sites.
    pub site: u32,
    /// Row of the allocation; `None` for shared memory.
    pub allocation: Option<AllocationId>,
}

/// The accesses of all launches with one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSum {
    /// Sum of the values' counts.
    pub sum: SiteValues,
    /// Number of launches.
    pub launches: u64,
    /// Number of launches in which no lane changed a value.
    pub silent_launches: u64,
    /// Host call path of the first launch.
    pub path: PathId,
}

/// All results of the value analysis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Whether the run recorded values.
    pub followed: bool,
    /// Sums by kernel, site and allocation.
    pub sites: BTreeMap<ValueKey, ValueSum>,
    /// Zeros by allocation row, summed over the launches at whose end they were counted.
    pub zeros: BTreeMap<AllocationId, ZeroBlocks>,
    /// Number of rows beyond [`MOST_PLACES`].
    pub more: u64,
}

impl Values {
    /// Adds the values of a site in a launch.
    pub(super) fn add(&mut self, key: ValueKey, values: &SiteValues, path: PathId) {
        if values.values.distinct.len() > MOST_DISTINCT {
            return;
        }
        if self.sites.len() >= MOST_PLACES && !self.sites.contains_key(&key) {
            self.more = self.more.saturating_add(1);
            return;
        }
        let fresh = || ValueSum { sum: SiteValues::default(), launches: 0, silent_launches: 0, path };
        let row = self.sites.entry(key).or_insert_with(fresh);
        row.sum.merge(values);
        row.launches += 1;
        row.silent_launches += u64::from(values.silent_lanes >= values.lanes);
    }

    /// Adds the zeros in an allocation at the end of a launch.
    pub(super) fn add_zeros(&mut self, row: AllocationId, zeros: &ZeroBlocks) {
        let sum = self.zeros.entry(row).or_insert(ZeroBlocks { allocation: row, ..ZeroBlocks::default() });
        for (sum, more) in [
            (&mut sum.sectors, zeros.sectors),
            (&mut sum.zero_sectors, zeros.zero_sectors),
            (&mut sum.lines, zeros.lines),
            (&mut sum.zero_lines, zeros.zero_lines),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_number_of_places_is_bounded() {
        let mut all = Values::default();
        let values = SiteValues { requests: u64::MAX, ..SiteValues::default() };
        for site in 0..MOST_PLACES as u32 + 5 {
            all.add(ValueKey { kernel: 0, site, allocation: None }, &values, 0);
        }
        all.add(ValueKey { kernel: 0, site: 0, allocation: None }, &values, 0);
        assert_eq!((all.sites.len(), all.more), (MOST_PLACES, 5));
        let first = &all.sites[&ValueKey { kernel: 0, site: 0, allocation: None }];
        assert_eq!((first.launches, first.sum.requests), (2, u64::MAX));
    }
}
