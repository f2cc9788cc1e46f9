//! Many small copies from one place: each costs its latency, whatever it brings.

use super::super::context::{Context, Copies, SECONDS_PER_COPY, innermost};
use super::super::draft::Draft;
use super::super::words;

/// Copies from one place, at least.
const LEAST: u64 = 50;
/// Bytes of each, at most: with 12 GB/s and 10 µs a copy the latency is then nine tenths of it.
const MOST_BYTES: u64 = 16 << 10;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    // Copies to the device that mostly bring nothing are to be left out, not gathered. Back comes what a loop waits for, as a
    // flag, the same or not.
    let small = context.bus_copies().into_iter().filter(|copies| {
        copies.count >= LEAST
            && copies.bytes / copies.count.max(1) <= MOST_BYTES
            && (!copies.to_device() || copies.unchanged <= copies.count / 2)
    });
    small.filter_map(|copies| draft(context, &copies)).collect()
}

fn draft(context: &Context<'_>, copies: &Copies<'_>) -> Option<Draft> {
    let allocation = copies.allocation()?;
    let seconds = copies.count as f64 * SECONDS_PER_COPY;
    let to_device = copies.to_device();
    let reason = format!(
        "{} of {} on average go {} {} from here: each costs about 10 µs, however small it is",
        words::several(copies.count, "copy", "copies"),
        words::bytes(copies.bytes / copies.count.max(1)),
        if to_device { "to" } else { "from" },
        copies.describe().0,
    );
    let cure = if to_device {
        "gather them on the host and copy once (rows of a pitch with one cudaMemcpy2D), pass small values as arguments of the kernel, or, where \
         they are synchronous, use pinned memory and cudaMemcpyAsync so that they overlap with kernels"
    } else {
        "copy all that is read here at once, compute on the device what the host makes of it, or keep a flag or sum there for several \
         steps; where they are synchronous, use pinned memory and cudaMemcpyAsync so that they overlap with kernels"
    };
    Some(
        Draft::new(reason, cure)
            .at_frame(innermost(copies.path))
            .of_allocation(allocation.id)
            .object(allocation.name.clone())
            .evidence("copies", copies.count as f64)
            .evidence("bytes_per_copy", copies.bytes as f64 / copies.count.max(1) as f64)
            .score(context.program_share(seconds)),
    )
}
