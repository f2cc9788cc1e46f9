//! How a site's requests use memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::number::{Wide, nine_digits};

/// Shapes of a site's requests; those of two or more lanes. Requests to global memory, but for `bank_conflict`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Requests of two or more lanes.
    pub requests: u64,
    /// All lanes at one address.
    pub uniform: u64,
    /// Adjacent lanes access adjacent elements.
    pub contiguous: u64,
    /// Requests among these whose lane 0 is not at the start of a 32-byte sector, or would not be.
    pub misaligned: u64,
    /// A constant stride that leaves gaps, or goes backwards.
    pub strided: u64,
    /// Runs of lanes without gaps, apart from each other.
    pub rows: u64,
    /// None of these.
    pub irregular: u64,
    /// Bytes from one lane to the next in most of the strided ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride_bytes: Option<i64>,
    /// Offset in a 128-byte line at which most misaligned requests start, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// Offset in a 32-byte sector that most of them share, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sector_offset_bytes: Option<u64>,
    /// Lanes of the first run of most of those in rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_lanes: Option<u64>,
    /// Bytes from that run to the second one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_pitch_bytes: Option<i64>,
    /// Mean of the bytes between the lowest and the highest address of the irregular ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<f64>,
    /// Their sum, in profiles of several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_sum: Option<Wide>,
    /// Atomic operations only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomics: Option<Atomics>,
    /// The worst one; shared memory only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank_conflict: Option<BankConflict>,
}

/// What atomic operations meet on one address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Atomics {
    /// Requests.
    pub requests: u64,
    /// Lanes.
    pub lanes: u64,
    /// Distinct addresses per request, summed.
    pub addresses: u64,
    /// Lanes at the address that most lanes of the request meet, summed.
    pub deepest: u64,
    /// The places that most lanes met.
    pub hottest: Vec<HotPlace>,
    /// All places in the single profiles, in profiles of several runs; empty where there are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<HotPlace>>,
}

/// A place that many operations meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotPlace {
    /// Allocation.
    pub allocation: u64,
    /// Bytes from its start.
    pub offset: u64,
    /// Lanes that met there, at most.
    pub lanes: u64,
    /// Requests that did, at most.
    pub requests: u64,
}

/// A request to shared memory that takes more passes than its words need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankConflict {
    /// Passes that it takes.
    pub passes: u32,
    /// Passes that it would take, if its words lay in different banks.
    pub ideal: u32,
    /// Bytes per lane.
    pub bytes: u32,
    /// Active lanes and their addresses, in bytes from the 128-byte line of the lowest.
    pub lanes: Vec<(u32, u64)>,
}

/// Number of listed places of atomic operations.
pub const HOTTEST: usize = 4;

impl Pattern {
    /// Adds another site's or run's, whose allocations have the same numbers.
    pub fn add(&mut self, more: &Pattern) {
        // What most of the requests of a shape have in common is taken from the run that has more of them.
        if more.strided > self.strided {
            self.stride_bytes = more.stride_bytes;
        }
        // Each site of an unrolled loop has its own offset: the sum has one only if most requests share it.
        let weights = (self.misaligned, more.misaligned);
        self.offset_bytes = shared(self.offset_bytes, more.offset_bytes, weights);
        self.sector_offset_bytes = shared(self.sector_offset_bytes, more.sector_offset_bytes, weights);
        if more.rows > self.rows {
            (self.row_lanes, self.row_pitch_bytes) = (more.row_lanes, more.row_pitch_bytes);
        }
        self.span_bytes = match (self.span_bytes, more.span_bytes) {
            (Some(one), Some(other)) => {
                let (ours, theirs) = (self.irregular as f64, more.irregular as f64);
                Some(nine_digits((one * ours + other * theirs) / (ours + theirs).max(1.0)))
            }
            (one, other) => one.or(other),
        };
        for (sum, more) in [
            (&mut self.requests, more.requests),
            (&mut self.uniform, more.uniform),
            (&mut self.contiguous, more.contiguous),
            (&mut self.misaligned, more.misaligned),
            (&mut self.strided, more.strided),
            (&mut self.rows, more.rows),
            (&mut self.irregular, more.irregular),
        ] {
            *sum = sum.saturating_add(more);
        }
        if let Some(more) = &more.atomics {
            self.atomics.get_or_insert_default().add(more);
        }
        // Of equals the one with the smallest addresses, so that the order does not matter.
        let worst = |pattern: &Pattern| {
            let conflict = pattern.bank_conflict.as_ref()?;
            Some((conflict.passes.saturating_sub(conflict.ideal), std::cmp::Reverse(conflict.lanes.clone())))
        };
        if worst(more) > worst(self) {
            self.bank_conflict.clone_from(&more.bank_conflict);
        }
    }
}

/// What three quarters of so many requests here and there have in common.
fn shared<T: PartialEq>(one: Option<T>, other: Option<T>, (here, there): (u64, u64)) -> Option<T> {
    if one == other || there <= here / 3 {
        one
    } else if here <= there / 3 {
        other
    } else {
        None
    }
}

impl Atomics {
    fn add(&mut self, more: &Atomics) {
        self.requests = self.requests.saturating_add(more.requests);
        self.lanes = self.lanes.saturating_add(more.lanes);
        self.addresses = self.addresses.saturating_add(more.addresses);
        self.deepest = self.deepest.saturating_add(more.deepest);
        let mut places: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
        for hot in self.hottest.iter().chain(&more.hottest) {
            let (lanes, requests) = places.entry((hot.allocation, hot.offset)).or_default();
            *lanes = lanes.saturating_add(hot.lanes);
            *requests = requests.saturating_add(hot.requests);
        }
        let place = |((allocation, offset), (lanes, requests))| HotPlace { allocation, offset, lanes, requests };
        self.hottest = places.into_iter().map(place).collect();
        self.hottest.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.allocation, hot.offset));
        self.hottest.truncate(HOTTEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_with_other_begins_have_none_in_common() {
        let site = |misaligned, offset| Pattern {
            misaligned,
            offset_bytes: Some(offset),
            sector_offset_bytes: Some(offset % 32),
            ..Pattern::default()
        };
        let sum = |sites: &[Pattern]| {
            let mut sum = Pattern::default();
            sites.iter().for_each(|site| sum.add(site));
            (sum.offset_bytes, sum.sector_offset_bytes)
        };
        assert_eq!(sum(&[site(10, 36), site(10, 36)]), (Some(36), Some(4)));
        // Rows of an unrolled loop, each at another place; and such that share their place in the sector.
        assert_eq!(sum(&[site(10, 4), site(10, 8), site(10, 12), site(10, 16)]), (None, None));
        assert_eq!(sum(&[site(10, 16), site(10, 48), site(10, 80)]), (None, Some(16)));
        assert_eq!(sum(&[site(1, 4), site(90, 16), site(2, 8)]), (Some(16), Some(16)));
    }
}
