//! Launches of a kernel: how they fill the GPU, the cost of their starts, and whether they could be merged.

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
    /// Grid of the largest launch.
    pub grid: [u32; 3],
    /// Number of blocks of the largest launch.
    pub blocks: u64,
    pub sms: u64,
    /// Share of the SMs without a block.
    pub idle: f64,
    /// Share of the kernel in the time of all kernels.
    pub of_time: f64,
    pub count: u64,
    /// Estimated seconds of one launch.
    pub each: f64,
    /// Number of blocks that can be resident on the GPU at the same time.
    at_once: u64,
    pub structure: Structure,
}

/// Dependences between the launches, and between the number of blocks and the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// All launches write different memory, so they could be one launch with this number of blocks.
    Independent(u64),
    /// All launches write different memory, but some may load data that others wrote.
    Dependent,
    /// A single block completes the work of another kernel.
    LastStep,
    /// Threads iterate with a stride of the grid's size, so any number of blocks can do the work.
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

    /// Returns whether the launches are many and take less time than their starts, independent of how they fill the
    /// GPU. The finding `launch-overhead` is about such launches, and `small-launch` is about the others.
    pub fn are_starts(&self) -> bool {
        self.count >= MANY_LAUNCHES && self.each < SECONDS_PER_LAUNCH && self.blocks <= self.at_once
    }

    /// Returns the time in seconds of the launches' starts.
    pub fn start_seconds(&self) -> f64 {
        self.count as f64 * SECONDS_PER_LAUNCH
    }

    /// Returns the gain if the blocks are distributed over more SMs: the limits that exist per SM shrink
    /// proportionally.
    pub fn gain_of_more_sms(&self) -> Option<Gain> {
        let &Launches { kernel, blocks, sms, structure, .. } = self;
        // A warp cannot be divided, and threads that cooperate stay in one block.
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
        // A launch that takes less time than its start has no measurable gain.
        let is_measurable = matches!(structure, Structure::Independent(_)) || self.each >= SECONDS_PER_LAUNCH;
        gain_of(slowest(1.0), slowest(factor), estimate.seconds).filter(|_| is_measurable)
    }
}

/// Returns the first structure that applies.
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

/// Returns whether all launches have one block, whose threads together process data that another kernel has written.
/// Such a launch is the last step of that kernel.
fn is_last_step(facts: &Facts<'_>, kernel: &Kernel, largest: [u32; 3]) -> bool {
    let stores = |access: &Access<'_>| !access.is_load();
    // Numbers of bytes that the kernel loads from and stores to each allocation.
    let mut moved: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for access in facts.accesses_of(kernel.id, "global") {
        let Some(id) = access.allocation else { continue };
        let (loaded, stored) = moved.entry(id).or_default();
        let bytes = if stores(access) { stored } else { loaded };
        *bytes = bytes.saturating_add(access.sums.bytes);
    }
    // Data that is changed in place, such as the first tile of a matrix, is used by later kernels. A reduction stores
    // less data than it loads.
    let is_made_less =
        |id| moved.get(&id).is_some_and(|&(loaded, stored)| loaded > stored.saturating_mul(LEAST_REDUCTION));
    let is_written = |other: &Access<'_>| {
        other.kernel.id != kernel.id && stores(other) && other.allocation.is_some_and(is_made_less)
    };
    largest == [1; 3] && is_together(kernel) && facts.accesses.iter().any(is_written)
}

/// Returns whether the threads of a block cooperate, so that they cannot be distributed over several blocks.
pub fn is_together(kernel: &Kernel) -> bool {
    kernel.metrics.contains_key("shared") || kernel.instructions.get("barrier").is_some_and(|count| count.warps > 0)
}

/// Returns whether the launches have so little work that distributing it over blocks or threads has no benefit.
pub fn is_next_to_nothing(kernel: &Kernel) -> bool {
    let seconds = kernel.estimates.first().map(|estimate| estimate.seconds);
    let start = kernel.launch_count().max(1) as f64 * SECONDS_PER_LAUNCH;
    seconds.is_some_and(|seconds| seconds < LEAST_OF_START * start)
}

/// Returns the source position of the kernel's launch.
pub fn launch_line(kernel: &Kernel) -> Option<&Frame> {
    let group = || kernel.launch_groups.first().and_then(|group| innermost(&group.path));
    kernel.launches.first().and_then(|launch| innermost(&launch.path)).or_else(group)
}

/// Formats sizes as `256` or `4 x 4`.
pub fn shape(sizes: [u32; 3]) -> String {
    let used = sizes.iter().rposition(|&size| size > 1).map_or(1, |last| last + 1);
    let sizes: Vec<String> = sizes[..used].iter().map(u32::to_string).collect();
    sizes.join(" x ")
}
