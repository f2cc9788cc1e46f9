//! Launches of a kernel: how they fill the GPU, what their starts cost, and whether they could be one.

mod merging;
mod steps;

use super::super::gain::{OF_ALL_SMS, gain_of};
use super::super::prelude::*;
use super::super::thresholds::launches::*;
use std::collections::BTreeMap;
use warpline_profile::SECONDS_PER_LAUNCH;

/// Launches of a kernel.
pub struct Launches<'a> {
    pub kernel: &'a Kernel,
    /// Of the largest.
    pub grid: [u32; 3],
    /// Of the largest.
    pub blocks: u64,
    pub sms: u64,
    /// Share of the SMs that have no block.
    pub idle: f64,
    /// The kernel's share of the time of all.
    pub of_time: f64,
    pub count: u64,
    /// Seconds of one, by the estimate.
    pub each: f64,
    /// Blocks that the GPU holds at a time.
    at_once: u64,
    pub structure: Structure,
}

/// How launches depend on each other, and blocks on the launch's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// All write different memory: they could be one of so many blocks.
    Independent(u64),
    /// The same, but some may load what others wrote.
    Dependent,
    /// One block ends what another kernel has begun.
    LastStep,
    /// Threads step by the grid's size: any number of blocks does the work.
    GridStride,
    /// The size of the problem determines the number of blocks.
    Other,
}

impl<'a> Launches<'a> {
    pub fn new(facts: &Facts<'a>, kernel: &'a Kernel) -> Option<Launches<'a>> {
        let sms = u64::from(facts.rates?.sms);
        let size = |grid: &[u32; 3]| grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
        let grouped = kernel.launch_groups.iter().filter_map(|group| group.grid);
        let grid = kernel.launches.iter().map(|launch| launch.grid).chain(grouped).max_by_key(size)?;
        let (blocks, count) = (size(&grid), kernel.launch_count().max(1));
        let resident = kernel.launches.first().map_or(1, |launch| launch.resident_blocks);
        let launches = Launches {
            kernel,
            grid,
            blocks,
            sms,
            idle: 1.0 - blocks as f64 / sms as f64,
            of_time: facts.kernel_share(kernel),
            count,
            each: facts.estimate(kernel)?.seconds / count as f64,
            at_once: sms.saturating_mul(resident.max(1).into()),
            structure: Structure::Other,
        };
        (sms != 0).then(|| Launches { structure: structure(facts, &launches), ..launches })
    }

    /// Returns whether the launches are many and take less than their starts, whatever they fill: `launch-overhead` is
    /// about these, and `small-launch` about the others.
    pub fn are_starts(&self) -> bool {
        self.count >= MANY_LAUNCHES && self.each < SECONDS_PER_LAUNCH && self.blocks <= self.at_once
    }

    /// Seconds of their starts.
    pub fn start_seconds(&self) -> f64 {
        self.count as f64 * SECONDS_PER_LAUNCH
    }

    /// Gain of more SMs: the parts that each has for itself are as much faster.
    pub fn gain_of_more_sms(&self) -> Option<Gain> {
        let &Launches { kernel, blocks, sms, structure, .. } = self;
        // A warp is not divided, and threads that work together stay in one block.
        let warps = if is_together(kernel) { blocks } else { blocks.saturating_mul(warps_of_block(kernel)) };
        let (reached, before) = match structure {
            Structure::Dependent => return None,
            // Launches of several sizes take as long as one of their blocks each.
            Structure::Independent(all) => (sms.min(all), (all as f64 / self.count as f64).min(sms as f64)),
            Structure::GridStride => (sms, blocks as f64),
            Structure::LastStep | Structure::Other => (sms.min(warps).max(blocks), blocks as f64),
        };
        let factor = reached as f64 / before;
        let estimate = kernel.estimates.first()?;
        let slowest = |factor: f64| {
            let of_limit =
                |name: &str, seconds: f64| if OF_ALL_SMS.contains(&name) { seconds } else { seconds / factor };
            estimate.limits.iter().map(|limit| of_limit(&limit.name, limit.seconds)).fold(0.0, f64::max)
        };
        // What is shorter than a launch takes anyway gains nothing that could be measured.
        let is_measurable = matches!(structure, Structure::Independent(_)) || self.each >= SECONDS_PER_LAUNCH;
        gain_of(slowest(1.0), slowest(factor), estimate.seconds).filter(|_| is_measurable)
    }
}

