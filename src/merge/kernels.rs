//! Kernels, with their launches and estimates.

use rustc_hash::FxHashMap;

use super::ids::Ids;
use super::merger::Merged;
use super::metrics::{add_dram, add_spaces, under, whole};
use super::over_ranks::{Figures, Other, RowOver, add_figures, figures};
use super::{launches, settle, spreads};
use crate::profile::Profile;
use crate::profile::model::{
    Estimate, EstimateExact, Frame, InstructionCount, Instructions, Kernel, Limit, PageMetrics, Spaces, WarpBlocks,
    Wide,
};
use crate::profile::nine_digits;

/// What is followed of a kernel from rank to rank.
#[derive(Debug, Default)]
pub(super) struct KernelOver {
    pub(super) own: RowOver,
    /// By host call path.
    paths: FxHashMap<u32, usize>,
    pub(super) by_path: Vec<(Vec<Frame>, RowOver)>,
}

/// Gives a profile's kernels their numbers.
pub(super) fn number(merged: &mut Merged, profile: &Profile, ids: &mut Ids) {
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
        tables: Vec::new(),
        whole_run: None,
        // Allocations have other numbers now; `predict` takes one of the profiles.
        addresses: None,
        over_ranks: Default::default(),
        paths_over_ranks: Vec::new(),
        exact: Default::default(),
    }
}

/// Adds a profile's kernels.
pub(super) fn take(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let mut taken = std::collections::BTreeSet::new();
    for kernel in &profile.kernels {
        // Rows name kernels by their numbers; where two share one, the first is meant.
        let Some(&id) = ids.kernels.get(&kernel.id).filter(|_| taken.insert(kernel.id)) else { continue };
        let Some(sum) = merged.whole.kernels.get_mut(id as usize) else { continue };
        let left_out = &mut merged.facts.from.left_out;
        let is_first = merged.met.insert(id);
        let definition = |kernel: &Kernel| (kernel.name.clone(), kernel.file.clone(), kernel.line);
        let (ours, theirs) = (definition(sum), definition(kernel));
        if theirs < ours {
            (sum.name, sum.file, sum.line) = theirs;
        }
        // Before there are rows of launches that are not counted yet.
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
        super::tables::add(&mut sum.tables, &kernel.tables, left_out);
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
        super::whole::add(&mut sum.whole_run, kernel.whole_run.as_ref(), is_first);
        if is_first {
            (sum.bypass, sum.pages) = (kernel.bypass.clone(), kernel.pages.clone());
            continue;
        }
        if sum.bypass != kernel.bypass {
            sum.bypass = None;
            left_out.insert("advice on bypassing the L1 cache is of one run each, and is left out".to_owned());
        }
        match (&mut sum.pages, &kernel.pages) {
            (Some(pages), Some(more)) if alike(pages, more) => add_pages(pages, more),
            (None, None) => {}
            (pages, _) => {
                *pages = None;
                left_out.insert("pages were not counted alike in all runs, and are left out".to_owned());
            }
        }
    }
}

impl KernelOver {
    fn add(&mut self, kernel: &Kernel, rank: Option<u32>, mut number: impl FnMut(&[Frame]) -> u32) {
        self.own.add_merged(&kernel.over_ranks);
        for row in &kernel.paths_over_ranks {
            self.path(number(&row.path), &row.path).add_merged(&row.over_ranks);
        }
        let Some(rank) = rank else { return };
        self.own.add_spaces(&kernel.metrics, rank);
        self.own.add_other(Other::Launches, kernel.launch_count(), rank);
        if let Some(estimate) = kernel.estimates.first() {
            let picoseconds = u64::try_from(whole(estimate.seconds * 1e12)).unwrap_or(u64::MAX);
            self.own.add_other(Other::Picoseconds, picoseconds, rank);
        }
        // Of each path once, however many launches it has.
        let mut of_paths: Vec<OfPath<'_>> = Vec::new();
        let alone = kernel.launches.iter().map(|launch| (&launch.path, 1, &launch.metrics));
        let grouped = kernel.launch_groups.iter().map(|group| (&group.path, group.launches, &group.metrics));
        for (path, launches, metrics) in alone.chain(grouped).filter(|(path, ..)| !path.is_empty()) {
            let path_number = number(path);
            let known = of_paths.iter_mut().find(|row| row.number == path_number);
            let row = match known {
                Some(row) => row,
                None => {
                    of_paths.push(OfPath { number: path_number, path, launches: 0, spaces: Vec::new() });
                    let Some(row) = of_paths.last_mut() else { continue };
                    row
                }
            };
            row.launches = row.launches.saturating_add(launches);
            row.add(metrics);
        }
        for row in of_paths {
            let over = self.path(row.number, row.path);
            for (space, figures) in &row.spaces {
                over.add_space(space, figures, rank);
            }
            over.add_other(Other::Launches, row.launches, rank);
        }
    }

    fn path(&mut self, number: u32, path: &[Frame]) -> &mut RowOver {
        let place = *self.paths.entry(number).or_insert(self.by_path.len());
        if place == self.by_path.len() {
            self.by_path.push((path.to_vec(), RowOver::default()));
        }
        &mut self.by_path[place].1
    }
}

/// Launches of one rank from one call path.
struct OfPath<'a> {
    number: u32,
    path: &'a [Frame],
    launches: u64,
    spaces: Vec<(&'a str, Figures)>,
}

