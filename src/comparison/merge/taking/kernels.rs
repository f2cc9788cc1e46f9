//! Merges kernels, with their launches and estimates.

use super::launches;
use crate::merge::ids::Ids;
use crate::merge::merged::Merged;
use crate::merge::over::KernelOver;
use crate::merge::sums::estimates::add as add_estimate;
use crate::merge::sums::metrics::{add_dram, add_instructions, add_spaces, add_warp_blocks, under, whole};
use crate::merge::sums::spreads;
use warpline_profile::model::{Kernel, PageMetrics, Wide};
use warpline_profile::{Profile, nine_digits};

/// Assigns new numbers to a profile's kernels.
pub(in crate::merge) fn number(merged: &mut Merged, profile: &Profile, ids: &mut Ids) {
    for kernel in &profile.kernels {
        if ids.kernels.contains_key(&kernel.id) {
            continue;
        }
        let kernels = &mut merged.whole.kernels;
        let interner = &mut merged.known.interner;
        let key = (interner.text(&kernel.module), interner.text(&kernel.mangled));
        let place = merged.known.kernels.place(key, kernels.len());
        if place == kernels.len() {
            kernels.push(Kernel { id: place as u32, ..blank(kernel) });
            merged.over.kernels.push(KernelOver::default());
        }
        ids.kernels.insert(kernel.id, place as u32);
    }
}

/// Returns a kernel without counts.
fn blank(kernel: &Kernel) -> Kernel {
    Kernel {
        id: 0,
        name: kernel.name.clone(),
        mangled: kernel.mangled.clone(),
        module: kernel.module.clone(),
        file: kernel.file.clone(),
        line: kernel.line,
        metrics: Default::default(),
        instructions: Default::default(),
        lane_slots: Default::default(),
        warp_blocks: None,
        host_memory: Default::default(),
        launches: Vec::new(),
        launch_groups: Vec::new(),
        launch_count: 0,
        recorded_launches: None,
        over_launches: Default::default(),
        ratios_over_launches: Default::default(),
        over_paths: Vec::new(),
        spill_bytes: 0,
        estimates: Vec::new(),
        bypass: None,
        pages: None,
        tables: Vec::new(),
        whole_run: None,
        // Allocations have new numbers, so addresses are not merged; `predict` needs a single profile.
        addresses: None,
        over_ranks: Default::default(),
        paths_over_ranks: Vec::new(),
        exact: Default::default(),
    }
}

/// Adds a profile's kernels.
pub(in crate::merge) fn take(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let mut taken = std::collections::BTreeSet::new();
    for kernel in &profile.kernels {
        // Rows refer to kernels by number; if two share a number, the first is meant.
        let Some(&id) = ids.kernels.get(&kernel.id).filter(|_| taken.insert(kernel.id)) else { continue };
        let Some(sum) = merged.whole.kernels.get_mut(id as usize) else { continue };
        let left_out = &mut merged.facts.from.left_out;
        let is_first = merged.met.insert(id);
        let definition = |kernel: &Kernel| (kernel.name.clone(), kernel.file.clone(), kernel.line);
        let (ours, theirs) = (definition(sum), definition(kernel));
        if theirs < ours {
            (sum.name, sum.file, sum.line) = theirs;
        }
        // The number is taken before the rows of these launches are added.
        let recorded = if is_first { 0 } else { sum.recorded_launches() };
        let recorded = recorded.saturating_add(kernel.recorded_launches());
        spreads::add(sum, kernel, left_out);
        add_spaces(&mut sum.metrics, &kernel.metrics);
        add_instructions(&mut sum.instructions, &kernel.instructions);
        let (slots, more) = (&mut sum.lane_slots, &kernel.lane_slots);
        slots.issued = slots.issued.saturating_add(more.issued);
        slots.active = slots.active.saturating_add(more.active);
        slots.lost_partial = slots.lost_partial.saturating_add(more.lost_partial);
        add_warp_blocks(&mut sum.warp_blocks, kernel.warp_blocks);
        for (model, traffic) in &kernel.host_memory {
            under(&mut sum.host_memory, model, |sum| add_dram(sum, traffic));
        }
        let launch_count = sum.launch_count.saturating_add(kernel.launch_count());
        launches::take(sum, kernel, ids, merged.facts.from.launches_in_groups);
        sum.launch_count = launch_count;
        sum.recorded_launches = Some(recorded).filter(|recorded| *recorded != sum.launch_count);
        sum.spill_bytes = sum.spill_bytes.max(kernel.spill_bytes);
        crate::merge::sums::tables::add(&mut sum.tables, &kernel.tables, left_out);
        for estimate in &kernel.estimates {
            match sum.estimates.iter_mut().find(|one| one.model == estimate.model) {
                Some(sum) => add_estimate(sum, estimate),
                None => sum.estimates.push(estimate.clone()),
            }
        }
        let interner = &mut merged.known.interner;
        if let Some(over) = merged.over.kernels.get_mut(id as usize) {
            over.add(kernel, ids.rank, |path| interner.path(path));
        }
        crate::merge::sums::whole::add(&mut sum.whole_run, kernel.whole_run.as_ref(), is_first);
        if is_first {
            (sum.bypass, sum.pages) = (kernel.bypass.clone(), kernel.pages.clone());
            continue;
        }
        if sum.bypass != kernel.bypass {
            sum.bypass = None;
            left_out.insert("advice on bypassing the L1 cache applies to one run only, and is not included".to_owned());
        }
        match (&mut sum.pages, &kernel.pages) {
            (Some(pages), Some(more)) if alike(pages, more) => add_pages(pages, more),
            (None, None) => {}
            (pages, _) => {
                *pages = None;
                left_out.insert("pages were not counted in the same way in all runs, and are not included".to_owned());
            }
        }
    }
}

fn alike(one: &PageMetrics, other: &PageMetrics) -> bool {
    let settings = |pages: &PageMetrics| (pages.page_bytes, pages.window_requests, pages.reach_bytes);
    settings(one) == settings(other)
}

fn add_pages(sum: &mut PageMetrics, more: &PageMetrics) {
    let pages = |pages: &PageMetrics| pages.sum.unwrap_or_else(|| Wide(whole(pages.mean * pages.windows as f64)));
    let all = pages(sum).plus(pages(more));
    let windows = sum.windows.saturating_add(more.windows);
    if windows > 0 {
        sum.mean = nine_digits(all.0 as f64 / windows as f64);
    }
    (sum.sum, sum.windows) = (Some(all), windows);
    sum.most = sum.most.max(more.most);
    sum.distinct = sum.distinct.saturating_add(more.distinct);
    sum.beyond_reach = sum.beyond_reach.zip(more.beyond_reach).map(|(one, other)| one.saturating_add(other));
}
