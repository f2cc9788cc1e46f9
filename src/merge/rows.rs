//! Lines, sites, allocations, branches, blocks, and what happened.

use super::Merged;
use super::ids::{Ids, parts};
use super::kernels::{add_instructions, add_warp_blocks};
use super::metrics::{add, add_each, add_spaces};
use super::patterns;
use crate::profile::Profile;
use crate::profile::model::{Allocation, ByAllocation, ByKernel, CopyRow, HostAllocation, Line, Metrics, Site};

/// Of each row, as `count` has it.
fn each(bytes: u64, count: u64) -> u64 {
    bytes / count.max(1)
}

/// Host allocations, which copies name by number.
pub(super) fn host_allocations(merged: &mut Merged, profile: &Profile, ids: &mut Ids) {
    let rows = &mut merged.whole.host_allocations;
    for row in &profile.host_allocations {
        let key = (row.name.clone(), row.kind.clone(), row.path.clone(), each(row.bytes, row.count));
        let place = merged.known.host_allocations.place(key, rows.len());
        let id = place as u64 + 1;
        ids.host_allocations.entry(row.id).or_insert(id);
        match rows.get_mut(place) {
            Some(sum) => {
                sum.bytes = sum.bytes.saturating_add(row.bytes);
                sum.count = sum.count.saturating_add(row.count);
            }
            None => rows.push(HostAllocation { id, ..row.clone() }),
        }
    }
}

/// Gives a profile's allocations their numbers.
pub(super) fn number_allocations(merged: &mut Merged, profile: &Profile, ids: &mut Ids) {
    let rows = &mut merged.whole.allocations;
    for row in &profile.allocations {
        if ids.allocations.contains_key(&row.id) {
            continue;
        }
        let key = (row.name.clone(), row.kind.clone(), row.path.clone(), each(row.bytes, row.count));
        let place = merged.known.allocations.place(key, rows.len());
        let id = place as u64 + 1;
        if place == rows.len() {
            rows.push(Allocation {
                id,
                name: row.name.clone(),
                kind: row.kind.clone(),
                bytes: 0,
                path: row.path.clone(),
                freed: true,
                count: 0,
                freed_count: 0,
                live_at_once: 0,
                touched_bytes: 0,
                touched_map: None,
                lifetime: None,
                copies: Vec::new(),
                metrics: Metrics::default(),
                by_kernel: Vec::new(),
            });
        }
        ids.allocations.insert(row.id, id);
    }
}

/// Adds a profile's allocations.
pub(super) fn allocations(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let mut taken = std::collections::BTreeSet::new();
    for row in &profile.allocations {
        let Some(&id) = ids.allocations.get(&row.id).filter(|_| taken.insert(row.id)) else { continue };
        let Some(sum) = merged.whole.allocations.get_mut(id as usize - 1) else { continue };
        sum.bytes = sum.bytes.saturating_add(row.bytes);
        sum.count = sum.count.saturating_add(row.count);
        // Profiles from before rows were shared tell no number.
        let freed = if row.freed { row.freed_count.max(row.count) } else { row.freed_count };
        sum.freed_count = sum.freed_count.saturating_add(freed);
        sum.freed &= row.freed;
        // Runs are one beside the other.
        sum.live_at_once = sum.live_at_once.saturating_add(row.live_at_once);
        sum.touched_bytes = sum.touched_bytes.saturating_add(row.touched_bytes);
        for copy in &row.copies {
            let host = copy.host.and_then(|id| ids.host_allocations.get(&id).copied());
            let same =
                |one: &&mut CopyRow| one.direction == copy.direction && one.host == host && one.path == copy.path;
            match sum.copies.iter_mut().find(same) {
                Some(sum) => {
                    sum.bytes = sum.bytes.saturating_add(copy.bytes);
                    sum.count = sum.count.saturating_add(copy.count);
                    sum.unchanged_count = sum.unchanged_count.saturating_add(copy.unchanged_count);
                }
                None => sum.copies.push(CopyRow { host, first_launch: None, last_launch: None, ..copy.clone() }),
            }
        }
        add(&mut sum.metrics, &row.metrics);
        for row in &row.by_kernel {
            let Some(&kernel) = ids.kernels.get(&row.kernel) else { continue };
            match sum.by_kernel.iter_mut().find(|one| one.kernel == kernel) {
                Some(sum) => add(&mut sum.metrics, &row.metrics),
                None => sum.by_kernel.push(ByKernel { kernel, metrics: row.metrics.clone() }),
            }
        }
        sum.by_kernel.sort_by_key(|row| row.kernel);
    }
}

