//! Memory that is allocated and freed again in a loop: both wait for the device or for the driver's locks (CUDA C++ Best
//! Practices Guide, "Allocation").

use std::collections::BTreeMap;

use super::super::context::{Context, describe, innermost};
use super::super::draft::Draft;
use super::super::words;
use crate::profile::model::{Allocation, Frame};

/// Allocations from one call path for each that is alive at the same time, at least.
const LEAST: u64 = 8;
/// Seconds of an allocation and its end, about; an assumption: calls of the driver that map memory and wait for the device.
const SECONDS: f64 = 100e-6;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<&[Frame], Vec<&Allocation>> = BTreeMap::new();
    for allocation in context.profile.allocations.iter().filter(|allocation| allocation.kind.starts_with("cudaMalloc"))
    {
        if !allocation.path.is_empty() && allocation.live_at_once > 0 && allocation.kind != "cudaMallocAsync" {
            groups.entry(&allocation.path).or_default().push(allocation);
        }
    }
    groups.into_values().filter_map(|rows| draft(context, &rows)).collect()
}

fn draft(context: &Context<'_>, rows: &[&Allocation]) -> Option<Draft> {
    let first = rows.first()?;
    let count: u64 = rows.iter().map(|row| row.count).fold(0, u64::saturating_add);
    let live = rows.iter().map(|row| row.live_at_once).max()?.max(1);
    if count / live < LEAST {
        return None;
    }
    let bytes: u64 = rows.iter().map(|row| row.bytes).fold(0, u64::saturating_add) / count.max(1);
    let seconds = count as f64 * SECONDS;
    let name = if first.count == 1 {
        describe(first)
    } else {
        first.name.as_ref().map_or("memory".to_owned(), |name| format!("`{name}`"))
    };
    let reason = format!(
        "{name} is allocated {} here, {} each on average, with at most {live} alive at a time: every allocation and its end wait for the driver \
         or the device",
        words::several(count, "time", "times"),
        words::bytes(bytes),
    );
    let cure = if first.kind == "cudaMalloc" {
        "allocate it once before the loop and use it again, or take it from a pool (cudaMallocAsync with a release threshold)"
    } else {
        "allocate it once before the loop and use it again"
    };
    let draft = Draft::new(reason, cure)
        .at_frame(innermost(&first.path))
        .of_allocation(first.id)
        .object(first.name.clone())
        .evidence("allocations", count as f64)
        .evidence("live_at_once", live as f64)
        .evidence("assumed_seconds", seconds)
        .score(context.program_share(seconds));
    Some(draft)
}
