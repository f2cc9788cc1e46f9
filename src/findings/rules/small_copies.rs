//! Many small copies from one place: each costs its latency, whatever it brings.

use super::super::context::{Context, SECONDS_PER_COPY, describe, innermost};
use super::super::draft::Draft;
use super::super::words;

/// Copies from one place, at least.
const LEAST: u64 = 50;
/// Bytes of each, at most: with 12 GB/s and 10 µs a copy the latency is then nine tenths of it.
const MOST_BYTES: u64 = 16 << 10;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let small =
        context.bus_copies().filter(|(_, copy)| copy.count >= LEAST && copy.bytes / copy.count.max(1) <= MOST_BYTES);
    small
        .map(|(allocation, copy)| {
            let seconds = copy.count as f64 * SECONDS_PER_COPY;
            let reason = format!(
                "{} of {} on average go {} {} from here: each costs about 10 µs, however small it is",
                words::several(copy.count, "copy", "copies"),
                words::bytes(copy.bytes / copy.count.max(1)),
                if copy.direction == "host_to_device" { "to" } else { "from" },
                describe(allocation),
            );
            let cure = "gather them on the host and copy once, keep a flag or sum on the device for several steps, or, where they are synchronous, use pinned memory and \
                        cudaMemcpyAsync so that they overlap with kernels";
            Draft::new(reason, cure)
                .at_frame(innermost(&copy.path))
                .of_allocation(allocation.id)
                .object(allocation.name.clone())
                .evidence("copies", copy.count as f64)
                .evidence("bytes_per_copy", copy.bytes as f64 / copy.count.max(1) as f64)
                .score(context.program_share(seconds))
        })
        .collect()
}
