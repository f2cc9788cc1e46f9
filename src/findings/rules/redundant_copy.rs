//! Copies whose bytes were at their destination already.

use super::super::access::share;
use super::super::context::{Context, copy_seconds, describe, innermost};
use super::super::draft::Draft;
use super::super::words;
use crate::profile::model::{Allocation, CopyRow, Severity};

/// Copies that brought nothing, at least.
const LEAST: u64 = 2;
/// Least bytes of these, for more than a note.
const LEAST_BYTES: u64 = 64 << 10;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context
        .bus_copies()
        .filter(|(_, copy)| copy.unchanged_count >= LEAST)
        .map(|(allocation, copy)| draft(context, allocation, copy))
        .collect()
}

fn draft(context: &Context<'_>, allocation: &Allocation, copy: &CopyRow) -> Draft {
    let bytes = (copy.bytes as f64 * share(copy.unchanged_count, copy.count)) as u64;
    let seconds = copy_seconds(bytes, copy.unchanged_count);
    let to_device = copy.direction == "host_to_device";
    let (way, whose) = if to_device { ("to the device", "on the device") } else { ("back to the host", "on the host") };
    let reason = format!(
        "{} is copied {way} {} here; {} of these found the same bytes {whose} already ({} moved for nothing)",
        describe(allocation),
        words::several(copy.count, "time", "times"),
        words::count(copy.unchanged_count),
        words::bytes(bytes),
    );
    let cure = if to_device {
        "copy it once before the loop, and again only where the host has changed it"
    } else {
        "copy it back once after the loop, or only where a kernel has written it"
    };
    let draft = Draft::new(reason, cure)
        .at_frame(innermost(&copy.path))
        .of_allocation(allocation.id)
        .object(allocation.name.clone())
        .evidence("copies", copy.count as f64)
        .evidence("unchanged_copies", copy.unchanged_count as f64)
        .evidence("unchanged_bytes", bytes as f64)
        .gain(context.program_gain(seconds))
        .score(context.program_share(seconds));
    if bytes < LEAST_BYTES { Draft { gain: None, ..draft.severity(Severity::Note) } } else { draft }
}
