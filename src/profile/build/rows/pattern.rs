//! Converts the access pattern of a site's requests to the profile's form.

use crate::model::{Atomics, BankConflict, HOTTEST, HotPlace, Pattern, nine_digits};
use warpline_analyzer::patterns::SitePattern;

/// Returns the pattern of a site; `None` if it would be empty.
pub(in crate::build) fn pattern(from: &SitePattern) -> Option<Pattern> {
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
            .take(HOTTEST)
            .map(|hot| HotPlace {
                allocation: hot.allocation,
                offset: hot.offset,
                lanes: hot.lanes,
                requests: hot.requests,
            })
            .collect(),
        places: None,
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
        sector_offset_bytes: strides.sector_offset(),
        row_lanes: row.map(|(lanes, _)| lanes),
        row_pitch_bytes: row.map(|(_, pitch)| pitch),
        span_sum: None,
        span_bytes: (strides.irregular != 0).then(|| nine_digits(strides.span as f64 / strides.irregular as f64)),
        atomics,
        bank_conflict,
    })
}
