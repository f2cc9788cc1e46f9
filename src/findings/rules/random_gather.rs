//! Lanes whose addresses follow no rule: each may touch a sector of its own.

use super::super::access::{Access, share};
use super::super::context::{Context, warps};
use super::super::draft::Draft;
use super::super::gain::Saving;
use super::super::words;
use crate::profile::is_system;

/// Least share of an access's sectors that its bytes do not need.
const LEAST_EXCESS: f64 = 0.4;
/// Bytes between the lists of neighbouring lanes, on average, at most.
const NEAR: f64 = 128.0;

/// Bytes from the first to the last lane that a library's own compaction leaves, at most.
const LIBRARY_SPAN: f64 = 1024.0;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let scattered = |access: &&Access<'_>| {
        let pattern = &access.pattern;
        access.space == "global"
            && !access.is_opaque
            && pattern.atomics.is_none()
            && share(pattern.irregular, pattern.requests) >= 0.5
            && access.sums.excess_share() >= LEAST_EXCESS
            && !super::strided_access::by_short_rows(access)
            && !is_compacted_by_library(access)
    };
    context.accesses.iter().filter(scattered).map(|access| draft(context, access)).collect()
}

/// A library's kernel leaves out what is not wanted, so that its lanes are a few elements apart: nobody's order of data changes that.
fn is_compacted_by_library(access: &Access<'_>) -> bool {
    is_system(&access.kernel.file) && access.pattern.span_bytes.is_some_and(|span| span < LIBRARY_SPAN)
}

fn draft(context: &Context<'_>, access: &Access<'_>) -> Draft {
    let sums = &access.sums;
    let target = context.target(access);
    let indirect = access.operand.is_some_and(|operand| operand.loaded_index);
    let (does, lanes) = if access.op == "store" { ("scatter to", "writes") } else { ("gather from", "reads") };
    let span = access.pattern.span_bytes.unwrap_or(0.0);
    let why = if indirect { " by indices that depend on loaded data" } else { "" };
    let reason = format!(
        "the lanes of a warp {does} {target}{why}, {} apart from the first to the last: a request touches {} sectors of 32 bytes where \
         {} would hold what it {lanes}",
        words::bytes(span as u64),
        words::ratio(sums.sectors, sums.requests),
        words::ratio(sums.ideal_sectors, sums.requests),
    );
    let name = access.variable().map_or_else(|| "the data".to_owned(), |name| format!("`{name}`"));
    // Each thread goes over a list of its own: its next element lies beside the last one.
    let lists = indirect
        && access.op == "load"
        && access.most_requests > warps(access.kernel)
        && span < sums.lanes as f64 / sums.requests.max(1) as f64 * NEAR;
    let cure = if lists {
        format!(
            "where each thread goes over a list of {name} from a loaded begin to a loaded end, as over a row of a sparse matrix, let the lanes \
             of a warp or a part of it share one list, so that they read neighbouring elements; else sort or group the indices, or keep the part that is hot in \
             shared memory"
        )
    } else if indirect {
        format!(
            "sort or group the indices so that the threads of a warp meet neighbouring elements of {name}, reorder {name} to match, or \
             keep the part that is hot in shared memory"
        )
    } else {
        format!("see how the index into {name} is computed: threads of a warp should meet neighbouring elements")
    };
    let saving = Saving::of_coalescing(&[access], context);
    let waste = context.waste(access.kernel, &saving, super::strided_access::excess_of_kernel(context, access));
    Draft::new(reason, cure)
        .at_access(access)
        .evidence("requests", sums.requests as f64)
        .evidence("sectors", sums.sectors as f64)
        .evidence("ideal_sectors", sums.ideal_sectors as f64)
        .evidence("span_bytes", span)
        .gain(context.gain(access.kernel, &saving, "each request touches only the sectors that its bytes fill"))
        .score(waste)
}
