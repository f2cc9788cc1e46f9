//! Accesses outside of their allocations, misaligned ones, and barriers that not all of a block reach.

use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::words;
use crate::profile::is_system;
use crate::profile::model::{Fault, Frame, Severity, Site};

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    type Key<'a> = (&'a str, &'a str, u32, u32, Option<u32>);
    let mut groups: BTreeMap<Key<'_>, (u64, &Fault)> = BTreeMap::new();
    for fault in &facts.profile.faults {
        let key = (&fault.kind[..], &fault.frame.file[..], fault.frame.line, fault.frame.column, fault.kernel);
        groups.entry(key).or_insert((0, fault)).0 += 1;
    }
    groups.into_values().map(|(count, fault)| draft(facts, count, fault)).collect()
}

fn draft(facts: &Facts<'_>, count: u64, fault: &Fault) -> Draft {
    let target = facts.allocation_name(fault.allocation).unwrap_or_else(|| "an allocation".to_owned());
    let what = if fault.op.is_empty() { "an access" } else { &fault.op[..] };
    let where_it_is = match fault.offset {
        Some(offset) if offset < 0 => format!("{} before {target}", words::bytes(offset.unsigned_abs())),
        Some(offset) => {
            let end = fault.allocation.and_then(|id| facts.profile.allocation(id)).map_or(0, |row| row.bytes);
            match (offset as u64).checked_sub(end) {
                Some(past) => format!("{} past the end of {target}", words::bytes(past)),
                None => format!("at byte {offset} of {target}"),
            }
        }
        None => "where no allocation is".to_owned(),
    };
    let (reason, cure) = match &fault.kind[..] {
        "divergent_barrier" => (
            "a warp reaches __syncthreads() with part of its lanes, while the others are elsewhere: on a GPU since Volta it may hang \
             or go on with data that is not there yet"
                .to_owned(),
            "take the barrier out of the branch, so that all threads of the block reach it".to_owned(),
        ),
        "different_barriers" => (
            format!(
                "warps of a block wait at different __syncthreads(), here and at line {}: what CUDA leaves undefined. Most GPUs count \
                 each for the other, so that the barriers from there on are one off",
                fault.other.as_ref().map_or(0, |other| other.line)
            ),
            "take the barriers out of the branches, so that all threads of the block reach the same ones".to_owned(),
        ),
        "misaligned" => (
            format!("{what} of {} bytes at an address that is no multiple of its size: hardware stops the kernel", fault.bytes),
            "align the base and the offset to the size of the type that is read there".to_owned(),
        ),
        "misaligned_local" => (
            format!(
                "{what} of {} bytes to a local variable at an address that is no multiple of its size. nvcc may align the variable \
                 or keep it in registers; hardware stops the kernel where it does neither",
                fault.bytes
            ),
            "declare the variable with __align__, or with the type that is accessed".to_owned(),
        ),
        "shared_out_of_bounds" => (
            format!("{what} outside of the block's shared memory, by thread {} of block {}", fault.thread, fault.block),
            "check the index against the size of the shared array, and the dynamic shared memory of the launch".to_owned(),
        ),
        "local_out_of_bounds" => (
            format!("{what} outside of a thread's own array, by thread {} of block {}", fault.thread, fault.block),
            "check the index against the size of the local array".to_owned(),
        ),
        "freed" => (
            format!("{what} to memory that was freed"),
            "free it behind the last launch that uses it, or keep a pointer that is valid".to_owned(),
        ),
        _ => (
            format!("{what} {where_it_is}, by thread {} of block {}", fault.thread, fault.block),
            "check the index against the size, or the size of the launch against the data".to_owned(),
        ),
    };
    // Data that a race leaves undefined make indices that are.
    let race = race_of(facts, fault).filter(|_| is_outside(&fault.kind));
    let cure = match race {
        Some(race) => format!(
            "put the race on line {} of this kernel right first: where the index depends on what it leaves undefined, that is the cause; else {cure}",
            race.line
        ),
        None => cure,
    };
    // A GPU that counts each barrier for the other does what was meant, in part of the programs that do this.
    let severity = match &fault.kind[..] {
        "misaligned_local" => Severity::Note,
        _ if fault.other.is_some() => Severity::Warning,
        _ => Severity::Error,
    };
    let (frame, cure) = match called_at(facts, fault) {
        Some(frame) if fault.kind == "divergent_barrier" => {
            (frame, "take the call out of the branch, so that all threads of the block make it".to_owned())
        }
        Some(frame) => (frame, cure),
        None => (fault.frame.clone(), cure),
    };
    let inside = (frame != fault.frame).then(|| fault.frame.clone());
    let draft = Draft::new(reason, cure).at_frame(Some(&frame)).score(1.0).severity(severity);
    let draft = Draft { kernel: fault.kernel, allocation: fault.allocation, inside_library: inside, ..draft };
    draft.evidence("times", count as f64).evidence("bytes", fault.bytes.into())
}

/// The line of the user's kernel that calls the library's function in which the fault is, as far as what that accesses tells: the one line from which
/// the kernel reaches the library's file.
fn called_at(facts: &Facts<'_>, fault: &Fault) -> Option<Frame> {
    let kernel = facts.profile.kernels.iter().find(|kernel| Some(kernel.id) == fault.kernel)?;
    if !is_system(&fault.frame.file) || is_system(&kernel.file) {
        return None;
    }
    let is_inside = |site: &&Site| {
        Some(site.kernel) == fault.kernel
            && !is_system(&site.file)
            && (site.leaf.file == fault.frame.file || site.inlined_at.iter().any(|one| one.file == fault.frame.file))
    };
    let mut lines = facts.profile.sites.iter().filter(is_inside);
    let first = lines.next()?;
    let is_same = |site: &Site| (&site.file, site.line) == (&first.file, first.line);
    lines.all(is_same).then(|| Frame {
        function: String::new(),
        file: first.file.clone(),
        line: first.line,
        column: first.column,
    })
}

/// Whether the kind is that of an access outside of its memory.
fn is_outside(kind: &str) -> bool {
    !matches!(kind, "divergent_barrier" | "different_barriers" | "misaligned" | "misaligned_local" | "freed")
}

/// Where the fault's kernel has a race that is told.
fn race_of<'a>(facts: &Facts<'a>, fault: &Fault) -> Option<&'a Frame> {
    let mut races = facts.profile.conflicts.iter().filter(|conflict| conflict.severity == "warning");
    let race = races.find(|conflict| fault.kernel == Some(conflict.kernel))?;
    race.accesses.first().map(|party| &party.frame)
}
