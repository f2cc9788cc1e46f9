//! Data that the loads of a kernel bring to L1 again, and which finding is about it.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;
use super::super::thresholds::reuse::*;
use super::eviction::{Evicted, evicted};
use super::index;
use super::staging::is_staged;
use std::cmp::Reverse;

/// Why data comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Its loads go past L1.
    PastL1,
    /// It is staged in shared memory, by many blocks or in small tiles.
    Staged,
    /// A block loads it again.
    ByBlock,
    /// Each of several blocks loads it.
    ByEachBlock,
    /// It comes from L1, which limits the kernel.
    FromL1,
}

/// The loads of an allocation by the kernel that loads it most often from L2.
pub struct Reloaded<'f, 'a> {
    pub worst: &'f Access<'a>,
    pub why: Again,
    /// Bytes that come in a launch for each byte that is touched.
    pub times: f64,
    pub loaded_bytes: u64,
    /// Bytes that would come if each byte came once a launch.
    pub once_bytes: u64,
    pub hit_rate: f64,
}

/// Which finding is about a load whose data comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// L1 does not hold the data from one use to the next.
    Eviction,
    /// Blocks could keep the data.
    Reload,
}

type Condition = fn(Option<&Reloaded<'_, '_>>, Option<&Evicted<'_, '_>>) -> bool;

/// In this order, of one load.
const ORDER: &[(Condition, Reuse)] = &[
    // The load of the stream is what to change.
    (|_, evicted| evicted.is_some_and(|it| it.stream.is_some()), Reuse::Eviction),
    // A tile that a block keeps is more than a smaller tile.
    (|reloaded, _| reloaded.is_some_and(|it| !matches!(it.why, Again::PastL1 | Again::Staged)), Reuse::Reload),
    (|_, evicted| evicted.is_some(), Reuse::Eviction),
    (|reloaded, _| reloaded.is_some(), Reuse::Reload),
];

fn reuse(reloaded: Option<&Reloaded<'_, '_>>, evicted: Option<&Evicted<'_, '_>>) -> Option<Reuse> {
    ORDER.iter().find(|(condition, _)| condition(reloaded, evicted)).map(|(_, reuse)| *reuse)
}

/// All reloads that a finding is about.
pub fn reloads<'f, 'a>(facts: &'f Facts<'a>) -> impl Iterator<Item = Reloaded<'f, 'a>> {
    let all = facts.profile.allocations.iter().filter_map(move |one| reloaded(facts, one));
    all.filter(move |it| {
        let evicted = evicted(facts, it.worst.kernel).filter(|one| std::ptr::eq(one.worst, it.worst));
        reuse(Some(it), evicted.as_ref()) == Some(Reuse::Reload)
    })
}

/// All evictions that a finding is about.
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

/// Why data comes from L2 again; `None` where another finding is about it, or nothing could be shared.
fn classify(facts: &Facts<'_>, worst: &Access<'_>, row: &ByKernel, times: f64) -> Option<Again> {
    let is_irregular = share(worst.pattern.irregular, worst.pattern.requests) >= MOST_IRREGULAR;
    // A thread that follows links waits for one element after the other.
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
    // Blocks that run at the same time, each on an SM of its own, need the data each.
    if !is_by_block && facts.rates.is_some_and(|rates| of_launch <= f64::from(rates.sms)) {
        return None;
    }
    Some(match (is_staged(facts, worst, NEAR_LINES), is_by_block) {
        (true, _) => Again::Staged,
        (false, true) => Again::ByBlock,
        (false, false) => Again::ByEachBlock,
    })
}

/// The same block loads data again, rather than the blocks after one another: more often than there are blocks, or mostly at distances
/// that L1 does not hold.
fn is_by_block(row: &ByKernel, times: f64, blocks: f64) -> bool {
    let sectors = row.metrics.reuse.as_ref().map(|reuse| &reuse.sector);
    let again = sectors.and_then(|sectors| Some((sectors.beyond?.l1, sectors.infinite)));
    times > MORE_THAN_ONCE * blocks || again.is_some_and(|(again, first)| again > first)
}

/// L1 limits a kernel that mostly loads from global memory.
fn is_limited_by_l1(facts: &Facts<'_>, kernel: &Kernel) -> bool {
    let limiter = kernel.estimates.first().map_or("", |estimate| &estimate.limiter[..]);
    matches!(limiter, "l1_lanes" | "l1_data" | "l1_tag") && load_share(facts, kernel) >= LEAST_LOAD_SHARE
}

/// Share of a kernel's requests that are loads from global memory.
pub fn load_share(facts: &Facts<'_>, kernel: &Kernel) -> f64 {
    let loads = facts.loads_of(kernel.id);
    share(loads.map(|access| access.sums.requests).total(), facts.requests(kernel))
}

/// Launches of the kernel that may have loaded the allocation: no more than there were while it lived, nor than were given it.
fn launches_with(allocation: &Allocation, kernel: &Kernel) -> u64 {
    if allocation.count > 1 {
        return kernel.launch_count().max(1);
    }
    let lived = allocation.lifetime.as_ref();
    let span = lived.and_then(|lived| Some(lived.last_launch?.saturating_sub(lived.first_launch)));
    let is_it = |launch: &&Launch| launch.arguments.iter().any(|argument| argument.allocation == Some(allocation.id));
    let given = kernel.launches.iter().filter(is_it).count() as u64;
    // It may come another way.
    let are_known = given > 0 && kernel.launches.len() as u64 == kernel.launch_count();
    let given = if are_known { given } else { u64::MAX };
    kernel.launch_count().min(span.unwrap_or(u64::MAX)).min(given).max(1)
}
