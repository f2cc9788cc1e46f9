//! Memory that is allocated and freed again in a loop: both wait for the device or for the driver's locks (CUDA C++ Best
//! Practices Guide, "Allocation").

use std::collections::BTreeMap;

use super::super::draft::{About, Draft};
use super::super::facts::{Facts, innermost};
use super::super::words;
use crate::profile::model::{Allocation, Frame};
use crate::profile::{constructed_class, copied_class, is_system, library_function};

/// Allocations from one call path for each that is alive at the same time, at least.
const LEAST: u64 = 8;
/// Seconds of an allocation and its end, about; an assumption: calls of the driver that map memory and wait for the device.
const SECONDS: f64 = 100e-6;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<&[Frame], Vec<&Allocation>> = BTreeMap::new();
    for allocation in facts.profile.allocations.iter().filter(|allocation| allocation.kind.starts_with("cudaMalloc")) {
        if !allocation.path.is_empty() && allocation.live_at_once > 0 && allocation.kind != "cudaMallocAsync" {
            groups.entry(&allocation.path).or_default().push(allocation);
        }
    }
    // Ways to one line are one place to change.
    type Place<'a> = (&'a str, u32, u32, Option<&'a str>);
    let mut places: BTreeMap<Place<'_>, (Vec<&Allocation>, u64)> = BTreeMap::new();
    for (path, rows) in groups {
        let Some(live) = churned(&rows) else { continue };
        let frame = copy(path).map(|(frame, _)| frame).or_else(|| made_at(path)).or_else(|| innermost(path));
        let name = rows.first().and_then(|row| row.name.as_deref());
        let place = frame.map_or(("", 0, 0, name), |frame| (&frame.file, frame.line, frame.column, name));
        let (all, most) = places.entry(place).or_default();
        all.extend(rows);
        *most = (*most).max(live);
    }
    places.into_values().filter_map(|(rows, live)| draft(facts, &rows, live)).collect()
}

fn count(rows: &[&Allocation]) -> u64 {
    rows.iter().map(|row| row.count).fold(0, u64::saturating_add)
}

/// How many are alive at the same time, where so many come from one call path that they come and go. Those of other names, as the elements of
/// an array of pointers, may be alive beside each other.
fn churned(rows: &[&Allocation]) -> Option<u64> {
    let mut by_name: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for row in rows {
        let live = by_name.entry(row.name.as_deref()).or_default();
        *live = (*live).max(row.live_at_once);
    }
    let live = by_name.values().copied().fold(0, u64::saturating_add).max(1);
    (count(rows) / live >= LEAST).then_some(live)
}

/// Where the user's code makes an object whose constructor allocates, which other objects have as well.
fn made_at(path: &[Frame]) -> Option<&Frame> {
    let mut users = path.iter().rev().filter(|frame| frame.line != 0 && !is_system(&frame.file)).peekable();
    users.peek().filter(|frame| constructed_class(&frame.function).is_some())?;
    users.find(|frame| constructed_class(&frame.function).is_none())
}

/// Where the user's code copies an object, whose copy the memory is of, and the object's class.
fn copy(path: &[Frame]) -> Option<(&Frame, &str)> {
    let (at, class) = path.iter().enumerate().find_map(|(at, frame)| Some((at, copied_class(&frame.function)?)))?;
    let frame = path[..at].iter().rev().find(|frame| frame.line != 0 && !is_system(&frame.file))?;
    Some((frame, class))
}

fn draft(facts: &Facts<'_>, rows: &[&Allocation], live: u64) -> Option<Draft> {
    let first = rows.first()?;
    let count = count(rows);
    let bytes: u64 = rows.iter().map(|row| row.bytes).fold(0, u64::saturating_add) / count.max(1);
    let seconds = count as f64 * SECONDS;
    // What an algorithm needs while it runs, and nobody holds.
    let scratch =
        library_function(&first.path).filter(|function| first.name.is_none() && function.starts_with("thrust::"));
    // Their sizes may differ.
    let name = match (&first.name, &scratch) {
        (Some(name), _) => format!("`{name}`"),
        (None, Some(function)) => format!("scratch memory of `{function}`"),
        (None, None) => "memory".to_owned(),
    };
    let copy = copy(&first.path);
    // Where the variable has a name of its own, that line is known.
    let named = facts.named_at(first);
    let is_in_constructor = named.is_none_or(|frame| constructed_class(&frame.function).is_some());
    let made = made_at(&first.path).filter(|_| is_in_constructor);
    let here = match (copy, innermost(&first.path)) {
        (Some((frame, class)), Some(made)) if (&made.file, made.line) != (&frame.file, frame.line) => {
            format!("for the copy of a `{class}` that is made here (by {})", words::place(made))
        }
        (Some((_, class)), _) => format!("for the copy of a `{class}` that is made here"),
        (None, Some(by)) if made.is_some() => format!("for what is made here (by {})", words::place(by)),
        _ => "here".to_owned(),
    };
    let reason = format!(
        "{name} is allocated {} {here}, {} each on average, with at most {live} alive at a time: every allocation and its end wait for the driver \
         or the device",
        words::several(count, "time", "times"),
        words::bytes(bytes),
    );
    let each = |row: &&Allocation| row.bytes / row.count.max(1);
    let sizes_differ = rows.iter().map(each).max() != rows.iter().map(each).min();
    let of_copy;
    let cure = if scratch.is_some() {
        "hand Thrust an allocator that keeps such memory, as thrust::cuda::par(allocator), or call the algorithm of CUB, whose scratch memory you allocate \
         once"
    } else if let Some((_, class)) = copy {
        of_copy = format!(
            "hand the `{class}` on by reference (const {class} &) where it is only read, and move it where nobody needs it any more; where a copy is needed, keep one and copy into it again"
        );
        &of_copy
    } else if sizes_differ {
        "their sizes differ: allocate the largest that is needed once and use it for all of them, or take the memory from a pool (cudaMallocAsync with a \
         release threshold)"
    } else if first.kind == "cudaMalloc" {
        "allocate it once before the loop and use it again, or take it from a pool (cudaMallocAsync with a release threshold)"
    } else {
        "allocate it once before the loop and use it again"
    };
    let draft = Draft::new(reason, cure)
        .at_frame(copy.map(|(frame, _)| frame).or(made).or(named))
        .of_allocation(first.id)
        .object(first.name.clone())
        .evidence("allocations", count as f64)
        .evidence("live_at_once", live as f64)
        .evidence("assumed_seconds", seconds)
        .score(facts.program_share(seconds))
        .about(About::Memory);
    // Those of one function that come and go together.
    let function = made.or(named).map(|frame| &frame.function).filter(|_| copy.is_none() && scratch.is_none());
    let cause = function.map(|function| format!("{count} times {live} in {function}: {}", draft.cure));
    Some(draft.one_cause(cause))
}
