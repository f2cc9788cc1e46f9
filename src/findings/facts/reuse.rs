//! Data that a kernel loads into L1 repeatedly, and the finding that reports it.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;
use super::super::thresholds::reuse::*;
use super::eviction::{Evicted, evicted};
use super::index;
use super::staging::is_staged;
use std::cmp::Reverse;

/// Reasons why data is loaded repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The loads bypass L1.
    PastL1,
    /// Many blocks stage the data in shared memory, or blocks stage it in small tiles.
    Staged,
    /// A block loads the data repeatedly.
    ByBlock,
    /// Each of several blocks loads the data.
    ByEachBlock,
    /// The data is loaded from L1, which limits the kernel.
    FromL1,
}

/// Loads of an allocation by the kernel that loads it most often from L2.
pub struct Reloaded<'f, 'a> {
    pub worst: &'f Access<'a>,
    pub why: Again,
    /// Number of loaded bytes per touched byte in a launch.
    pub times: f64,
    pub loaded_bytes: u64,
    /// Number of bytes that would be loaded if each byte were loaded once per launch.
    pub once_bytes: u64,
    pub hit_rate: f64,
}

/// The finding that reports a load whose data is loaded repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// L1 evicts the data between uses.
    Eviction,
    /// Blocks could keep the data.
    Reload,
}

type Condition = fn(Option<&Reloaded<'_, '_>>, Option<&Evicted<'_, '_>>) -> bool;

/// Conditions for one load; the first condition that is true applies.
const ORDER: &[(Condition, Reuse)] = &[
    // The streaming load is the access to change.
    (|_, evicted| evicted.is_some_and(|it| it.stream.is_some()), Reuse::Eviction),
    // A tile that a block keeps is a larger change than a smaller tile.
    (|reloaded, _| reloaded.is_some_and(|it| !matches!(it.why, Again::PastL1 | Again::Staged)), Reuse::Reload),
    (|_, evicted| evicted.is_some(), Reuse::Eviction),
    (|reloaded, _| reloaded.is_some(), Reuse::Reload),
];

fn reuse(reloaded: Option<&Reloaded<'_, '_>>, evicted: Option<&Evicted<'_, '_>>) -> Option<Reuse> {
    ORDER.iter().find(|(condition, _)| condition(reloaded, evicted)).map(|(_, reuse)| *reuse)
}

/// Returns all reloads that a finding reports.
pub fn reloads<'f, 'a>(facts: &'f Facts<'a>) -> impl Iterator<Item = Reloaded<'f, 'a>> {
    let all = facts.profile.allocations.iter().filter_map(move |one| reloaded(facts, one));
    all.filter(move |it| {
        let evicted = evicted(facts, it.worst.kernel).filter(|one| std::ptr::eq(one.worst, it.worst));
        reuse(Some(it), evicted.as_ref()) == Some(Reuse::Reload)
    })
}

/// Returns all evictions that a finding reports.
pub fn evictions<'f, 'a>(facts: &'f Facts<'a>) -> impl Iterator<Item = Evicted<'f, 'a>> {
    let all = facts.profile.kernels.iter().filter_map(move |kernel| evicted(facts, kernel));
    all.filter(move |it| {
        let allocation = facts.memory(it.worst);
        let reloaded = allocation.and_then(|one| reloaded(facts, one)).filter(|one| std::ptr::eq(one.worst, it.worst));
        reuse(reloaded.as_ref(), Some(it)) == Some(Reuse::Eviction)
    })
}

fn reloaded<'f, 'a>(facts: &'f Facts<'a>, allocation: &Allocation) -> Option<Reloaded<'f, 'a>> {
    if allocation.touched_bytes < LEAST_RELOADED_BYTES {
        return None;
    }
    let l2 = |row: &&ByKernel| row.metrics.l2.as_ref().map_or(0, |level| level.load_lookups);
    let row = allocation.by_kernel.iter().max_by_key(l2)?;
    let kernel = facts.profile.kernels.iter().find(|kernel| kernel.id == row.kernel)?;
    let l1 = row.metrics.l1.as_ref()?;
    let hit_rate = share(l1.load_hits, l1.load_lookups);
    let once_bytes = allocation.touched_bytes.saturating_mul(launches_with(allocation, kernel));
    let loaded_bytes = row.metrics.l2.as_ref()?.load_lookups.saturating_mul(facts.l2_lookup_bytes());
    let times = share(loaded_bytes, once_bytes);
    let loads = facts
        .accesses_of(kernel.id, "global")
        .filter(|access| access.is_load() && access.allocation == Some(allocation.id));
    if times < LEAST_RELOADS || hit_rate > MOST_RELOAD_HITS {
        let worst = loads.max_by_key(|access| (access.sums.requests, Reverse((access.line, access.column))))?;
        let times = share(row.metrics.sectors.saturating_mul(SECTOR_BYTES), once_bytes);
        let is_meant =
            times >= LEAST_L1_RELOADS && is_limited_by_l1(facts, kernel) && worst.sums.excess_share() < MOST_L1_EXCESS;
        return is_meant.then_some(Reloaded { worst, why: Again::FromL1, times, loaded_bytes, once_bytes, hit_rate });
    }
    let worst = loads.max_by_key(|access| (access.sums.l2_load_lookups, Reverse((access.line, access.column))))?;
    let why = classify(facts, worst, row, times)?;
    Some(Reloaded { worst, why, times, loaded_bytes, once_bytes, hit_rate })
}

