//! Fills of memory whose value no access reads.

use super::super::prelude::*;
use super::super::thresholds::allocations::*;
use warpline_profile::SECONDS_PER_DEVICE_COPY;

/// A fill that is overwritten.
pub struct Overwritten<'a> {
    pub allocation: &'a Allocation,
    pub fill: &'a CopyRow,
    pub by_copy: bool,
    pub seconds: f64,
}

pub fn overwritten<'a>(facts: &Facts<'a>) -> Vec<Overwritten<'a>> {
    let fills = facts.profile.allocations.iter().flat_map(|allocation| {
        let fills = allocation.copies.iter().filter(|copy| copy.direction == "set");
        fills.map(move |fill| (allocation, fill))
    });
    let large = fills.filter(|(_, fill)| fill.bytes >= LEAST_FILLED_BYTES);
    large.filter_map(|(allocation, fill)| of_fill(facts, allocation, fill)).collect()
}

/// Fills that write the same value as an earlier fill, without a change in between. Known only if values were recorded.
pub struct Refilled<'a> {
    pub allocation: &'a Allocation,
    pub fill: &'a CopyRow,
    /// Number of bytes of these fills.
    pub bytes: u64,
    pub seconds: f64,
}

pub fn refilled<'a>(facts: &Facts<'a>) -> Vec<Refilled<'a>> {
    let rows = facts.profile.allocations.iter().flat_map(|allocation| {
        let again = allocation.copies.iter().filter(|copy| copy.direction == "set" && copy.unchanged_count > 0);
        again.map(move |fill| (allocation, fill))
    });
    let refilled = rows.map(|(allocation, fill)| {
        let bytes = fill.bytes / fill.count.max(1) * fill.unchanged_count;
        Refilled { allocation, fill, bytes, seconds: fill_seconds(facts, bytes, fill.unchanged_count) }
    });
    refilled.filter(|one| one.bytes >= LEAST_FILLED_BYTES).collect()
}

fn fill_seconds(facts: &Facts<'_>, bytes: u64, count: u64) -> f64 {
    let moved = facts.rates.and_then(|rates| rates.dram).map_or(0.0, |rate| bytes as f64 / rate);
    moved + count as f64 * SECONDS_PER_DEVICE_COPY
}

fn of_fill<'a>(facts: &Facts<'a>, allocation: &'a Allocation, fill: &'a CopyRow) -> Option<Overwritten<'a>> {
    let by_copy = is_copied_over(allocation, fill);
    let seconds = fill_seconds(facts, fill.bytes, fill.count);
    (by_copy || is_stored_over(facts, allocation, fill)).then_some(Overwritten { allocation, fill, by_copy, seconds })
}

/// Returns whether copies of the same size write to the memory equally often, without a launch between fill and copy.
fn is_copied_over(allocation: &Allocation, fill: &CopyRow) -> bool {
    let at = |copy: &CopyRow| copy.first_launch.zip(copy.last_launch);
    allocation.copies.iter().any(|copy| {
        copy.direction == "host_to_device"
            && at(fill).is_some()
            && at(copy) == at(fill)
            && copy.count == fill.count
            && copy.bytes >= fill.bytes
    })
}

/// Returns whether kernels store to all of the memory for each fill and never load from it, and no copy reads it
/// earlier.
fn is_stored_over(facts: &Facts<'_>, allocation: &Allocation, fill: &CopyRow) -> bool {
    let of_memory = || {
        facts.profile.sites.iter().flat_map(|site| {
            let rows = site.by_allocation.iter().filter(|row| row.allocation == Some(allocation.id));
            rows.map(|row| (&site.op[..], &row.metrics))
        })
    };
    let stored = of_memory().map(|(_, metrics)| metrics.bytes).total();
    let is_read_first = allocation.copies.iter().any(|copy| {
        matches!(&copy.direction[..], "device_to_host" | "device_to_device")
            && copy.first_launch.is_none_or(|first| fill.first_launch.is_none_or(|at| first <= at))
    });
    of_memory().all(|(op, _)| op == "store")
        && allocation.touched_bytes >= allocation.bytes
        && stored >= fill.bytes
        && !is_read_first
}
