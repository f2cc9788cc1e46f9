//! Lanes whose addresses follow no rule: each may touch a sector of its own.

mod cure;
mod ways;

use cure::Cure;
pub(super) use ways::{goes_over_neighbours, has_own_columns, has_own_rows};

use super::super::draft::{Draft, Saved, WORTH_A_CHANGE};
use super::super::facts::access::{Access, share};
use super::super::facts::beside;
use super::super::facts::index;
use super::super::facts::terms::terms_of;
use super::super::facts::{Facts, is_of_library};
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::Severity;
use crate::profile::{is_system, library_call};

/// Least share of an access's sectors that its bytes do not need.
const LEAST_EXCESS: f64 = 0.4;

/// Bytes from the first lane to the last for each that the lanes want, at most, where computed indices are no gather.
const NEARLY_DENSE: f64 = 4.0;
/// The same of loaded indices, where these may be in order.
const IN_ORDER: f64 = 16.0;
/// Bytes of an array for each from the first lane to the last, at least, where loaded indices that lie near each other have an order.
const MUCH_LONGER: f64 = 64.0;
/// Bytes from the first to the last lane that a library's own compaction leaves, at most.
const LIBRARY_SPAN: f64 = 1024.0;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let scattered = |access: &&Access<'_>| {
        is_scattered(access)
            && !super::struct_fields::is_packed(access)
            && !super::strided_access::by_short_rows(access)
            && !is_compacted_by_library(access)
            && !is_permuted_by_library(facts, access)
            && !beside::is_held_within(access)
            && !is_nearly_dense(facts, access)
            && !is_of_several_arrays(facts, access)
    };
    facts.accesses.iter().filter(scattered).filter_map(|access| draft(facts, access)).collect()
}

/// Most of its requests follow no rule, and it costs sectors.
pub(super) fn is_scattered(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    access.space == "global"
        && !access.is_opaque
        && !access.in_library
        && pattern.atomics.is_none()
        && share(pattern.irregular, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_EXCESS
}

/// Lanes that computed indices, as of a picture that is scaled, lead to every second or third element: where the next lane goes no order
/// of data brings nearer.
fn is_nearly_dense(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let bytes_of_lanes = access.sums.lanes as f64 / access.sums.requests.max(1) as f64 * f64::from(access.bytes);
    let is_loaded = access.operand.is_some_and(|operand| operand.loaded_index);
    let most = if is_loaded { IN_ORDER } else { NEARLY_DENSE };
    let Some(span) = access.pattern.span_bytes.filter(|&span| span <= most * bytes_of_lanes) else {
        return false;
    };
    // Loaded indices that lead so near each other, in an array that is much longer, are in order already, as those of a list of what was found: what lies
    // between them nobody asks for.
    let whole = access.allocation.and_then(|id| facts.profile.allocation(id)).map_or(0, |one| one.touched_bytes);
    !is_loaded || whole as f64 >= MUCH_LONGER * span && !ways::goes_along(access, &terms_of(access))
}

/// Lanes that take the same element of one array or another, as where the compiler has made one store of those of two sides: nothing is
/// wrong with the index.
fn is_of_several_arrays(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let is_loaded = access.operand.is_some_and(|operand| operand.loaded_index);
    let allocation = access.allocation.and_then(|id| facts.profile.allocation(id));
    !is_loaded
        && allocation
            .is_some_and(|allocation| access.pattern.span_bytes.is_some_and(|span| span > allocation.bytes as f64))
}

/// A library's kernel leaves out what is not wanted, so that its lanes are a few elements apart: nobody's order of data changes that.
fn is_compacted_by_library(access: &Access<'_>) -> bool {
    is_system(&access.kernel.file) && access.pattern.span_bytes.is_some_and(|span| span < LIBRARY_SPAN)
}

/// A library's algorithm brings its own scratch memory into another order, or is there to bring data into none: nobody's order of data changes that.
fn is_permuted_by_library(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let allocation = access.allocation.and_then(|id| facts.profile.allocation(id));
    let shuffles = || library_call(access.kernel).is_some_and(|call| call.function.contains("shuffle"));
    is_system(&access.kernel.file) && is_system(access.file) && (allocation.is_some_and(is_of_library) || shuffles())
}

fn draft(facts: &Facts<'_>, access: &Access<'_>) -> Option<Draft> {
    let sums = &access.sums;
    let target = facts.target(access);
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
    let Cure { text, one_cause, is_vague, is_unknown, of_library } = cure::of(facts, access);
    let saved = Saved {
        saving: Saving::of_coalescing(&[access], facts),
        otherwise: super::strided_access::excess_of_kernel(facts, access),
        assumption: if access.op == "load" && index::is_walked(access) {
            "each request touches only the sectors that its bytes fill, and sectors are what the kernel waits for; where a thread waits for one load after \
             the other, as on its way through a tree, another layout may bring nothing"
        } else {
            "each request touches only the sectors that its bytes fill"
        },
        ..Saved::default()
    };
    let draft = Draft::new(reason, text)
        .at_access(access)
        .evidence("requests", sums.requests as f64)
        .evidence("sectors", sums.sectors as f64)
        .evidence("ideal_sectors", sums.ideal_sectors as f64)
        .evidence("span_bytes", span)
        .one_cause(one_cause)
        .saves(facts, saved);
    // Where nobody knows a cure, and little is lost, there is nothing to say.
    if is_vague && draft.score < WORTH_A_CHANGE {
        return None;
    }
    let draft = if of_library || is_unknown { draft.severity(Severity::Note) } else { draft };
    // Where nobody knows how the index comes about, a line says nothing.
    Some(if indirect || is_unknown { draft } else { index::with_its_line(draft, facts, access) })
}