/// Returns the first that fits.
fn structure(facts: &Facts<'_>, launches: &Launches<'_>) -> Structure {
    let &Launches { kernel, grid, blocks, sms, of_time, each, .. } = launches;
    let is_last = || is_last_step(facts, kernel, grid);
    let merged = merging::blocks_of_all(facts, kernel).filter(|&all| all > blocks);
    match merged {
        Some(_) if merging::loads_what_it_stores(facts, kernel) => Structure::Dependent,
        Some(all) => Structure::Independent(all),
        None if each < LEAST_LAUNCH_SECONDS && is_last() => Structure::LastStep,
        None if blocks < sms && steps::by_grid(facts, kernel) => Structure::GridStride,
        None if of_time < MOST_OF_LAST_STEP && is_last() => Structure::LastStep,
        None => Structure::Other,
    }
}

/// Returns whether all launches have one block, whose threads work together on what another kernel has written: its
/// last step.
fn is_last_step(facts: &Facts<'_>, kernel: &Kernel, largest: [u32; 3]) -> bool {
    let stores = |access: &Access<'_>| !access.is_load();
    // Bytes that the kernel loads from each allocation and stores there.
    let mut moved: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for access in facts.accesses_of(kernel.id, "global") {
        let Some(id) = access.allocation else { continue };
        let (loaded, stored) = moved.entry(id).or_default();
        let bytes = if stores(access) { stored } else { loaded };
        *bytes = bytes.saturating_add(access.sums.bytes);
    }
    // What it changes in place, as the first tile of a matrix, others continue with; a sum is less than what it is made
    // of.
    let is_made_less =
        |id| moved.get(&id).is_some_and(|&(loaded, stored)| loaded > stored.saturating_mul(LEAST_REDUCTION));
    let is_written = |other: &Access<'_>| {
        other.kernel.id != kernel.id && stores(other) && other.allocation.is_some_and(is_made_less)
    };
    largest == [1; 3] && is_together(kernel) && facts.accesses.iter().any(is_written)
}

/// Returns whether the threads of a block work with one another, so that they cannot be spread over several blocks.
pub fn is_together(kernel: &Kernel) -> bool {
    kernel.metrics.contains_key("shared") || kernel.instructions.get("barrier").is_some_and(|count| count.warps > 0)
}

/// Returns whether the launches take so little that there is nothing to spread, or to share among threads.
pub fn is_next_to_nothing(kernel: &Kernel) -> bool {
    let seconds = kernel.estimates.first().map(|estimate| estimate.seconds);
    let start = kernel.launch_count().max(1) as f64 * SECONDS_PER_LAUNCH;
    seconds.is_some_and(|seconds| seconds < LEAST_OF_START * start)
}

/// Where the kernel is launched.
pub fn launch_line(kernel: &Kernel) -> Option<&Frame> {
    let group = || kernel.launch_groups.first().and_then(|group| innermost(&group.path));
    kernel.launches.first().and_then(|launch| innermost(&launch.path)).or_else(group)
}

/// `256`, `4 x 4`.
pub fn shape(sizes: [u32; 3]) -> String {
    let used = sizes.iter().rposition(|&size| size > 1).map_or(1, |last| last + 1);
    let sizes: Vec<String> = sizes[..used].iter().map(u32::to_string).collect();
    sizes.join(" x ")
}
