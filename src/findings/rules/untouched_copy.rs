//! Data that is copied to the device and that no kernel touches.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::draft::Draft;
use super::super::facts::access::{Access, share};
use super::super::facts::{Facts, describe, innermost};
use super::super::words;
use crate::profile::BUS_BYTES_PER_SECOND;
use crate::profile::model::{Allocation, Frame, Severity, TouchedRows};

/// Touched share, at most.
const MOST_TOUCHED: f64 = 0.5;
/// Share of requests whose lanes lie side by side, where what they take are pieces.
const ALONG: f64 = 0.9;
/// Bytes copied and not touched, at least.
const LEAST_BYTES: u64 = 256 << 10;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // What was left out of a recording may have touched the rest.
    let run = &facts.profile.run;
    if run.sampled || !run.complete || run.mode != "trace" || run.lookup_bytes.is_empty() {
        return Vec::new();
    }
    // Where nothing was launched, as after a usage message or with no rounds asked for, nothing can have used the memory.
    if facts.profile.kernels.is_empty() {
        return Vec::new();
    }
    // Allocations of one name that one line copies to, as a helper's that is called several times, are one thing to change.
    type Place<'a> = (&'a str, u32, u32, Option<&'a str>);
    let mut places: BTreeMap<Place<'_>, Untouched<'_>> = BTreeMap::new();
    let mut others = Vec::new();
    for one in facts.profile.allocations.iter().filter_map(untouched) {
        match one.frame {
            Some(frame) => {
                match places.entry((&frame.file, frame.line, frame.column, one.allocation.name.as_deref())) {
                    Entry::Vacant(place) => _ = place.insert(one),
                    Entry::Occupied(mut place) => place.get_mut().add(&one),
                }
            }
            None => others.push(one),
        }
    }
    places.into_values().chain(others).map(|one| draft(facts, &one)).collect()
}

/// Memory that was copied to the device, more than kernels touch of it.
struct Untouched<'a> {
    /// The first of them.
    allocation: &'a Allocation,
    frame: Option<&'a Frame>,
    allocations: u64,
    copied: u64,
    touched: u64,
    /// Of the bytes that were copied, each counted once.
    whole: u64,
    wasted: u64,
    /// Most of what is untouched lies between what is touched.
    scattered: bool,
    /// Rows of each of which kernels touch a part, of all of the allocations.
    rows: Option<TouchedRows>,
}

impl Untouched<'_> {
    fn add(&mut self, other: &Untouched<'_>) {
        self.allocations += other.allocations;
        self.copied = self.copied.saturating_add(other.copied);
        self.touched = self.touched.saturating_add(other.touched);
        self.whole = self.whole.saturating_add(other.whole);
        self.wasted = self.wasted.saturating_add(other.wasted);
        self.scattered &= other.scattered;
        self.rows = self.rows.filter(|rows| other.rows == Some(*rows));
    }
}

fn untouched(allocation: &Allocation) -> Option<Untouched<'_>> {
    let in_copies = allocation.copies.iter().filter(|copy| copy.direction == "host_to_device");
    let largest = in_copies.clone().max_by_key(|copy| copy.bytes)?;
    let copied: u64 = in_copies.clone().map(|copy| copy.bytes).fold(0, u64::saturating_add);
    // Read by copies, too.
    let read_back =
        allocation.copies.iter().any(|copy| copy.direction == "device_to_host" || copy.direction == "device_to_device");
    // Copies again and again may be of the same part: where kernels touch anything, only what one of them brings was surely there.
    let each = in_copies.clone().map(|copy| copy.bytes / copy.count.max(1)).max().unwrap_or(0);
    let mut in_copies = in_copies;
    let again = in_copies.any(|copy| copy.count > 1) && allocation.touched_bytes > 0;
    let whole = if again { each } else { copied }.min(allocation.bytes);
    let untouched = whole.saturating_sub(allocation.touched_bytes);
    if read_back || untouched < LEAST_BYTES || share(allocation.touched_bytes, whole) > MOST_TOUCHED {
        return None;
    }
    // Copied again, it goes over the bus again.
    let wasted = (copied as f64 * share(untouched, whole)) as u64;
    let (frame, touched) = (innermost(&largest.path), allocation.touched_bytes);
    Some(Untouched {
        allocation,
        frame,
        allocations: allocation.count.max(1),
        copied,
        touched,
        whole,
        wasted,
        scattered: is_scattered(allocation),
        rows: allocation.touched_map.as_ref().and_then(|map| map.rows),
    })
}