/// Memory instructions.
pub(super) fn sites(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let rows = &mut merged.whole.sites;
    let new = |id: u64| ids.allocations.get(&id).copied();
    for row in &profile.sites {
        let Some(&kernel) = ids.kernels.get(&row.kernel) else { continue };
        let position = (row.line, row.column);
        let key = (kernel, row.id, row.file.clone(), position, row.op.clone(), row.space.clone(), row.bytes);
        let place = merged.known.sites.place(key, rows.len());
        if place == rows.len() {
            rows.push(Site {
                kernel,
                metrics: Metrics::default(),
                pattern: None,
                by_allocation: Vec::new(),
                contexts: Vec::new(),
                ..row.clone()
            });
        }
        let Some(sum) = rows.get_mut(place) else { continue };
        // Where one run called it in one way only, that run's figures are of the kernel's own code.
        if sum.contexts.is_empty() != row.contexts.is_empty() && sum.metrics.requests != 0 {
            let whole =
                |metrics: &Metrics| crate::profile::model::Context { calls: Vec::new(), metrics: metrics.clone() };
            if sum.contexts.is_empty() {
                sum.contexts.push(whole(&sum.metrics));
            } else {
                add_context(sum, &whole(&row.metrics));
            }
        }
        add(&mut sum.metrics, &row.metrics);
        match (&mut sum.pattern, &row.pattern) {
            (Some(sum), Some(more)) => sum.add(&patterns::renumbered(more, new)),
            (sum @ None, Some(more)) => *sum = Some(patterns::renumbered(more, new)),
            (_, None) => {}
        }
        for owner in &row.by_allocation {
            let allocation = match owner.allocation {
                Some(id) => match new(id) {
                    Some(id) => Some(id),
                    None => continue,
                },
                None => None,
            };
            match sum.by_allocation.iter_mut().find(|one| one.allocation == allocation) {
                Some(sum) => add(&mut sum.metrics, &owner.metrics),
                None => sum.by_allocation.push(ByAllocation { allocation, metrics: owner.metrics.clone() }),
            }
        }
        sum.by_allocation.sort_by_key(|row| row.allocation);
        for context in &row.contexts {
            add_context(sum, context);
        }
    }
}

fn add_context(sum: &mut Site, context: &crate::profile::model::Context) {
    match sum.contexts.iter_mut().find(|one| one.calls == context.calls) {
        Some(sum) => add(&mut sum.metrics, &context.metrics),
        None => sum.contexts.push(context.clone()),
    }
}

/// Lines, branches and basic blocks.
pub(super) fn code(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let (whole, known) = (&mut merged.whole, &mut merged.known);
    for row in &profile.lines {
        let Some(&kernel) = ids.kernels.get(&row.kernel) else { continue };
        let place = known.lines.place((kernel, row.file.clone(), row.line), whole.lines.len());
        match whole.lines.get_mut(place) {
            Some(sum) => {
                add_spaces(&mut sum.metrics, &row.metrics);
                add_instructions(&mut sum.instructions, &row.instructions);
            }
            None => whole.lines.push(Line { kernel, ..row.clone() }),
        }
    }
    for row in &profile.branches {
        let Some(&kernel) = ids.kernels.get(&row.kernel) else { continue };
        let place = (row.line, row.column, row.kernel_line);
        let key = (kernel, row.file.clone(), place, row.lanes.len());
        let place = known.branches.place(key, whole.branches.len());
        match whole.branches.get_mut(place) {
            Some(sum) => {
                sum.executions = sum.executions.saturating_add(row.executions);
                sum.divergent = sum.divergent.saturating_add(row.divergent);
                add_each(&mut sum.lanes, &row.lanes);
                add_each(&mut sum.instructions, &row.instructions);
                sum.idle_lane_slots = sum.idle_lane_slots.saturating_add(row.idle_lane_slots);
                sum.order_assumed |= row.order_assumed;
            }
            None => {
                let mut row = row.clone();
                row.kernel = kernel;
                whole.branches.push(row);
            }
        }
    }
    for row in &profile.blocks {
        let Some(&kernel) = ids.kernels.get(&row.kernel) else { continue };
        let key = (kernel, row.file.clone(), (row.line, row.kernel_line), row.instructions, parts(&row.parts));
        let place = known.blocks.place(key, whole.blocks.len());
        match whole.blocks.get_mut(place) {
            Some(sum) => {
                sum.executions = sum.executions.saturating_add(row.executions);
                sum.lanes = sum.lanes.saturating_add(row.lanes);
                sum.partial = sum.partial.saturating_add(row.partial);
                sum.lanes_lost = sum.lanes_lost.saturating_add(row.lanes_lost);
                add_warp_blocks(&mut sum.warp_blocks, row.warp_blocks);
            }
            None => {
                let mut row = row.clone();
                row.kernel = kernel;
                whole.blocks.push(row);
            }
        }
    }
}

