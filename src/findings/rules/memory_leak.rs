//! Memory that a loop allocates and never frees, and with `--check-leaks` all memory that is never freed.

use std::collections::{BTreeMap, BTreeSet};

use super::super::facts::memory::{AllocationSite, Maker, allocated_bytes, allocation_sites, is_variable};
use super::super::prelude::*;
use super::super::thresholds::allocations::*;

described! {
    enum Cause {
        NeverFreed { memory: Shown, times: Count, all: Bytes } => "never-freed-in-loop",
        LeftAtExit { memory: Shown, times: Count, all: Bytes } => "not-freed-at-exit",
    }
    enum Remedy {
        FreeOrReuse => "free-or-reuse",
        Free => "free-before-exit",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    if !facts.is_whole_run() {
        return Vec::new();
    }
    let all = allocation_sites(facts, 0);
    let leaked: Vec<_> = all.iter().filter(|site| is_leaked(site)).collect();
    let reported: BTreeSet<u64> = leaked.iter().flat_map(|site| &site.rows).map(|row| row.id).collect();
    let left = |row: &&Allocation| facts.profile.run.leak_check && !reported.contains(&row.id) && is_left(row);
    // One line and variable are one change, independent of the number of calls.
    let mut by_place: BTreeMap<_, Vec<&Allocation>> = BTreeMap::new();
    for row in facts.profile.allocations.iter().filter(left) {
        let place = innermost(&row.path).map(|frame| (&frame.file, frame.line));
        // Allocations without a source position are reported separately.
        let own = if place.is_some() { 0 } else { row.id };
        by_place.entry((place, &row.name, own)).or_default().push(row);
    }
    let at_exit = by_place.values().map(|rows| left_at_exit(facts, rows));
    leaked.iter().filter_map(|site| draft(facts, site)).chain(at_exit).collect()
}

/// Kinds of memory that the program must free, in addition to kinds whose names start with `cudaMalloc`.
const FREED_BY_THE_PROGRAM: [&str; 2] = ["device_heap", "cuMemMap"];

fn is_left(row: &Allocation) -> bool {
    (row.kind.starts_with("cudaMalloc") || FREED_BY_THE_PROGRAM.contains(&&row.kind[..])) && !row.freed
}

fn left_at_exit(facts: &Facts<'_>, rows: &[&Allocation]) -> Draft {
    let times_of = |row: &Allocation| row.count.saturating_sub(row.freed_count).max(1);
    let bytes_of =
        |row: &Allocation| (u128::from(row.bytes) * u128::from(times_of(row)) / u128::from(row.count.max(1))) as u64;
    let times = rows.iter().map(|row| times_of(row)).total();
    let all = rows.iter().map(|row| bytes_of(row)).total();
    let row = rows[0];
    let memory = describe(row);
    let cause = Cause::LeftAtExit { memory, times: Count(times), all: Bytes(all) };
    let draft = Draft::new(Diagnosis::new(&cause, &Remedy::Free))
        .at_frame(innermost(&row.path))
        .of_allocation(row.id)
        .object(row.name.clone())
        .evidence("allocations", times as f64)
        .evidence("bytes", all as f64);
    Draft { severity: Severity::Warning, score: MEMORY_WEIGHT * share(all, allocated_bytes(facts)), ..draft }
}

/// Returns whether launches occur between the allocations for one variable, none of which is freed. Allocations of a
/// setup loop have no launches in between, and elements of an array and members keep their pointers.
fn is_leaked(site: &AllocationSite<'_>) -> bool {
    let count = site.count();
    count >= LEAST_ALLOCATIONS
        && site.are_kept()
        && site.maker == Maker::Line
        && site.rows.iter().all(|row| row.name.as_deref().is_some_and(is_variable))
        && site.launches_between() as f64 >= LEAST_SEPARATED_SHARE * count as f64
}

fn draft(facts: &Facts<'_>, site: &AllocationSite<'_>) -> Option<Draft> {
    let (first, bytes, count) = (site.rows.first()?, site.bytes(), site.count());
    let memory = Shown(format!("`{}`", first.name.as_deref()?));
    let cause = Cause::NeverFreed { memory, times: Count(count), all: Bytes(bytes) };
    let draft = Draft::new(Diagnosis::new(&cause, &Remedy::FreeOrReuse))
        .at_frame(site.frame)
        .of_allocation(first.id)
        .object(first.name.clone())
        .evidence("allocations", count as f64)
        .evidence("bytes", bytes as f64);
    let severity = if bytes >= LEAST_RETAINED_BYTES { Severity::Warning } else { Severity::Note };
    // A leak costs memory, and no time.
    Some(Draft { severity, score: MEMORY_WEIGHT * share(bytes, allocated_bytes(facts)), ..draft })
}
