//! Assigns the final numbers and the order of a merged profile's rows. Both follow from the keys of rows, not from the
//! order of profiles.

use std::collections::BTreeMap;

use super::merged::Merged;
use super::settle;
use super::sums::{patterns, spreads};
use super::taking::{events, launches};
use warpline_profile::arithmetic_intensity;
use warpline_profile::model::{
    AccessValues, Allocation, Branch, ComparedResult, FailedCall, FloatException, HostAccess, HostAllocation, Kernel,
    NameOverRanks, PathOverRanks, Profile, RoundedAllocation, StreamConflict, Uninitialised,
};

/// Previous indices of rows, by their new numbers.
struct Places<T> {
    now: BTreeMap<T, T>,
}

impl<T: Ord + Copy> Places<T> {
    fn renumber(&self, before: T) -> T {
        self.now.get(&before).copied().unwrap_or(before)
    }
}

/// Adds the figures over ranks to rows, and assigns numbers and order.
pub(super) fn put_in_order(merged: &mut Merged) {
    let whole = &mut merged.whole;
    settle::whole(whole);
    for (kernel, over) in whole.kernels.iter_mut().zip(&merged.over.kernels) {
        kernel.over_ranks = over.own.document();
        let path = |(path, over): &(Vec<_>, super::over::RowOver)| {
            let over_ranks = over.document();
            (!over_ranks.is_empty()).then(|| PathOverRanks { path: path.clone(), over_ranks })
        };
        kernel.paths_over_ranks = over.by_path.iter().filter_map(path).collect();
        kernel.paths_over_ranks.sort_by(|one, other| one.path.cmp(&other.path));
    }
    for (line, over) in whole.lines.iter_mut().zip(&merged.over.lines) {
        line.over_ranks = over.document();
    }
    for (site, over) in whole.sites.iter_mut().zip(&merged.over.sites) {
        site.over_ranks = over.document();
    }
    let name = |(name, over): (&String, &super::over::RowOver)| NameOverRanks {
        name: name.clone(),
        over_ranks: over.document(),
    };
    whole.allocation_names = merged.over.names.iter().map(name).collect();
    let kernels = number_kernels(&mut whole.kernels);
    let allocations = number_allocations(&mut whole.allocations);
    let host_allocations = number_host_allocations(&mut whole.host_allocations);
    renumber(whole, &kernels, &allocations, &host_allocations);
    sort(whole);
    launches::number(&mut whole.kernels);
    whole.kernels.iter_mut().for_each(spreads::number_paths);
    // Its rows have the final numbers of kernels and allocations.
    whole.arithmetic_intensity = arithmetic_intensity(whole);
}

fn number_kernels(rows: &mut [Kernel]) -> Places<u32> {
    rows.sort_by(|one, other| (&one.module, &one.mangled).cmp(&(&other.module, &other.mangled)));
    let mut now = BTreeMap::new();
    for (id, row) in (0..).zip(rows) {
        now.insert(row.id, id);
        row.id = id;
    }
    Places { now }
}

fn number_allocations(rows: &mut [Allocation]) -> Places<u64> {
    let key = |row: &Allocation| (row.path.clone(), row.name.clone(), row.kind.clone(), row.bytes / row.count.max(1));
    rows.sort_by_cached_key(key);
    let mut now = BTreeMap::new();
    for (id, row) in (1..).zip(rows) {
        now.insert(row.id, id);
        row.id = id;
    }
    Places { now }
}

fn number_host_allocations(rows: &mut [HostAllocation]) -> Places<u64> {
    let key =
        |row: &HostAllocation| (row.path.clone(), row.name.clone(), row.kind.clone(), row.bytes / row.count.max(1));
    rows.sort_by_cached_key(key);
    let mut now = BTreeMap::new();
    for (id, row) in (1..).zip(rows) {
        now.insert(row.id, id);
        row.id = id;
    }
    Places { now }
}