/// Whether less than half of what is untouched lies in parts of which nothing is touched, as where kernels sample an image.
fn is_scattered(allocation: &Allocation) -> bool {
    allocation.touched_map.as_ref().is_some_and(|map| {
        let whole_parts = map.touched.iter().filter(|&&touched| touched == 0).count() as u64;
        let untouched = allocation.bytes.saturating_sub(allocation.touched_bytes);
        whole_parts.saturating_mul(map.part_bytes).saturating_mul(2) < untouched
    })
}

/// Whether kernels go along it wherever they touch it.
fn is_gone_along(facts: &Facts<'_>, allocation: &Allocation) -> bool {
    let goes_along = |access: &Access<'_>| share(access.pattern.contiguous, access.pattern.requests) >= ALONG;
    accesses(facts, allocation).all(goes_along)
}

/// Whether data chooses the places.
fn is_chosen(facts: &Facts<'_>, allocation: &Allocation) -> bool {
    accesses(facts, allocation).any(|access| access.operand.is_some_and(|operand| operand.loaded_index))
}

fn accesses<'a>(facts: &'a Facts<'_>, allocation: &'a Allocation) -> impl Iterator<Item = &'a Access<'a>> {
    facts.accesses.iter().filter(|access| access.space == "global" && access.allocation == Some(allocation.id))
}

fn draft(facts: &Facts<'_>, one: &Untouched<'_>) -> Draft {
    let &Untouched { allocation, frame, allocations, copied, touched, whole, wasted, scattered, rows } = one;
    let seconds = wasted as f64 / BUS_BYTES_PER_SECOND;
    let what = match allocations {
        // Those that share the row, or one alone.
        _ if allocations == allocation.count.max(1) => describe(allocation),
        _ => format!("{} allocations like {}", words::count(allocations), describe(allocation)),
    };
    let reason = if touched == 0 {
        format!("{} of {what} are copied to the device, and no kernel touches any of it", words::bytes(copied))
    } else {
        format!(
            "{} of {what} are copied to the device, and kernels touch {} of {} ({})",
            words::bytes(copied),
            words::bytes(touched),
            if allocations == 1 { "it" } else { "them" },
            words::percent(share(touched, whole)),
        )
    };
    let along = scattered && is_gone_along(facts, allocation);
    let rows = rows.filter(|_| along);
    let in_pieces = along && !is_chosen(facts, allocation);
    let reason = match rows {
        Some(rows) => format!("{reason}: a part of each row of {}", words::bytes(rows.pitch_bytes)),
        None => reason,
    };
    let cure = if touched == 0 {
        "leave the copy and the allocation out"
    } else if rows.is_some_and(|rows| !rows.equal) {
        "each row is padded behind a length of its own: pack the rows on the host, one right behind the other, with an array of where each begins, and copy that"
    } else if rows.is_some() {
        "the part is as long in all rows: copy it alone with one cudaMemcpy2D (the rows' length as the pitch of the host, the part's as the width), into memory of its size"
    } else if in_pieces {
        "what kernels take lies in pieces, side by side, as a part of each row: where these are at equal distances, copy them alone with one cudaMemcpy2D (the rows' length as the pitch of the host, the \
         piece's as the width), into memory of their size; else pack them on the host"
    } else if scattered {
        "what kernels leave out lies between what they take, as where data is sampled or one field of a record is used: where it is known before, pack on the \
         host what they take, and copy that; else nothing can be left out"
    } else {
        "copy, and allocate, only the part that kernels use; where it is known late, copy it when it is"
    };
    let draft = Draft::new(reason, cure)
        .at_frame(frame)
        .of_allocation(allocation.id)
        .object(allocation.name.clone())
        .evidence("copied_bytes", copied as f64)
        .evidence("touched_bytes", touched as f64)
        .gain(facts.program_gain(seconds))
        .score(facts.program_share(seconds));
    // What could be left out nobody knows, but of rows.
    if rows.is_some() {
        draft
    } else if in_pieces {
        Draft { gain: None, ..draft }
    } else if scattered {
        Draft { gain: None, ..draft.severity(Severity::Note) }
    } else {
        draft
    }
}