/// Returns why data is loaded from L2 repeatedly; `None` if another finding reports it, or if no data could be shared.
fn classify(facts: &Facts<'_>, worst: &Access<'_>, row: &ByKernel, times: f64) -> Option<Again> {
    let is_irregular = share(worst.pattern.irregular, worst.pattern.requests) >= MOST_IRREGULAR;
    // A thread that follows links waits for each element before it can load the next one.
    let is_followed = worst.sums.lanes == worst.sums.requests && index::is_followed(worst);
    if worst.sums.excess_share() >= MOST_EXCESS || is_irregular || is_followed {
        return None;
    }
    if worst.past_l1 {
        return Some(Again::PastL1);
    }
    let kernel = worst.kernel;
    let of_launch = blocks(kernel) as f64 / kernel.launch_count().max(1) as f64;
    let is_by_block = is_by_block(row, times, of_launch);
    // Blocks that run at the same time on different SMs each need the data.
    if !is_by_block && facts.rates.is_some_and(|rates| of_launch <= f64::from(rates.sms)) {
        return None;
    }
    Some(match (is_staged(facts, worst, NEAR_LINES), is_by_block) {
        (true, _) => Again::Staged,
        (false, true) => Again::ByBlock,
        (false, false) => Again::ByEachBlock,
    })
}

/// Returns whether the same block loads data repeatedly, rather than successive blocks. Either the data is loaded more
/// often than there are blocks, or most reuse distances exceed L1.
fn is_by_block(row: &ByKernel, times: f64, blocks: f64) -> bool {
    let sectors = row.metrics.reuse.as_ref().map(|reuse| &reuse.sector);
    let again = sectors.and_then(|sectors| Some((sectors.beyond?.l1, sectors.infinite)));
    times > MORE_THAN_ONCE * blocks || again.is_some_and(|(again, first)| again > first)
}

/// Returns whether L1 limits a kernel whose requests are mostly loads from global memory.
fn is_limited_by_l1(facts: &Facts<'_>, kernel: &Kernel) -> bool {
    let limiter = kernel.estimates.first().map_or("", |estimate| &estimate.limiter[..]);
    matches!(limiter, "l1_lanes" | "l1_data" | "l1_tag") && load_share(facts, kernel) >= LEAST_LOAD_SHARE
}

/// Returns the share of a kernel's requests that are loads from global memory.
pub fn load_share(facts: &Facts<'_>, kernel: &Kernel) -> f64 {
    let loads = facts.loads_of(kernel.id);
    share(loads.map(|access| access.sums.requests).total(), facts.requests(kernel))
}

/// Returns the number of launches that may have loaded the allocation: at most the launches during its lifetime, and at
/// most the launches that received it as an argument.
fn launches_with(allocation: &Allocation, kernel: &Kernel) -> u64 {
    if allocation.count > 1 {
        return kernel.launch_count().max(1);
    }
    let lived = allocation.lifetime.as_ref();
    let span = lived.and_then(|lived| Some(lived.last_launch?.saturating_sub(lived.first_launch)));
    let is_it = |launch: &&Launch| launch.arguments.iter().any(|argument| argument.allocation == Some(allocation.id));
    let given = kernel.launches.iter().filter(is_it).count() as u64;
    // A kernel may also receive the pointer indirectly.
    let are_known = given > 0 && kernel.launches.len() as u64 == kernel.launch_count();
    let given = if are_known { given } else { u64::MAX };
    kernel.launch_count().min(span.unwrap_or(u64::MAX)).min(given).max(1)
}
