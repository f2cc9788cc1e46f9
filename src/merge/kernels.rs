//! Kernels, with their launches and estimates.

use super::Merged;
use super::ids::Ids;
use super::metrics::{add_dram, add_spaces};
use crate::profile::Profile;
use crate::profile::model::{Estimate, InstructionCount, Instructions, Kernel, Limit, PageMetrics, WarpBlocks};
use crate::profile::nine_digits;

/// Gives a profile's kernels their numbers.
pub(super) fn number(merged: &mut Merged, profile: &Profile, ids: &mut Ids) {
    for kernel in &profile.kernels {
        if ids.kernels.contains_key(&kernel.id) {
            continue;
        }
        let kernels = &mut merged.whole.kernels;
        let key = (kernel.module.clone(), kernel.mangled.clone());
        let place = merged.known.kernels.place(key, kernels.len());
        if place == kernels.len() {
            kernels.push(Kernel { id: place as u32, ..blank(kernel) });
        }
        ids.kernels.insert(kernel.id, place as u32);
    }
}

/// A kernel with nothing counted yet.
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
        // Allocations have other numbers now; `predict` takes one of the profiles.
        addresses: None,
    }
}

/// Adds a profile's kernels.
pub(super) fn take(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let mut taken = std::collections::BTreeSet::new();
    for kernel in &profile.kernels {
        // Rows name kernels by their numbers; where two share one, the first is meant.
        let Some(&id) = ids.kernels.get(&kernel.id).filter(|_| taken.insert(kernel.id)) else { continue };
        let Some(sum) = merged.whole.kernels.get_mut(id as usize) else { continue };
        let is_first = sum.launch_count == 0;
        // Before there are rows of launches that are not counted yet.
        let recorded = if is_first { 0 } else { sum.recorded_launches() };
        let recorded = recorded.saturating_add(kernel.recorded_launches());
        add_spaces(&mut sum.metrics, &kernel.metrics);
        add_instructions(&mut sum.instructions, &kernel.instructions);
        let (slots, more) = (&mut sum.lane_slots, &kernel.lane_slots);
        slots.issued = slots.issued.saturating_add(more.issued);
        slots.active = slots.active.saturating_add(more.active);
        slots.lost_partial = slots.lost_partial.saturating_add(more.lost_partial);
        add_warp_blocks(&mut sum.warp_blocks, kernel.warp_blocks);
        for (model, traffic) in &kernel.host_memory {
            add_dram(sum.host_memory.entry(model.clone()).or_default(), traffic);
        }
        sum.launches.extend(kernel.launches.iter().map(|launch| {
            let mut launch = launch.clone();
            launch.id = ids.launch(launch.id);
            launch.arguments.clear();
            launch
        }));
        sum.launch_groups.extend(kernel.launch_groups.iter().map(|group| {
            let mut group = group.clone();
            (group.first, group.last) = (ids.launch(group.first), ids.launch(group.last));
            group
        }));
        sum.launch_count = sum.launch_count.saturating_add(kernel.launch_count());
        sum.recorded_launches = Some(recorded).filter(|recorded| *recorded != sum.launch_count);
        sum.spill_bytes = sum.spill_bytes.max(kernel.spill_bytes);
        for estimate in &kernel.estimates {
            match sum.estimates.iter_mut().find(|one| one.model == estimate.model) {
                Some(sum) => add_estimate(sum, estimate),
                None => sum.estimates.push(estimate.clone()),
            }
        }
        if is_first {
            (sum.bypass, sum.pages) = (kernel.bypass.clone(), kernel.pages.clone());
            continue;
        }
        if sum.bypass != kernel.bypass {
            sum.bypass = None;
            merged.notes.insert("advice on bypassing the L1 cache is of one run each, and is left out");
        }
        match (&mut sum.pages, &kernel.pages) {
            (Some(pages), Some(more)) if alike(pages, more) => add_pages(pages, more),
            (None, None) => {}
            (pages, _) => {
                *pages = None;
                merged.notes.insert("pages were not counted alike in all runs, and are left out");
            }
        }
    }
}

pub(super) fn add_instructions(sum: &mut Instructions, more: &Instructions) {
    for (class, count) in more {
        let InstructionCount { warps, lanes } = sum.entry(class.clone()).or_default();
        *warps = warps.saturating_add(count.warps);
        *lanes = lanes.saturating_add(count.lanes);
    }
}

pub(super) fn add_warp_blocks(sum: &mut Option<WarpBlocks>, more: Option<WarpBlocks>) {
    let Some(more) = more else { return };
    let sum = sum.get_or_insert_default();
    sum.count = sum.count.saturating_add(more.count);
    sum.divergent = sum.divergent.saturating_add(more.divergent);
    sum.partial = sum.partial.saturating_add(more.partial);
}

/// Times and amounts of launches add up; the slowest part may be another one then.
fn add_estimate(sum: &mut Estimate, more: &Estimate) {
    sum.launches = sum.launches.saturating_add(more.launches);
    sum.seconds = nine_digits(sum.seconds + more.seconds);
    let (bytes, added) = (&mut sum.bytes, &more.bytes);
    bytes.l1 = bytes.l1.saturating_add(added.l1);
    bytes.l2 = bytes.l2.saturating_add(added.l2);
    bytes.dram = bytes.dram.saturating_add(added.dram);
    bytes.bus = bytes.bus.saturating_add(added.bus);
    for limit in &more.limits {
        match sum.limits.iter_mut().find(|one| one.name == limit.name) {
            Some(Limit { amount, seconds, .. }) => {
                *amount = amount.saturating_add(limit.amount);
                *seconds = nine_digits(*seconds + limit.seconds);
            }
            None => sum.limits.push(limit.clone()),
        }
    }
    sum.limits.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    if let Some(slowest) = sum.limits.first() {
        sum.limiter = slowest.name.clone();
    }
    for name in &more.unknown {
        if !sum.unknown.contains(name) {
            sum.unknown.push(name.clone());
        }
    }
    let (ideal, added) = (&mut sum.ideal, &more.ideal);
    if added.seconds > ideal.seconds {
        ideal.limiter = added.limiter.clone();
    }
    ideal.seconds = nine_digits(ideal.seconds + added.seconds);
    ideal.gain = nine_digits(if ideal.seconds > 0.0 { sum.seconds / ideal.seconds } else { 1.0 });
}

fn alike(one: &PageMetrics, other: &PageMetrics) -> bool {
    let settings = |pages: &PageMetrics| (pages.page_bytes, pages.window_requests, pages.reach_bytes);
    settings(one) == settings(other)
}

fn add_pages(sum: &mut PageMetrics, more: &PageMetrics) {
    let windows = sum.windows.saturating_add(more.windows);
    if windows > 0 {
        let pages = sum.mean * sum.windows as f64 + more.mean * more.windows as f64;
        sum.mean = nine_digits(pages / windows as f64);
    }
    sum.windows = windows;
    sum.most = sum.most.max(more.most);
    sum.distinct = sum.distinct.saturating_add(more.distinct);
    sum.beyond_reach = sum.beyond_reach.zip(more.beyond_reach).map(|(one, other)| one.saturating_add(other));
}
