//! How a site's requests use memory, as the document has it.

use serde::{Deserialize, Serialize};

use super::estimate::nine_digits;
use crate::patterns::SitePattern;

/// Shapes of a site's requests; those of two or more lanes. Requests to global memory, but for `bank_conflict`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Requests of two or more lanes.
    pub requests: u64,
    /// All lanes at one address.
    pub uniform: u64,
    /// Lane beside lane.
    pub contiguous: u64,
    /// Of these, that do not begin on a 32-byte sector.
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
    /// Bytes from the begin of a 128-byte line to most of the misaligned ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<u64>,
    /// Lanes of the first run of most of those in rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_lanes: Option<u64>,
    /// Bytes from that run to the second one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_pitch_bytes: Option<i64>,
    /// Mean of the bytes between the lowest and the highest address of the irregular ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<f64>,
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
}

/// A place that many operations meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotPlace {
    /// Allocation.
    pub allocation: u64,
    /// Bytes from its begin.
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

/// `None` where there is nothing to say.
pub(super) fn pattern(from: &SitePattern) -> Option<Pattern> {
    let strides = &from.strides;
    let (collisions, banks) = (&from.collisions, &from.banks);
    let row = strides.row();
    let atomics = (collisions.requests != 0).then(|| Atomics {
        requests: collisions.requests,
        lanes: collisions.lanes,
        addresses: collisions.distinct,
        deepest: collisions.deepest,
        hottest: collisions
            .hot
            .iter()
            .take(4)
            .map(|hot| HotPlace {
                allocation: hot.allocation,
                offset: hot.offset,
                lanes: hot.lanes,
                requests: hot.requests,
            })
            .collect(),
    });
    let bank_conflict = (!banks.lanes.is_empty()).then(|| BankConflict {
        passes: banks.passes,
        ideal: banks.ideal,
        bytes: banks.bytes,
        lanes: banks.lanes.clone(),
    });
    if strides.requests == 0 && atomics.is_none() && bank_conflict.is_none() {
        return None;
    }
    Some(Pattern {
        requests: strides.requests,
        uniform: strides.uniform,
        contiguous: strides.contiguous,
        misaligned: strides.misaligned,
        strided: strides.strided,
        rows: strides.rows,
        irregular: strides.irregular,
        stride_bytes: strides.stride(),
        offset_bytes: strides.offset(),
        row_lanes: row.map(|(lanes, _)| lanes),
        row_pitch_bytes: row.map(|(_, pitch)| pitch),
        span_bytes: (strides.irregular != 0).then(|| nine_digits(strides.span as f64 / strides.irregular as f64)),
        atomics,
        bank_conflict,
    })
}
