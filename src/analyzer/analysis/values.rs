//! Values that accesses move, by site and allocation.

use std::collections::BTreeMap;

use warpline_format::event::{AllocationId, PathId};
use warpline_format::values::{MOST_DISTINCT, SiteValues, ZeroBlocks};

/// Most pairs of a site and an allocation that are kept.
const MOST_PLACES: usize = 10_000;

/// What accesses have in common that are one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueKey {
    /// Kernel, by number.
    pub kernel: u32,
    /// Index into the site table's sites.
    pub site: u32,
    /// Row of the allocation; `None` in shared memory.
    pub allocation: Option<AllocationId>,
}

/// All launches' accesses of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSum {
    /// The sum.
    pub sum: SiteValues,
    /// Launches.
    pub launches: u64,
    /// Launches in which no lane changed anything.
    pub silent_launches: u64,
    /// Host call path of the first launch.
    pub path: PathId,
}

/// All that was followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The run follows values.
    pub followed: bool,
    /// Keyed by kernel, site and allocation.
    pub sites: BTreeMap<ValueKey, ValueSum>,
    /// Zeros by row of the allocation, summed over the launches at whose end they were counted.
    pub zeros: BTreeMap<AllocationId, ZeroBlocks>,
    /// Rows beyond [`MOST_PLACES`].
    pub more: u64,
}

impl Values {
    /// Adds what a site did in a launch.
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
