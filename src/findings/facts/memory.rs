//! Allocations: the code that makes them, the number from one source position, and their use and release.

use super::super::prelude::*;
use super::super::thresholds::allocations::*;
use std::collections::{BTreeMap, BTreeSet};
use warpline_profile::{constructed_class, copied_class, library_function};

/// Allocations with one name from one source position.
pub struct AllocationSite<'a> {
    pub rows: Vec<&'a Allocation>,
    /// Maximum number of these allocations that are live at the same time.
    pub live: u64,
    pub maker: Maker,
    /// Line of the user that makes the allocations.
    pub frame: Option<&'a Frame>,
}

/// Code that makes an allocation, according to its call path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maker {
    /// An algorithm that allocates scratch memory.
    Algorithm(String),
    /// The constructor of an object.
    Constructor,
    /// The line itself.
    Line,
}

impl AllocationSite<'_> {
    pub fn count(&self) -> u64 {
        self.rows.iter().map(|row| row.count).total()
    }

    pub fn bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.bytes).total()
    }

    pub fn sizes_differ(&self) -> bool {
        let each = || self.rows.iter().map(|row| row.bytes / row.count.max(1));
        each().max() != each().min()
    }

    /// Returns whether none of the allocations was freed before the end of the program.
    pub fn are_kept(&self) -> bool {
        self.rows.iter().all(|row| !row.freed && row.freed_count == 0)
    }

    /// Returns the number of different launch indices at which the allocations were made or copied to. Allocations of a
    /// setup loop have only one launch index.
    pub fn launches_between(&self) -> u64 {
        let starts: BTreeSet<u64> =
            self.rows.iter().filter_map(|row| row.lifetime.as_ref().map(|lifetime| lifetime.first_launch)).collect();
        let copies = self.rows.iter().flat_map(|row| &row.copies);
        let spans =
            copies.filter_map(|copy| Some(copy.last_launch?.saturating_sub(copy.first_launch?).min(copy.count)));
        (starts.len() as u64).max(spans.max().unwrap_or(0).saturating_add(1))
    }
}

/// Returns the allocations by CUDA functions whose names start with `cudaMalloc`, by source position and name. Call
/// paths must have at least `least_per_live` allocations for each allocation that is live at the same time. Allocations
/// from a pool are omitted because they cost little.
pub fn allocation_sites<'a>(facts: &Facts<'a>, least_per_live: u64) -> Vec<AllocationSite<'a>> {
    let is_meant = |row: &&Allocation| {
        row.kind.starts_with("cudaMalloc")
            && row.kind != "cudaMallocAsync"
            && !row.path.is_empty()
            && row.live_at_once > 0
    };
    let mut paths: BTreeMap<&[Frame], Vec<&Allocation>> = BTreeMap::new();
    for row in facts.profile.allocations.iter().filter(is_meant) {
        paths.entry(&row.path).or_default().push(row);
    }
    type GroupKey<'a> = (&'a str, u32, u32, Option<&'a str>);
    let mut sites: BTreeMap<GroupKey<'_>, AllocationSite<'_>> = BTreeMap::new();
    for (path, rows) in paths {
        let (Some(first), live) = (rows.first(), live(&rows)) else { continue };
        if rows.iter().map(|row| row.count).total() / live < least_per_live {
            continue;
        }
        let (maker, frame) = maker(facts, first);
        let place = frame.or_else(|| innermost(path));
        let (file, line, column) = place.map_or(("", 0, 0), |frame| (&frame.file[..], frame.line, frame.column));
        let site = sites.entry((file, line, column, first.name.as_deref()));
        let site = site.or_insert_with(|| AllocationSite { rows: Vec::new(), live, maker, frame });
        site.rows.extend(rows);
        site.live = site.live.max(live);
    }
    sites.into_values().collect()
}