fn renumber(whole: &mut Profile, kernels: &Places<u32>, allocations: &Places<u64>, host: &Places<u64>) {
    for row in &mut whole.lines {
        row.kernel = kernels.renumber(row.kernel);
    }
    for row in &mut whole.sites {
        row.kernel = kernels.renumber(row.kernel);
        for owner in &mut row.by_allocation {
            owner.allocation = owner.allocation.map(|id| allocations.renumber(id));
        }
        row.by_allocation.sort_by_key(|row| row.allocation);
        row.contexts.sort_by(|one, other| one.calls.cmp(&other.calls));
        if let Some(pattern) = &mut row.pattern {
            let renumbered = patterns::renumbered(pattern, |id| Some(allocations.renumber(id)));
            *pattern = renumbered;
            patterns::put_in_order(pattern);
        }
    }
    for row in &mut whole.allocations {
        for owner in &mut row.by_kernel {
            owner.kernel = kernels.renumber(owner.kernel);
        }
        row.by_kernel.sort_by_key(|row| row.kernel);
        for copy in &mut row.copies {
            copy.host = copy.host.map(|id| host.renumber(id));
        }
        row.copies.sort_by(|one, other| {
            (&one.direction, one.host, &one.path).cmp(&(&other.direction, other.host, &other.path))
        });
    }
    for row in &mut whole.branches {
        row.kernel = kernels.renumber(row.kernel);
    }
    for row in &mut whole.blocks {
        row.kernel = kernels.renumber(row.kernel);
    }
    for row in &mut whole.faults {
        row.kernel = row.kernel.map(|id| kernels.renumber(id));
        row.allocation = row.allocation.map(|id| allocations.renumber(id));
    }
    for row in &mut whole.conflicts {
        row.kernel = kernels.renumber(row.kernel);
        row.allocation = row.allocation.map(|id| allocations.renumber(id));
    }
    for row in &mut whole.stream_conflicts {
        for access in &mut row.accesses {
            access.kernel = access.kernel.map(|id| kernels.renumber(id));
        }
        row.allocation = allocations.renumber(row.allocation);
    }
    for row in &mut whole.host_accesses {
        row.allocation = allocations.renumber(row.allocation);
    }
    for row in &mut whole.access_values {
        row.kernel = kernels.renumber(row.kernel);
        row.allocation = row.allocation.map(|id| allocations.renumber(id));
    }
    for row in &mut whole.allocation_values {
        row.allocation = allocations.renumber(row.allocation);
    }
    for row in &mut whole.compared_results {
        row.allocation = allocations.renumber(row.allocation);
    }
    for row in &mut whole.rounded_allocations {
        row.allocation = allocations.renumber(row.allocation);
        for writes in &mut row.writes {
            writes.kernel = writes.kernel.map(|id| kernels.renumber(id));
        }
        for other in &mut row.other_accesses {
            other.kernel = kernels.renumber(other.kernel);
        }
    }
    for row in &mut whole.float_exceptions {
        row.kernel = kernels.renumber(row.kernel);
    }
    for step in whole.float_origins.iter_mut().flat_map(|origin| &mut origin.steps) {
        step.kernel = kernels.renumber(step.kernel);
        step.allocation = step.allocation.map(|id| allocations.renumber(id));
    }
    for row in &mut whole.uninitialised {
        row.kernel = row.kernel.map(|id| kernels.renumber(id));
        row.allocation = row.allocation.map(|id| allocations.renumber(id));
        row.earlier = row.earlier.map(|id| allocations.renumber(id));
    }
    for row in &mut whole.run.missing {
        row.kernel = row.kernel.map(|id| kernels.renumber(id));
    }
}

/// Rows with equal keys keep their order, because the second row of one profile was added to the second row of another.
fn sort(whole: &mut Profile) {
    whole.lines.sort_by(|one, other| (one.kernel, &one.file, one.line).cmp(&(other.kernel, &other.file, other.line)));
    whole.sites.sort_by(|one, other| {
        let numbers = |site: &warpline_profile::model::Site| (site.line, site.column, site.bytes);
        (one.kernel, one.id, &one.space, &one.file, &one.op)
            .cmp(&(other.kernel, other.id, &other.space, &other.file, &other.op))
            .then(numbers(one).cmp(&numbers(other)))
    });
    let place = |row: &Branch| (row.kernel, row.file.clone(), row.line, row.column, row.kernel_line, row.lanes.len());
    whole.branches.sort_by_cached_key(place);
    let parts = |row: &warpline_profile::model::Block| {
        row.parts.iter().map(|part| (part.file.clone(), part.line, part.instructions)).collect::<Vec<_>>()
    };
    whole.blocks.sort_by_cached_key(|row| {
        (row.kernel, row.file.clone(), row.line, row.kernel_line, row.instructions, parts(row))
    });
    events::sort_faults(&mut whole.faults);
    // More severe conflicts come first, then more frequent ones.
    whole.conflicts.sort_by_cached_key(|row| {
        let rest = serde_json::to_string(row).unwrap_or_default();
        (row.severity != "warning", std::cmp::Reverse(row.count), rest)
    });
    StreamConflict::sort(&mut whole.stream_conflicts);
    HostAccess::sort(&mut whole.host_accesses);
    AccessValues::sort(&mut whole.access_values);
    whole.allocation_values.sort_by_key(|row| row.allocation);
    RoundedAllocation::sort(&mut whole.rounded_allocations);
    ComparedResult::sort(&mut whole.compared_results);
    FloatException::sort(&mut whole.float_exceptions);
    whole.float_origins.sort_by_cached_key(|row| serde_json::to_string(row).unwrap_or_default());
    Uninitialised::sort(&mut whole.uninitialised);
    FailedCall::sort(&mut whole.failed_calls);
    whole.run.missing.sort_by_cached_key(|row| serde_json::to_string(row).unwrap_or_default());
    whole.not_seen.sort_by_cached_key(|row| (row.file.clone(), row.line, row.function.clone(), row.what.clone()));
    whole.not_seen.dedup();
}
