//! Neighbouring lanes that are a stride apart: each touches a sector of its own (CUDA C++ Best Practices Guide, "Strided
//! Accesses").

use super::super::access::{Access, share};
use super::super::context::{Context, block_of, lane_axis, thread_index};
use super::super::draft::Draft;
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::ThreadStep;

/// Least share of an access's sectors that its bytes do not need.
const LEAST_EXCESS: f64 = 0.25;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context.accesses.iter().filter(|access| is_strided(access)).filter_map(|access| draft(context, access)).collect()
}

/// Most of its requests have one stride that leaves gaps, and it costs sectors.
pub(super) fn is_strided(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    let gaps = pattern.stride_bytes.is_some_and(|stride| stride.unsigned_abs() > access.bytes.into());
    access.space == "global"
        && pattern.atomics.is_none()
        && gaps
        && share(pattern.strided, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_EXCESS
}

fn draft(context: &Context<'_>, access: &Access<'_>) -> Option<Draft> {
    let stride = access.pattern.stride_bytes?;
    if super::struct_fields::explains(access) {
        return None;
    }
    let sums = &access.sums;
    let verb = if access.op == "store" { "write" } else { "read" };
    let target = context.target(access);
    let elements = stride.unsigned_abs() / u64::from(access.bytes.max(1));
    let axis = lane_axis(access.kernel);
    let steps = access.operand.map(|operand| &operand.thread_steps);
    let index = thread_index(axis);
    let because = match steps.map(|steps| &steps[axis]) {
        Some(ThreadStep::Times(factor)) if !factor.is_empty() => {
            format!(", because {index} is multiplied by `{factor}`")
        }
        Some(ThreadStep::Times(_)) => format!(", because {index} is multiplied by a row's length"),
        Some(ThreadStep::Bytes(_)) if elements > 1 => format!(", because {index} is multiplied by {elements}"),
        _ => String::new(),
    };
    let reason = format!(
        "neighbouring threads {verb} {target} {} ({} of {}) apart{because}: a request touches {} sectors of 32 bytes where {} \
         would hold its data",
        words::bytes(stride.unsigned_abs()),
        words::several(elements, "element", "elements"),
        words::bytes(access.bytes.into()),
        words::ratio(sums.sectors, sums.requests),
        words::ratio(sums.ideal_sectors, sums.requests),
    );
    // Another index that moves the address by one element could take this one's place.
    let neighbour = steps.and_then(|steps| {
        let moves_by_one = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(access.bytes));
        (0..3).find(|&other| other != axis && moves_by_one(&steps[other]))
    });
    // A transposition: whichever index is neighbouring here is not in the access that is well coalesced now.
    let exchanged_would_harm = neighbour.is_some_and(|other| {
        context.accesses_of(access.kernel.id, "global").any(|one| {
            let steps = one.operand.map(|operand| &operand.thread_steps);
            let contiguous = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(one.bytes));
            steps.is_some_and(|steps| contiguous(&steps[axis]) && !contiguous(&steps[other]) && steps[other] != ThreadStep::None)
        })
    });
    let cure = match neighbour {
        Some(_) if exchanged_would_harm => format!(
            "the kernel's other access is coalesced with {index}, so this is a transposition: read a tile into shared memory, \
             __syncthreads(), and {verb} it from there with the indices exchanged (rows of the tile padded by one element)"
        ),
        Some(other) if block_of(access.kernel).is_some_and(|block| block[other] == 1) => format!(
            "let {index} take the place of {}, which moves the address by one element, and shape block and grid to match: neighbouring \
             threads would {verb} neighbouring elements",
            thread_index(other)
        ),
        Some(other) => format!(
            "exchange {index} and {}: {} moves the address by one element, so that neighbouring threads would {verb} neighbouring \
             elements",
            thread_index(other),
            thread_index(other)
        ),
        None if matches!(elements, 2 | 4) && elements * u64::from(access.bytes) <= 16 => format!(
            "let a thread {verb} its {elements} neighbouring elements with one wide access, or keep what is used in an array without \
             gaps"
        ),
        None => format!(
            "let {index} count the elements that lie side by side in {} (a thread per column instead of per row), store the data \
             transposed, or move tiles of it through shared memory",
            access.variable().map_or_else(|| "memory".to_owned(), |name| format!("`{name}`")),
        ),
    };
    let saving = Saving::of_coalescing(access, context);
    let waste = context.waste(access.kernel, &saving, excess_of_kernel(context, access));
    let gain = context.gain(access.kernel, &saving, "each request touches only the sectors that its bytes fill");
    Some(
        Draft::new(reason, cure)
            .at_access(access)
            .evidence("stride_bytes", stride as f64)
            .evidence("requests", sums.requests as f64)
            .evidence("sectors", sums.sectors as f64)
            .evidence("ideal_sectors", sums.ideal_sectors as f64)
            .gain(gain)
            .score(waste),
    )
}

/// An access's sectors that its bytes do not need, of all sectors of its kernel.
pub(super) fn excess_of_kernel(context: &Context<'_>, access: &Access<'_>) -> f64 {
    let all: u64 = context
        .accesses_of(access.kernel.id, access.space)
        .map(|access| access.sums.sectors)
        .fold(0, u64::saturating_add);
    share(access.sums.excess(), all)
}