/// Returns how many allocations from one call path are live at the same time. Allocations with several names, such as
/// the elements of an array, are live together.
fn live(rows: &[&Allocation]) -> u64 {
    let mut by_name: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for row in rows {
        let live = by_name.entry(row.name.as_deref()).or_default();
        *live = (*live).max(row.live_at_once);
    }
    by_name.values().copied().total().max(1)
}

fn maker<'a>(facts: &Facts<'a>, row: &'a Allocation) -> (Maker, Option<&'a Frame>) {
    let path = &row.path;
    let named = facts.named_at(row);
    if let Some(frame) = copied_at(path) {
        return (Maker::Constructor, Some(frame));
    }
    let is_algorithm = |function: &String| row.name.is_none() && function.starts_with("thrust::");
    if let Some(function) = library_function(path).filter(is_algorithm) {
        return (Maker::Algorithm(function), named);
    }
    // If the variable has its own name, its line is known.
    let is_in_constructor = named.is_none_or(|frame| constructed_class(&frame.function).is_some());
    match constructed_at(path).filter(|_| is_in_constructor) {
        Some(frame) => (Maker::Constructor, Some(frame)),
        None => (Maker::Line, named),
    }
}

/// Returns the position where the user's code creates an object whose constructor allocates. Other objects can have the
/// same constructor.
fn constructed_at(path: &[Frame]) -> Option<&Frame> {
    let mut users = user_frames(path).peekable();
    users.peek().filter(|frame| constructed_class(&frame.function).is_some())?;
    users.find(|frame| constructed_class(&frame.function).is_none())
}

/// Returns the position where the user's code copies an object, if the allocation belongs to the copy.
fn copied_at(path: &[Frame]) -> Option<&Frame> {
    let at = path.iter().position(|frame| copied_class(&frame.function).is_some())?;
    user_frames(&path[..at]).next()
}

/// Returns whether the allocation is device memory of the user that no kernel and no copy uses.
pub fn is_unused(allocation: &Allocation) -> bool {
    allocation.metrics.requests == 0
        && allocation.by_kernel.iter().all(|row| row.metrics.requests == 0)
        // Requests to a named part of a pool are counted only for the part, but touched bytes are counted for the pool
        // as well.
        && allocation.touched_bytes == 0
        && allocation.copies.iter().all(|copy| copy.direction == "set")
        && allocation.kind.starts_with("cuda")
        && !is_host_kind(&allocation.kind)
        && allocation.kind != "cudaMallocManaged"
        && allocation.bytes > PLACEHOLDER_BYTES
        && !is_of_library(allocation)
}

fn is_host_kind(kind: &str) -> bool {
    matches!(kind, "cudaMallocHost" | "cudaHostAlloc" | "cudaHostRegister")
}

/// Returns the bytes of all device memory. A named part lies in memory that is already counted.
pub fn allocated_bytes(facts: &Facts<'_>) -> u64 {
    let is_meant = |row: &&Allocation| !row.kind.contains("Host") && row.kind != "named";
    facts.profile.allocations.iter().filter(is_meant).map(|row| row.bytes).total()
}

/// Returns the common part of the names of one array or member: `parts[]` for `parts[3]`, `.sums` for `ranks[3].sums`.
/// Returns other names unchanged.
pub fn family(name: &str) -> String {
    if let Some((_, member)) = name.split_once('.') {
        return format!(".{member}");
    }
    let mut pieces = name.split('[');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |common, piece| {
        let index = piece.bytes().take_while(u8::is_ascii_digit).count();
        let rest = if piece[index..].starts_with(']') { &piece[index..] } else { piece };
        common + "[" + rest
    })
}

/// Returns whether the name belongs to a plain variable, so that each allocation replaces the pointer to the previous
/// one.
pub fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn elements_of_an_array_have_a_name_in_common() {
        let names = ["tmp", "parts[3]", "ranks[12].sums", "map[key][2]", "open[3"];
        assert_eq!(names.map(family), ["tmp", "parts[]", ".sums", "map[key][]", "open[3"]);
    }
}
