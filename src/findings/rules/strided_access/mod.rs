//! Neighbouring lanes that are a stride apart: each touches a sector of its own (CUDA C++ Best Practices Guide, "Strided
//! Accesses").

mod causes;
mod cure;
mod exchange;
mod layout;
mod library;
mod wording;

use super::super::draft::{Draft, Saved};
use super::super::facts::access::{Access, share};
use super::super::facts::beside;
use super::super::facts::index;
use super::super::facts::{Facts, block_of, lane_axis, thread_index, warps};
use super::super::gain::Saving;
use super::super::texture;
use super::super::words;
use crate::profile::model::ThreadStep;
use causes::Strided;

pub(super) use library::aligned as aligned_for_library;

/// Least share of an access's sectors that its bytes do not need.
const LEAST_EXCESS: f64 = 0.25;
/// Accesses to the same data, with the same distance between threads, from which on they take neighbours of an element.
const NEIGHBOURS: usize = 3;
/// Least lanes of a request for neighbours to be among them: two threads that load the halo of a tile are none.
const LEAST_LANES: u64 = 4;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // Where atomic operations give the places, what lies between neighbouring threads is chance; of an index that is held within an
    // array, only what few lanes do at its border.
    let is_stride = |access: &Access<'_>| !beside::is_held_within(access) && !index::is_given_by_atomics(access);
    let strided = |access: &&Access<'_>| (is_strided(access) || by_short_rows(access)) && is_stride(access);
    let strided = facts.accesses.iter().filter(strided);
    causes::joined(facts, strided.filter_map(|access| of_access(facts, access)).collect())
}

/// The code moves the address by a row or so from thread to thread, and rows of the block are so short that its requests show no
/// one stride.
pub(super) fn by_short_rows(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    let Some(operand) = access.operand else { return false };
    let axis = lane_axis(access.kernel);
    let apart = match &operand.thread_steps[axis] {
        ThreadStep::Bytes(bytes) => bytes.unsigned_abs() > access.bytes.into(),
        ThreadStep::Times(_) => true,
        ThreadStep::None | ThreadStep::Other => false,
    };
    access.space == "global"
        && !access.is_opaque
        && has_neighbours(access)
        && pattern.atomics.is_none()
        && apart
        && !operand.loaded_index
        && operand.thread_steps.iter().all(|step| *step != ThreadStep::Other)
        && block_of(access.kernel).is_some_and(|block| block[axis] < 32)
        && share(pattern.irregular, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_EXCESS
}

/// Most of its requests have one stride that leaves gaps, and it costs sectors.
pub(super) fn is_strided(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    let gaps = pattern.stride_bytes.is_some_and(|stride| stride.unsigned_abs() > access.bytes.into());
    access.space == "global"
        && !access.is_opaque
        && !access.in_library
        && has_neighbours(access)
        && pattern.atomics.is_none()
        && gaps
        && share(pattern.strided, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_EXCESS
        && !has_neighbours_apart(access)
}

/// The code gives neighbouring threads neighbouring elements: what lies between those that are there is that of lanes which a branch
/// leaves out, as all but those at a border.
fn has_neighbours_apart(access: &Access<'_>) -> bool {
    let step = access.operand.map(|operand| &operand.thread_steps[lane_axis(access.kernel)]);
    matches!(step, Some(ThreadStep::Bytes(bytes)) if bytes.unsigned_abs() <= access.bytes.into())
}

fn has_neighbours(access: &Access<'_>) -> bool {
    access.sums.lanes >= LEAST_LANES * access.sums.requests
}

fn of_access<'c, 'a>(facts: &Facts<'a>, access: &'c Access<'a>) -> Option<Strided<'c, 'a>> {
    let stride = access.pattern.stride_bytes.filter(|_| is_strided(access));
    if super::struct_fields::explains(access) || library::is_blocked(access) || texture::is_scaled(access) {
        return None;
    }
    let sums = &access.sums;
    let verb = if access.op == "store" { "write" } else { "read" };
    let target = facts.target(access);
    let elements = stride.map_or(0, i64::unsigned_abs) / u64::from(access.bytes.max(1));
    let axis = lane_axis(access.kernel);
    let steps = access.operand.map(|operand| &operand.thread_steps);
    let index = thread_index(axis);
    let because = match steps.map(|steps| &steps[axis]) {
        Some(ThreadStep::Times(factor)) if !factor.is_empty() => {
            format!(", because {index} is multiplied by `{factor}`")
        }
        Some(ThreadStep::Times(_)) => format!(", because {index} is multiplied by a row's length"),
        Some(ThreadStep::Bytes(bytes))
            if elements > 1 && stride.map(i64::unsigned_abs) == Some(bytes.unsigned_abs()) =>
        {
            format!(", because {index} is multiplied by {elements}")
        }
        _ => String::new(),
    };
    let apart = match stride {
        Some(stride) => format!(
            "{} ({} of {}) apart",
            words::bytes(stride.unsigned_abs()),
            words::several(elements, "element", "elements"),
            words::bytes(access.bytes.into()),
        ),
        None => "far apart".to_owned(),
    };
    let reason = format!(
        "neighbouring threads {verb} {target} {apart}{because}: a request touches {} sectors of 32 bytes where {} \
         would hold its data",
        words::ratio(sums.sectors, sums.requests),
        words::ratio(sums.ideal_sectors, sums.requests),
    );
    let cure = cure::of(facts, access, stride)?;
    let saved = Saved {
        saving: Saving::of_coalescing(&[access], facts),
        otherwise: excess_of_kernel(facts, access),
        assumption: if loads_neighbours(facts, access) {
            "each request touches only the sectors that its bytes fill; more where L1 then keeps what neighbours have brought"
        } else {
            "each request touches only the sectors that its bytes fill"
        },
        ..Saved::default()
    };
    let draft = index::with_its_line(
        Draft::new(reason, cure.told(facts, access))
            .at_access(access)
            .evidence("stride_bytes", stride.map_or(f64::NAN, |stride| stride as f64))
            .evidence("requests", sums.requests as f64)
            .evidence("sectors", sums.sectors as f64)
            .evidence("ideal_sectors", sums.ideal_sectors as f64)
            // Whether it loads or stores.
            .alike(format!("{cure:?}"))
            .saves(facts, saved),
        facts,
        access,
    );
    Some(Strided { access, cure, draft })
}

/// Whether the kernel takes elements of the same data around this one, as a stencil does: of what they then have in common nothing is simulated.
fn loads_neighbours(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let alike = |one: &&Access<'_>| {
        one.op == "load"
            && one.allocation == access.allocation
            && one.pattern.stride_bytes.map(i64::unsigned_abs) == access.pattern.stride_bytes.map(i64::unsigned_abs)
            && is_strided(one)
    };
    access.op == "load" && facts.accesses_of(access.kernel.id, "global").filter(alike).count() >= NEIGHBOURS
}

/// An access's sectors that its bytes do not need, of all sectors of its kernel.
pub(super) fn excess_of_kernel(facts: &Facts<'_>, access: &Access<'_>) -> f64 {
    let all: u64 = facts
        .accesses_of(access.kernel.id, access.space)
        .map(|access| access.sums.sectors)
        .fold(0, u64::saturating_add);
    share(access.sums.excess(), all)
}