impl<'a> OfPath<'a> {
    fn add(&mut self, metrics: &'a Spaces) {
        for (space, metrics) in metrics {
            let more = figures(metrics);
            match self.spaces.iter_mut().find(|(known, _)| known == space) {
                Some((_, sum)) => add_figures(sum, &more),
                None => self.spaces.push((space, more)),
            }
        }
    }
}

pub(super) fn add_instructions(sum: &mut Instructions, more: &Instructions) {
    for (class, count) in more {
        under(sum, class, |InstructionCount { warps, lanes }| {
            *warps = warps.saturating_add(count.warps);
            *lanes = lanes.saturating_add(count.lanes);
        });
    }
}

pub(super) fn add_warp_blocks(sum: &mut Option<WarpBlocks>, more: Option<WarpBlocks>) {
    let Some(more) = more else { return };
    let sum = sum.get_or_insert_default();
    sum.count = sum.count.saturating_add(more.count);
    sum.divergent = sum.divergent.saturating_add(more.divergent);
    sum.partial = sum.partial.saturating_add(more.partial);
}

/// Times and amounts of launches add up; the slowest part may be another one then, which [`settle_estimate`] tells. Times are
/// summed in femtoseconds, so that the order does not matter.
fn add_estimate(sum: &mut Estimate, more: &Estimate) {
    let mut ours = sum.exact.take().unwrap_or_else(|| exact(sum));
    let add = |to: &mut std::collections::BTreeMap<String, Wide>, name: &str, time: Wide| {
        under(to, name, |sum| *sum = sum.plus(time));
    };
    match &more.exact {
        Some(theirs) => {
            ours.femtoseconds = ours.femtoseconds.plus(theirs.femtoseconds);
            theirs.limits.iter().for_each(|(name, time)| add(&mut ours.limits, name, *time));
            theirs.ideal.iter().for_each(|(name, time)| add(&mut ours.ideal, name, *time));
        }
        None => {
            ours.femtoseconds = ours.femtoseconds.plus(femtoseconds(more.seconds));
            more.limits.iter().for_each(|limit| add(&mut ours.limits, &limit.name, femtoseconds(limit.seconds)));
            add(&mut ours.ideal, &more.ideal.limiter, femtoseconds(more.ideal.seconds));
        }
    }
    (sum.exact, sum.seconds) = (Some(ours), settle::LATER);
    sum.launches = sum.launches.saturating_add(more.launches);
    let (bytes, added) = (&mut sum.bytes, &more.bytes);
    bytes.l1 = bytes.l1.saturating_add(added.l1);
    bytes.l2 = bytes.l2.saturating_add(added.l2);
    bytes.dram = bytes.dram.saturating_add(added.dram);
    bytes.bus = bytes.bus.saturating_add(added.bus);
    for limit in &more.limits {
        match sum.limits.iter_mut().find(|one| one.name == limit.name) {
            Some(Limit { amount, .. }) => *amount = amount.saturating_add(limit.amount),
            None => sum.limits.push(limit.clone()),
        }
    }
    for name in &more.unknown {
        if !sum.unknown.contains(name) {
            sum.unknown.push(name.clone());
        }
    }
}

/// What follows from an estimate's sums.
pub(super) fn settle_estimate(sum: &mut Estimate) {
    let Some(exact) = sum.exact.as_ref().filter(|_| settle::is_open(sum.seconds)) else { return };
    sum.seconds = seconds(exact.femtoseconds);
    let time = |name: &str| exact.limits.get(name).copied().unwrap_or_default();
    for limit in &mut sum.limits {
        limit.seconds = seconds(time(&limit.name));
    }
    sum.limits.sort_by(|one, other| time(&other.name).cmp(&time(&one.name)).then_with(|| one.name.cmp(&other.name)));
    if let Some(slowest) = sum.limits.first() {
        sum.limiter.clone_from(&slowest.name);
    }
    sum.unknown.sort();
    sum.unknown.dedup();
    let ideal = &mut sum.ideal;
    // The one that limits for the longest time; of equals the first by name.
    let longest = exact.ideal.iter().max_by(|one, other| one.1.cmp(other.1).then_with(|| other.0.cmp(one.0)));
    if let Some((limiter, _)) = longest {
        ideal.limiter.clone_from(limiter);
    }
    ideal.seconds = seconds(exact.ideal.values().fold(Wide(0), |sum, time| sum.plus(*time)));
    ideal.gain = nine_digits(if ideal.seconds > 0.0 { sum.seconds / ideal.seconds } else { 1.0 });
}

fn femtoseconds(seconds: f64) -> Wide {
    Wide(whole(seconds * 1e15))
}

/// The times of a run's estimate in whole femtoseconds.
fn exact(estimate: &Estimate) -> EstimateExact {
    let limits = estimate.limits.iter().map(|limit| (limit.name.clone(), femtoseconds(limit.seconds)));
    EstimateExact {
        femtoseconds: femtoseconds(estimate.seconds),
        limits: limits.collect(),
        ideal: [(estimate.ideal.limiter.clone(), femtoseconds(estimate.ideal.seconds))].into(),
    }
}

fn seconds(femtoseconds: Wide) -> f64 {
    nine_digits(femtoseconds.0 as f64 / 1e15)
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
