//! Memory that is copied to the device and only partly touched by kernels.

use super::super::prelude::*;
use super::super::thresholds::transfers::*;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Allocations with one name, to which one line copies more data than kernels touch.
pub struct Untouched<'a> {
    /// The first of these allocations.
    pub allocation: &'a Allocation,
    pub frame: Option<&'a Frame>,
    pub allocations: u64,
    pub copied: u64,
    pub touched: u64,
    /// Number of different bytes that were copied.
    pub whole: u64,
    /// Number of copied bytes that no kernel touched, summed over the copies.
    pub wasted: u64,
    is_scattered: bool,
    /// Whether a part of each row is touched.
    has_rows: bool,
}

/// Distribution of the untouched bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// All bytes are untouched.
    Whole,
    /// The untouched bytes are between pieces whose positions do not depend on data, such as parts of rows.
    Pieces,
    /// The untouched bytes are between single elements, or between pieces that data selects.
    Scattered,
    /// The untouched bytes are one contiguous range.
    Contiguous,
}

impl Untouched<'_> {
    fn add(&mut self, other: &Untouched<'_>) {
        self.allocations = self.allocations.saturating_add(other.allocations);
        self.copied = self.copied.saturating_add(other.copied);
        self.touched = self.touched.saturating_add(other.touched);
        self.whole = self.whole.saturating_add(other.whole);
        self.wasted = self.wasted.saturating_add(other.wasted);
        self.is_scattered &= other.is_scattered;
        self.has_rows &= other.has_rows;
    }

    pub fn layout(&self, facts: &Facts<'_>) -> Layout {
        let id = self.allocation.id;
        let accesses =
            || facts.accesses.iter().filter(|access| access.space == "global" && access.allocation == Some(id));
        let is_along =
            |access: &Access<'_>| share(access.pattern.contiguous, access.pattern.requests) >= LEAST_PIECES_SHARE;
        if self.touched == 0 {
            Layout::Whole
        } else if !self.is_scattered {
            Layout::Contiguous
        } else if !accesses().all(is_along) || (!self.has_rows && accesses().any(Access::has_loaded_index)) {
            Layout::Scattered
        } else {
            Layout::Pieces
        }
    }
}

/// Returns copied memory that kernels touch only slightly, by the line of the copy and the name.
pub fn untouched<'a>(facts: &Facts<'a>) -> Vec<Untouched<'a>> {
    type GroupKey<'a> = (&'a str, u32, u32, Option<&'a str>);
    let mut places: BTreeMap<GroupKey<'_>, Untouched<'_>> = BTreeMap::new();
    let mut others = Vec::new();
    for one in facts.profile.allocations.iter().filter_map(of_allocation) {
        let Some(frame) = one.frame else {
            others.push(one);
            continue;
        };
        match places.entry((&frame.file, frame.line, frame.column, one.allocation.name.as_deref())) {
            Entry::Vacant(place) => _ = place.insert(one),
            Entry::Occupied(mut place) => place.get_mut().add(&one),
        }
    }
    places.into_values().chain(others).collect()
}

fn of_allocation(allocation: &Allocation) -> Option<Untouched<'_>> {
    let in_copies = || allocation.copies.iter().filter(|copy| copy.direction == "host_to_device");
    let largest = in_copies().max_by_key(|copy| copy.bytes)?;
    let copied = in_copies().map(|copy| copy.bytes).total();
    // Copies read memory as well.
    let is_read_by_copies =
        allocation.copies.iter().any(|copy| matches!(&copy.direction[..], "device_to_host" | "device_to_device"));
    // Repeated copies may transfer the same part. If kernels touch the memory, only the bytes of one copy are counted.
    let each = in_copies().map(|copy| copy.bytes / copy.count.max(1)).max().unwrap_or(0);
    let is_repeated = in_copies().any(|copy| copy.count > 1) && allocation.touched_bytes > 0;
    let whole = if is_repeated { each } else { copied }.min(allocation.bytes);
    let touched = allocation.touched_bytes;
    let untouched = whole.saturating_sub(touched);
    if is_read_by_copies || untouched < LEAST_UNTOUCHED_BYTES || share(touched, whole) > MOST_TOUCHED {
        return None;
    }
    Some(Untouched {
        allocation,
        frame: innermost(&largest.path),
        allocations: allocation.count.max(1),
        copied,
        touched,
        whole,
        wasted: (copied as f64 * share(untouched, whole)) as u64,
        is_scattered: is_scattered(allocation),
        has_rows: allocation.touched_map.as_ref().is_some_and(|map| map.rows.is_some()),
    })
}

/// Returns whether less than half of the untouched bytes are in completely untouched parts.
fn is_scattered(allocation: &Allocation) -> bool {
    allocation.touched_map.as_ref().is_some_and(|map| {
        let whole_parts = map.touched.iter().filter(|&&touched| touched == 0).count() as u64;
        let untouched = allocation.bytes.saturating_sub(allocation.touched_bytes);
        whole_parts.saturating_mul(map.part_bytes).saturating_mul(2) < untouched
    })
}