/// Puts rows in the order that profiles have.
pub(super) fn order(whole: &mut Profile) {
    whole.lines.sort_by(|one, other| (one.kernel, &one.file, one.line).cmp(&(other.kernel, &other.file, other.line)));
    whole.sites.sort_by(|one, other| (one.kernel, one.id, &one.space).cmp(&(other.kernel, other.id, &other.space)));
    // Of one place they stay in the order in which they were met.
    let place = |one: &crate::profile::model::Branch| (one.kernel, one.file.clone(), one.line, one.column);
    whole.branches.sort_by_cached_key(place);
    whole.blocks.sort_by_cached_key(|row| (row.kernel, row.file.clone(), row.line));
    for kernel in &mut whole.kernels {
        kernel.launches.sort_by_key(|launch| launch.id);
    }
}

/// Bad accesses, conflicts, and what did not run or was not seen.
pub(super) fn events(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let (whole, known) = (&mut merged.whole, &mut merged.known);
    let allocation = |id: Option<u64>| id.and_then(|id| ids.allocations.get(&id).copied());
    let kernel = |id: Option<u32>| id.and_then(|id| ids.kernels.get(&id).copied());
    for fault in &profile.faults {
        let mut fault = fault.clone();
        fault.kernel = kernel(fault.kernel);
        fault.launch = ids.launch(fault.launch);
        fault.allocation = allocation(fault.allocation);
        whole.faults.push(fault);
    }
    for row in &profile.conflicts {
        let Some(kernel) = kernel(Some(row.kernel)) else { continue };
        let mut row = row.clone();
        row.kernel = kernel;
        row.launch = ids.launch(row.launch);
        row.allocation = allocation(row.allocation);
        let parties = row.accesses.each_ref().map(|party| (party.op.clone(), party.frame.clone(), party.site));
        let text = |text: &String| text.clone();
        let key = (
            kernel,
            text(&row.verdict),
            text(&row.scope),
            text(&row.space),
            parties,
            row.allocation,
            row.variable.clone(),
        );
        let place = known.conflicts.place(key, whole.conflicts.len());
        match whole.conflicts.get_mut(place) {
            Some(sum) => sum.count = sum.count.saturating_add(row.count),
            None => whole.conflicts.push(row),
        }
    }
    for row in &profile.run.missing {
        let mut row = row.clone();
        row.kernel = kernel(row.kernel);
        row.launch = row.launch.map(|id| ids.launch(id));
        whole.run.missing.push(row);
    }
    for row in &profile.not_seen {
        if !whole.not_seen.contains(row) {
            whole.not_seen.push(row.clone());
        }
    }
}

/// Source lines. A file that changed between runs shows one of its versions.
pub(super) fn sources(merged: &mut Merged, profile: &Profile) {
    for (file, lines) in &profile.sources {
        let known = merged.whole.sources.entry(file.clone()).or_default();
        for (number, text) in lines {
            match known.get(number) {
                Some(other) if other != text => {
                    merged.notes.insert("source files changed between the runs: lines of the first one are shown");
                }
                Some(_) => {}
                None => _ = known.insert(*number, text.clone()),
            }
        }
    }
}
