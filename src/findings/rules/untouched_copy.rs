//! Data that is copied to the device and that no kernel touches.

use super::super::access::share;
use super::super::context::{BUS_BYTES_PER_SECOND, Context, describe, innermost};
use super::super::draft::Draft;
use super::super::words;
use crate::profile::model::Allocation;

/// Touched share, at most.
const MOST_TOUCHED: f64 = 0.5;
/// Bytes copied and not touched, at least.
const LEAST_BYTES: u64 = 256 << 10;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    // What was left out of a recording may have touched the rest.
    let run = &context.profile.run;
    if run.sampled || !run.complete || run.mode != "trace" || run.lookup_bytes.is_empty() {
        return Vec::new();
    }
    // Where nothing was launched, as after a usage message or with no rounds asked for, nothing can have used the memory.
    if context.profile.kernels.is_empty() {
        return Vec::new();
    }
    context.profile.allocations.iter().filter_map(|allocation| draft(context, allocation)).collect()
}

fn draft(context: &Context<'_>, allocation: &Allocation) -> Option<Draft> {
    let in_copies = allocation.copies.iter().filter(|copy| copy.direction == "host_to_device");
    let largest = in_copies.clone().max_by_key(|copy| copy.bytes)?;
    let copied: u64 = in_copies.map(|copy| copy.bytes).fold(0, u64::saturating_add);
    // Read by copies, too.
    let read_back =
        allocation.copies.iter().any(|copy| copy.direction == "device_to_host" || copy.direction == "device_to_device");
    let whole = copied.min(allocation.bytes);
    let untouched = whole.saturating_sub(allocation.touched_bytes);
    if read_back || untouched < LEAST_BYTES || share(allocation.touched_bytes, whole) > MOST_TOUCHED {
        return None;
    }
    // Copied again, it goes over the bus again.
    let wasted = (copied as f64 * share(untouched, whole)) as u64;
    let seconds = wasted as f64 / BUS_BYTES_PER_SECOND;
    let reason = if allocation.touched_bytes == 0 {
        format!(
            "{} of {} are copied to the device, and no kernel touches any of it",
            words::bytes(copied),
            describe(allocation)
        )
    } else {
        format!(
            "{} of {} are copied to the device, and kernels touch {} of it ({})",
            words::bytes(copied),
            describe(allocation),
            words::bytes(allocation.touched_bytes),
            words::percent(share(allocation.touched_bytes, whole)),
        )
    };
    let cure = if allocation.touched_bytes == 0 {
        "leave the copy and the allocation out"
    } else {
        "copy, and allocate, only the part that kernels use; where it is known late, copy it when it is"
    };
    Some(
        Draft::new(reason, cure)
            .at_frame(innermost(&largest.path))
            .of_allocation(allocation.id)
            .object(allocation.name.clone())
            .evidence("copied_bytes", copied as f64)
            .evidence("touched_bytes", allocation.touched_bytes as f64)
            .gain(context.program_gain(seconds))
            .score(context.program_share(seconds)),
    )
}
