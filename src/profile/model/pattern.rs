//! Access patterns of a site's requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::number::{Wide, nine_digits};

/// Shapes of a site's requests to global memory with two or more lanes. Only `bank_conflict` refers to shared memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Number of requests with two or more lanes.
    pub requests: u64,
    /// Requests in which all lanes access one address.
    pub uniform: u64,
    /// Requests in which adjacent lanes access adjacent elements.
    pub contiguous: u64,
    /// Contiguous requests in which lane 0 is not at the start of a 32-byte sector. If lane 0 is inactive, its address
    /// is extrapolated.
    pub misaligned: u64,
    /// Requests with a constant stride that leaves gaps or is negative.
    pub strided: u64,
    /// Requests that consist of several separate runs of contiguous lanes.
    pub rows: u64,
    /// Requests of any other shape.
    pub irregular: u64,
    /// Most frequent distance in bytes between adjacent lanes of strided requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride_bytes: Option<i64>,
    /// Most frequent start offset in bytes of misaligned requests within a 128-byte line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// Most frequent start offset in bytes of misaligned requests within a 32-byte sector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sector_offset_bytes: Option<u64>,
    /// Most frequent number of lanes in the first run of requests in rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_lanes: Option<u64>,
    /// Bytes from that run to the second run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_pitch_bytes: Option<i64>,
    /// Mean number of bytes between the lowest and the highest address of irregular requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<f64>,
    /// Sum of these bytes, in profiles of several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_sum: Option<Wide>,
    /// Address collisions of atomic operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomics: Option<Atomics>,
    /// The worst bank conflict; shared memory only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank_conflict: Option<BankConflict>,
}

/// Address collisions of atomic operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Atomics {
    /// Number of requests.
    pub requests: u64,
    /// Number of lanes.
    pub lanes: u64,
    /// Distinct addresses per request, summed.
    pub addresses: u64,
    /// Lanes on the request's most frequent address, summed over requests.
    pub deepest: u64,
    /// The locations that most lanes accessed.
    pub hottest: Vec<HotPlace>,
    /// All locations of the single profiles, in profiles of several runs; empty if there are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<HotPlace>>,
}

/// A location that many operations access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotPlace {
    /// Allocation.
    pub allocation: u64,
    /// Offset in bytes from its start.
    pub offset: u64,
    /// Upper bound of the lanes that accessed it in the same request.
    pub lanes: u64,
    /// Upper bound of the requests that accessed it.
    pub requests: u64,
}

/// A request to shared memory with a bank conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankConflict {
    /// Number of passes.
    pub passes: u32,
    /// Number of passes if all words were in different banks.
    pub ideal: u32,
    /// Bytes per lane.
    pub bytes: u32,
    /// Active lanes and their addresses, in bytes from the start of the 128-byte line with the lowest address.
    pub lanes: Vec<(u32, u64)>,
}

/// Maximum number of listed locations of atomic operations.
pub const HOTTEST: usize = 4;

impl Pattern {
    /// Adds the pattern of another site or run, whose allocations have the same numbers.
    pub fn add(&mut self, more: &Pattern) {
        // The most frequent values are taken from the run with more requests of the shape.
        if more.strided > self.strided {
            self.stride_bytes = more.stride_bytes;
        }
        // Each site of an unrolled loop has its own offset. The sum has an offset only if most requests share it.
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
        // Among equal conflicts, the one with the smallest addresses is kept, so the result does not depend on the
        // order.
        let worst = |pattern: &Pattern| {
            let conflict = pattern.bank_conflict.as_ref()?;
            Some((conflict.passes.saturating_sub(conflict.ideal), std::cmp::Reverse(conflict.lanes.clone())))
        };
        if worst(more) > worst(self) {
            self.bank_conflict.clone_from(&more.bank_conflict);
        }
    }
}

/// Returns the value that at least three quarters of the requests of both sides share.
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
        // The first case has rows of an unrolled loop with different offsets; other cases share the offset in the
        // sector.
        assert_eq!(sum(&[site(10, 4), site(10, 8), site(10, 12), site(10, 16)]), (None, None));
        assert_eq!(sum(&[site(10, 16), site(10, 48), site(10, 80)]), (None, Some(16)));
        assert_eq!(sum(&[site(1, 4), site(90, 16), site(2, 8)]), (Some(16), Some(16)));
    }
}
