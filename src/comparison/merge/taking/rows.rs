//! Merges lines, sites, allocations, branches and blocks.

use rustc_hash::FxHashMap;

use crate::merge::ids::Ids;
use crate::merge::merged::Merged;
use crate::merge::over::{Figures, NonRequestFigure, RowOver, add_figures, figures};
use crate::merge::sums::metrics::{add, add_each, add_instructions, add_spaces, add_warp_blocks};
use crate::merge::sums::patterns;
use warpline_profile::Profile;
use warpline_profile::model::{
    Allocation, ByAllocation, ByKernel, Context, CopyRow, HostAllocation, Line, Metrics, Site,
};

/// Returns the bytes of each of `count` rows.
fn each(bytes: u64, count: u64) -> u64 {
    bytes / count.max(1)
}

/// Merges host allocations, which copies refer to by number.
pub(in crate::merge) fn host_allocations(merged: &mut Merged, profile: &Profile, ids: &mut Ids) {
    let rows = &mut merged.whole.host_allocations;
    let interner = &mut merged.known.interner;
    for row in &profile.host_allocations {
        let name = row.name.as_ref().map(|name| interner.text(name));
        let key = (name, interner.text(&row.kind), interner.path(&row.path), each(row.bytes, row.count));
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

/// Assigns new numbers to a profile's allocations.
pub(in crate::merge) fn number_allocations(merged: &mut Merged, profile: &Profile, ids: &mut Ids) {
    let rows = &mut merged.whole.allocations;
    let interner = &mut merged.known.interner;
    for row in &profile.allocations {
        if ids.allocations.contains_key(&row.id) {
            continue;
        }
        let name = row.name.as_ref().map(|name| interner.text(name));
        let key = (name, interner.text(&row.kind), interner.path(&row.path), each(row.bytes, row.count));
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

/// Figures of allocations with one name in a rank.
#[derive(Default)]
struct OfName {
    figures: Figures,
    count: u64,
    bytes: u64,
    touched_bytes: u64,
}

/// Adds figures of allocations with the same name over ranks.
fn allocation_names(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    for row in &profile.allocation_names {
        merged.over.names.entry(row.name.clone()).or_default().add_merged(&row.over_ranks);
    }
    let Some(rank) = ids.rank else { return };
    let mut names: FxHashMap<&str, OfName> = FxHashMap::default();
    for row in &profile.allocations {
        let Some(name) = row.name.as_deref().filter(|name| !name.is_empty()) else { continue };
        let sum = names.entry(name).or_default();
        add_figures(&mut sum.figures, &figures(&row.metrics));
        sum.count = sum.count.saturating_add(row.count);
        sum.bytes = sum.bytes.saturating_add(row.bytes);
        sum.touched_bytes = sum.touched_bytes.saturating_add(row.touched_bytes);
    }
    for (name, OfName { figures, count, bytes, touched_bytes }) in names {
        let over = match merged.over.names.get_mut(name) {
            Some(over) => over,
            None => merged.over.names.entry(name.to_owned()).or_default(),
        };
        over.add_plain(&figures, rank);
        over.add_other(NonRequestFigure::Allocations, count, rank);
        over.add_other(NonRequestFigure::Size, bytes, rank);
        over.add_other(NonRequestFigure::TouchedBytes, touched_bytes, rank);
    }
}

/// Adds a profile's allocations.
pub(in crate::merge) fn allocations(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    allocation_names(merged, profile, ids);
    let mut taken = std::collections::BTreeSet::new();
    for row in &profile.allocations {
        let Some(&id) = ids.allocations.get(&row.id).filter(|_| taken.insert(row.id)) else { continue };
        let Some(sum) = merged.whole.allocations.get_mut(id as usize - 1) else { continue };
        sum.bytes = sum.bytes.saturating_add(row.bytes);
        sum.count = sum.count.saturating_add(row.count);
        // Old profiles without shared rows contain no number of freed allocations.
        let freed = if row.freed { row.freed_count.max(row.count) } else { row.freed_count };
        sum.freed_count = sum.freed_count.saturating_add(freed);
        sum.freed &= row.freed;
        // The runs exist at the same time.
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
                    sum.source_count = sum.source_count.saturating_add(copy.source_count);
                    sum.source_bytes = sum.source_bytes.saturating_add(copy.source_bytes);
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
    }
}

/// Merges memory instructions.
pub(in crate::merge) fn sites(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let rows = &mut merged.whole.sites;
    let new = |id: u64| ids.allocations.get(&id).copied();
    for row in &profile.sites {
        let Some(&kernel) = ids.kernels.get(&row.kernel) else { continue };
        let interner = &mut merged.known.interner;
        let (op, space) = (interner.text(&row.op), interner.text(&row.space));
        let key = [kernel, row.id, interner.text(&row.file), row.line, row.column, op, space, row.bytes];
        let place = merged.known.sites.place(key, rows.len());
        if place == rows.len() {
            merged.over.sites.push(RowOver::default());
            rows.push(Site {
                kernel,
                metrics: Metrics::default(),
                pattern: None,
                by_allocation: Vec::new(),
                contexts: Vec::new(),
                over_ranks: Default::default(),
                ..row.clone()
            });
        }
        let Some(sum) = rows.get_mut(place) else { continue };
        if let Some(over) = merged.over.sites.get_mut(place) {
            over.add_merged(&row.over_ranks);
            if let Some(rank) = ids.rank {
                over.add_plain(&figures(&row.metrics), rank);
            }
        }
        take_least(sum, row);
        // If one run has no contexts because the site was called in one way only, its figures are those of the kernel's
        // own code.
        if sum.contexts.is_empty() != row.contexts.is_empty() {
            let of_ours = sum.contexts.is_empty();
            let metrics = if of_ours { &sum.metrics } else { &row.metrics };
            if metrics.requests != 0 {
                add_context(sum, &Context { calls: Vec::new(), metrics: metrics.clone() });
            }
        }
        add(&mut sum.metrics, &row.metrics);
        match (&mut sum.pattern, &row.pattern) {
            (Some(sum), Some(more)) => patterns::add(sum, &patterns::renumbered(more, new)),
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
        for context in &row.contexts {
            add_context(sum, context);
        }
    }
}

/// If descriptions of a site differ, takes the lexicographically smallest one.
fn take_least(ours: &mut Site, theirs: &Site) {
    let description = |site: &Site| {
        let Site { function, leaf, inlined_at, library, approximate, operand, .. } = site;
        serde_json::to_string(&(function, leaf, inlined_at, library, approximate, operand)).unwrap_or_default()
    };
    let same = ours.function == theirs.function
        && ours.leaf == theirs.leaf
        && ours.inlined_at == theirs.inlined_at
        && (ours.library, ours.approximate) == (theirs.library, theirs.approximate)
        && ours.operand == theirs.operand;
    if !same && description(theirs) < description(ours) {
        ours.function.clone_from(&theirs.function);
        ours.leaf.clone_from(&theirs.leaf);
        ours.inlined_at.clone_from(&theirs.inlined_at);
        (ours.library, ours.approximate) = (theirs.library, theirs.approximate);
        ours.operand.clone_from(&theirs.operand);
    }
}

fn add_context(sum: &mut Site, context: &Context) {
    match sum.contexts.iter_mut().find(|one| one.calls == context.calls) {
        Some(sum) => add(&mut sum.metrics, &context.metrics),
        None => sum.contexts.push(context.clone()),
    }
}

/// Merges lines, branches and basic blocks.
pub(in crate::merge) fn code(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let (whole, known) = (&mut merged.whole, &mut merged.known);
    for row in &profile.lines {
        let Some(&kernel) = ids.kernels.get(&row.kernel) else { continue };
        let place = known.lines.place([kernel, known.interner.text(&row.file), row.line], whole.lines.len());
        if place == whole.lines.len() {
            merged.over.lines.push(RowOver::default());
        }
        if let Some(over) = merged.over.lines.get_mut(place) {
            over.add_merged(&row.over_ranks);
            if let Some(rank) = ids.rank {
                over.add_spaces(&row.metrics, rank);
            }
        }
        match whole.lines.get_mut(place) {
            Some(sum) => {
                add_spaces(&mut sum.metrics, &row.metrics);
                add_instructions(&mut sum.instructions, &row.instructions);
                for (name, more) in &row.whole_run {
                    match sum.whole_run.get_mut(name) {
                        Some(sum) => sum.add(more),
                        None => _ = sum.whole_run.insert(name.clone(), *more),
                    }
                }
            }
            None => whole.lines.push(Line { kernel, over_ranks: Default::default(), ..row.clone() }),
        }
    }
    for row in &profile.branches {
        let Some(&kernel) = ids.kernels.get(&row.kernel) else { continue };
        let file = known.interner.text(&row.file);
        let key = [kernel, file, row.line, row.column, row.kernel_line, row.lanes.len() as u32];
        let place = known.branches.place(key, whole.branches.len());
        match whole.branches.get_mut(place) {
            Some(sum) => {
                sum.executions = sum.executions.saturating_add(row.executions);
                sum.divergent = sum.divergent.saturating_add(row.divergent);
                add_each(&mut sum.lanes, &row.lanes);
                add_each(&mut sum.instructions, &row.instructions);
                sum.idle_lane_slots = sum.idle_lane_slots.saturating_add(row.idle_lane_slots);
                sum.order_assumed |= row.order_assumed;
                sum.ends_loop |= row.ends_loop;
                sum.decided_by.extend(&row.decided_by);
                sum.decided_by.sort_unstable();
                sum.decided_by.dedup();
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
        let (file, parts) = (known.interner.text(&row.file), known.interner.parts(&row.parts));
        let key = ([kernel, file, row.line, row.kernel_line, parts], row.instructions);
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

/// Merges source lines. If a file changed between runs, each line is taken from one of its versions.
pub(in crate::merge) fn sources(merged: &mut Merged, profile: &Profile) {
    for (file, lines) in &profile.sources {
        let known = match merged.whole.sources.get_mut(file) {
            Some(known) => known,
            None => merged.whole.sources.entry(file.clone()).or_default(),
        };
        for (number, text) in lines {
            match known.get_mut(number) {
                Some(other) if other != text => {
                    if text < other {
                        other.clone_from(text);
                    }
                    let note = "source files changed between the runs: each line is from one of the versions";
                    merged.facts.from.left_out.insert(note.to_owned());
                }
                Some(_) => {}
                None => _ = known.insert(*number, text.clone()),
            }
        }
    }
}
