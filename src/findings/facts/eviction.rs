//! Lines that a block reuses after L1 has evicted them, because the block touches more data between the uses than L1
//! can contain.

use super::super::prelude::*;
use super::super::thresholds::reuse::*;
use std::collections::BTreeSet;
use warpline_profile::model::Distances;

/// Reuse that a kernel loses because of evictions from L1.
pub struct Evicted<'f, 'a> {
    /// Load with the most misses.
    pub worst: &'f Access<'a>,
    /// Load of data that is read once and displaces data that is reused.
    pub stream: Option<&'f Access<'a>>,
    /// Share of the repeated uses of lines whose reuse distance exceeds L1.
    pub beyond: f64,
    /// Share of all uses of lines whose reuse distance exceeds L1.
    pub of_all: f64,
    pub hit_rate: f64,
}

pub fn evicted<'f, 'a>(facts: &'f Facts<'a>, kernel: &Kernel) -> Option<Evicted<'f, 'a>> {
    let metrics = kernel.metrics.get("global")?;
    let lines = &metrics.reuse.as_ref()?.line;
    let l1 = metrics.l1.as_ref()?;
    let hit_rate = share(l1.load_hits, l1.load_lookups);
    let repeated: u64 = lines.buckets.iter().map(|bucket| bucket.count).total();
    let uses = repeated.saturating_add(lines.infinite);
    let beyond = lines.beyond?.l1;
    let is_reused = share(repeated, uses) >= LEAST_REPEATED_USES && share(beyond, repeated) >= LEAST_BEYOND_L1;
    if !is_reused || hit_rate > MOST_EVICTED_HITS {
        return None;
    }
    let misses = |access: &Access<'_>| access.sums.l1_load_lookups.saturating_sub(access.sums.l1_load_hits);
    // Data that is read once misses in any case.
    let again = facts.loads_of(kernel.id).filter(|access| misses(access) > 0 && !is_read_once(facts, access));
    let worst = worst(again, misses).or_else(|| super::access::worst(facts.loads_of(kernel.id), misses))?;
    let stream = classify(facts, worst, lines, room(facts, kernel))?;
    Some(Evicted { worst, stream, beyond: share(beyond, repeated), of_all: share(beyond, uses), hit_rate })
}

/// Returns the streaming load that evicts the data which a load reuses, if it exists; `None` if neither a stream nor
/// large tiles are the reason.
fn classify<'f, 'a>(
    facts: &'f Facts<'a>,
    worst: &Access<'_>,
    lines: &Distances,
    room: Option<f64>,
) -> Option<Option<&'f Access<'a>>> {
    let accesses = || facts.accesses_of(worst.kernel.id, "global");
    let sectors = |is_meant: fn(&Access<'_>) -> bool| {
        let those = accesses().filter(|access| is_meant(access)).map(|access| access.sums.sectors);
        those.total()
    };
    let all = sectors(|_| true);
    // Another cache operator of a load has no effect on loads that bypass L1, or on stores.
    let (past, stored) = (share(sectors(|one| one.past_l1), all), share(sectors(|one| one.op == "store"), all));
    // Returns whether a block's reuses would come before L1 is full if this share of the touched data were absent.
    // Reuse distances contain no stores.
    let fits = |without: f64| {
        let touched = lines.mean.map(|mean| mean / (1.0 - stored).max(0.1));
        touched.zip(room).is_none_or(|(touched, room)| touched * (1.0 - without) <= room)
    };
    let loaded = sectors(|one| one.is_load());
    let is_stream = |access: &&Access<'_>| {
        access.is_load()
            && access.allocation != worst.allocation
            && !access.past_l1
            && is_read_once(facts, access)
            && share(access.sums.sectors, loaded) >= LEAST_STREAM_SHARE
    };
    let heaviest = super::access::worst(accesses().filter(is_stream), |access| access.sums.sectors);
    let stream = heaviest.filter(|one| fits(past + share(one.sums.sectors, all)));
    // If data selects elements from a whole table, no tile exists.
    let is_other = is_scattered(worst) || room.is_some() && past + stored > 0.0 && fits(past + stored);
    (stream.is_some() || !is_other).then_some(stream)
}

/// Returns the number of blocks of a launch that are resident on an SM at the same time.
fn resident(kernel: &Kernel) -> u64 {
    kernel.launches.first().map_or(1, |launch| u64::from(launch.resident_blocks.max(1)))
}

/// Returns the number of lines in L1, if the model is known.
fn room(facts: &Facts<'_>, kernel: &Kernel) -> Option<f64> {
    let launch = kernel.launches.first()?;
    let shared = u64::from(launch.static_shared_bytes).saturating_add(launch.dynamic_shared_bytes.into());
    Some(f64::from(facts.hierarchy()?.l1.lines(shared.saturating_mul(resident(kernel)))))
}

/// Returns whether the program reads each sector of the allocation at most once.
fn is_read_once(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let Some(allocation) = facts.memory(access) else { return false };
    let bytes = allocation.metrics.sectors.saturating_mul(SECTOR_BYTES);
    allocation.touched_bytes > 0 && bytes as f64 <= READ_ONCE * allocation.touched_bytes as f64
}

/// Returns the bytes that a kernel's loads read from DRAM in addition to reading each touched byte once per launch.
pub fn again_from_dram(facts: &Facts<'_>, kernel: &Kernel) -> u64 {
    let loads = || facts.loads_of(kernel.id);
    let read = loads().map(|access| access.sums.dram_reads).total();
    let allocations: BTreeSet<u64> = loads().filter_map(|access| access.allocation).collect();
    let once = allocations.iter().filter_map(|&id| facts.profile.allocation(id)).map(|one| one.touched_bytes);
    let once = once.total().saturating_mul(kernel.launch_count());
    read.saturating_mul(SECTOR_BYTES).saturating_sub(once)
}
