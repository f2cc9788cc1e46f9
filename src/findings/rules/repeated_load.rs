//! Data that comes from L2 to L1 again and again, though a block could keep it in shared memory.

use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::super::facts::access::{Access, share};
use super::super::facts::index;
use super::super::facts::launches::shape;
use super::super::facts::shapes::{Level, better};
use super::super::facts::{Facts, blocks, describe};
use super::super::gain::Saving;
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Allocation, ByKernel, Kernel, Launch, Severity, Site};

/// Bytes from L2 for each byte that is touched, at least.
const TIMES: f64 = 8.0;
/// Most of its loads miss L1, or have to go to L2 for another reason.
const MOST_L1_HITS: f64 = 0.75;
/// Bytes from L1 for each byte that is touched, at least, where L1 is what limits: as of a matrix product whose tiles
/// nobody keeps.
const TIMES_FROM_L1: f64 = 64.0;
/// Least share of the requests of such a kernel that are loads from global memory.
const LEAST_LOADS: f64 = 0.8;
/// Lines from a load to the store of its value to shared memory, at most: of a guarded one the optimiser may give the store another line.
const NEAR_LINES: u32 = 2;
/// Times that a block loads data, at least, to load it again: borders and fills are a little more than once.
const MORE_THAN_ONCE: f64 = 1.1;
/// Smaller data stays in L1 anyway.
const LEAST_BYTES: u64 = 64 << 10;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // What drives it out of L1 is told with what to do about that.
    let found = all(facts).iter().filter(|draft| !super::cache_thrash::names_stream(facts, draft));
    found.cloned().collect()
}

/// The same, and what data that streams past drives out: looked for once.
pub(super) fn all<'c>(facts: &'c Facts<'_>) -> &'c [Draft] {
    let found = || facts.profile.allocations.iter().filter_map(|allocation| draft(facts, allocation));
    facts.repeated.get_or_init(|| found().collect())
}

fn draft(facts: &Facts<'_>, allocation: &Allocation) -> Option<Draft> {
    if allocation.touched_bytes < LEAST_BYTES {
        return None;
    }
    // The kernel that asks L2 for most.
    let l2 = |row: &&ByKernel| row.metrics.l2.as_ref().map_or(0, |level| level.load_lookups);
    let row = allocation.by_kernel.iter().max_by_key(l2)?;
    let kernel = facts.profile.kernels.iter().find(|kernel| kernel.id == row.kernel)?;
    let launches = launches_with(allocation, kernel);
    let sector = facts.profile.run.lookup_bytes.values().next().map_or(32, |bytes| bytes.l2.max(1));
    let loaded = row.metrics.l2.as_ref()?.load_lookups.saturating_mul(sector);
    let once = allocation.touched_bytes.saturating_mul(launches);
    let times = loaded as f64 / once as f64;
    let l1 = row.metrics.l1.as_ref()?;
    if times < TIMES || share(l1.load_hits, l1.load_lookups) > MOST_L1_HITS {
        return by_level_1(
            facts,
            allocation,
            kernel,
            row.metrics.sectors.saturating_mul(SECTOR_BYTES) as f64 / once as f64,
        );
    }
    let of_it = facts
        .accesses_of(kernel.id, "global")
        .filter(|access| access.allocation == Some(allocation.id) && access.op == "load");
    let worst: &Access<'_> =
        of_it.max_by_key(|access| (access.sums.l2_load_lookups, std::cmp::Reverse((access.line, access.column))))?;
    // Strides and gathers have findings of their own.
    if worst.sums.excess_share() >= 0.25 || share(worst.pattern.irregular, worst.pattern.requests) >= 0.5 {
        return None;
    }
    // What a line adds up in shared memory is no copy of the data.
    let is_sum = |store: &Access<'_>| {
        facts.accesses_of(kernel.id, "shared").any(|other| {
            other.op == "load"
                && (other.file, other.line) == (store.file, store.line)
                && other.variable() == store.variable()
        })
    };
    let staged = facts.accesses_of(kernel.id, "shared").any(|access| {
        access.op == "store"
            && access.file == worst.file
            && access.line.abs_diff(worst.line) <= NEAR_LINES
            && !is_sum(access)
    });
    let name = worst.variable().map_or_else(|| "it".to_owned(), |name| format!("`{name}`"));
    // Who goes from element to element by what each has in it waits for one after the other: nothing of it serves others.
    if worst.sums.lanes == worst.sums.requests && index::is_followed(worst) {
        return None;
    }
    let blocks_of_launch = blocks(kernel) as f64 / kernel.launch_count().max(1) as f64;
    // Blocks that run at the same time, each on an SM of its own, have to have it each.
    let by_block = is_by_block(row, times, blocks_of_launch);
    if !by_block && !worst.past_l1 && facts.rates.is_some_and(|rates| blocks_of_launch <= f64::from(rates.sms)) {
        return None;
    }
    let whose = if by_block {
        "a block loads the same data again after L1 has given it up"
    } else {
        "each of several blocks loads the same data for itself"
    };
    let target = facts.target(worst);
    let reason = if worst.past_l1 {
        format!(
            "{target} comes from L2 {times:.1} times in a launch, as its loads go past L1 (volatile, or by a cache operator such as `__ldcg`)"
        )
    } else {
        format!(
            "{target} comes from L2 {times:.1} times in a launch: its loads hit L1 in {} of the lookups, and {whose}",
            words::percent(share(l1.load_hits, l1.load_lookups)),
        )
    };
    let reason = reason + &others_of_line(facts, worst, allocation, TIMES);
    let cure = if worst.past_l1 {
        format!(
            "where others write {name} meanwhile and this one has to see it, nothing; else load it without `volatile` and such operators, so that L1 and registers \
             keep it"
        )
    } else if staged {
        "it, or what is made of it, is staged in shared memory already: larger tiles, or several results per thread, use each load more often"
            .to_owned()
    } else if let Some(better) = (!by_block).then(|| better(facts, kernel)).flatten()
        && better.level == Level::L2
    {
        format!(
            "launch blocks of {} threads instead of {}: neighbours that need the same data then lie in one block, whose loads hit L1 ({} instead of {} come from L2, predicted from \
             the addresses that the compiler told{}); or let a block keep a tile of {name} in shared memory and use it for several results",
            shape(better.block),
            shape(better.recorded),
            words::bytes(better.moved.1 as u64),
            words::bytes(better.moved.0 as u64),
            if better.at_least { ", the others as they were" } else { "" },
        )
    } else {
        format!(
            "let a block keep a tile of {name} in shared memory and use it for several results, or pieces of work that need the same data (a larger tile, \
             several rows or requests for a block, several results for a thread)"
        )
    };
    let all: u64 =
        facts.accesses_of(kernel.id, "global").map(|access| access.sums.l2_lookups).fold(0, u64::saturating_add);
    let amount = loaded.saturating_sub(allocation.touched_bytes.saturating_mul(launches));
    let saving = Saving::of("l2", amount as f64);
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .evidence("times", times)
        .evidence("loaded_bytes", loaded as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("l1_load_hit_rate", share(l1.load_hits, l1.load_lookups))
        .gain(facts.gain(kernel, &saving, "each byte comes from L2 once a launch"))
        .score(facts.waste(kernel, &saving, share(worst.sums.l2_lookups, all)));
    Some(if staged || worst.past_l1 || draft.gain.is_none() { draft.severity(Severity::Note) } else { draft })
}

/// Launches of the kernel that may have loaded the allocation: no more than there were while it lived, nor than were given it.
fn launches_with(allocation: &Allocation, kernel: &Kernel) -> u64 {
    let lived = allocation.lifetime.as_ref().filter(|_| allocation.count <= 1);
    let span = lived.and_then(|lived| Some(lived.last_launch?.saturating_sub(lived.first_launch)));
    let given = launches_given(allocation, kernel).unwrap_or(u64::MAX);
    kernel.launch_count().min(span.unwrap_or(u64::MAX)).min(given).max(1)
}

/// Launches that a pointer to the allocation was given to, where all are known and one of them is; else it may come another way.
fn launches_given(allocation: &Allocation, kernel: &Kernel) -> Option<u64> {
    if allocation.count > 1 || kernel.launches.len() as u64 != kernel.launch_count() {
        return None;
    }
    let is_it = |launch: &&Launch| launch.arguments.iter().any(|argument| argument.allocation == Some(allocation.id));
    let count = kernel.launches.iter().filter(is_it).count() as u64;
    (count > 0).then_some(count)
}

/// What else the same line loads as often in launches of its own, in words.
fn others_of_line(facts: &Facts<'_>, access: &Access<'_>, allocation: &Allocation, least: f64) -> String {
    let kernel = access.kernel;
    let is_there = |site: &&Site| {
        (site.kernel, &site.file[..], site.line, &site.op[..]) == (kernel.id, access.file, access.line, access.op)
    };
    let mut sectors: BTreeMap<u64, u64> = BTreeMap::new();
    for row in facts.profile.sites.iter().filter(is_there).flat_map(|site| &site.by_allocation) {
        if let Some(id) = row.allocation.filter(|&id| id != allocation.id) {
            let sum = sectors.entry(id).or_default();
            *sum = sum.saturating_add(row.metrics.sectors);
        }
    }
    let own = launches_given(allocation, kernel);
    let is_as_often = |(id, sectors): (u64, u64)| {
        let other = facts.profile.allocation(id)?;
        let launches = launches_given(other, kernel)?;
        let apart = own.is_some_and(|own| own.saturating_add(launches) <= kernel.launch_count());
        let once = other.touched_bytes.saturating_mul(launches);
        let is_often = sectors.saturating_mul(SECTOR_BYTES) as f64 >= least * once as f64;
        (apart && is_often && other.touched_bytes >= LEAST_BYTES).then(|| describe(other))
    };
    let names: Vec<String> = sectors.into_iter().filter_map(is_as_often).collect();
    match &names[..] {
        [] => String::new(),
        [one] => format!("; so it is with {one} in other launches"),
        [first @ .., last] => format!("; so it is with {} and {last} in other launches", first.join(", ")),
    }
}

/// Whether the same block loads data again, rather than the blocks after one another: more often than there are blocks, or mostly at distances that
/// L1 does not hold.
fn is_by_block(row: &ByKernel, times: f64, blocks: f64) -> bool {
    let sectors = row.metrics.reuse.as_ref().map(|reuse| &reuse.sector);
    let again = sectors.and_then(|sectors| Some((sectors.beyond?.l1, sectors.infinite)));
    times > MORE_THAN_ONCE * blocks || again.is_some_and(|(again, first)| again > first)
}

/// Loads that hit L1 and keep it busy: each value is fetched for every use, though a thread or block uses it many times.
fn by_level_1(facts: &Facts<'_>, allocation: &Allocation, kernel: &Kernel, times: f64) -> Option<Draft> {
    let estimate = kernel.estimates.first()?;
    let of_kernel: Vec<&Access<'_>> =
        facts.accesses_of(kernel.id, "global").filter(|access| access.op == "load").collect();
    let loads = of_kernel.iter().map(|access| access.sums.requests).fold(0, u64::saturating_add);
    let limited = matches!(&estimate.limiter[..], "l1_lanes" | "l1_data" | "l1_tag");
    if times < TIMES_FROM_L1 || !limited || share(loads, facts.requests(kernel)) < LEAST_LOADS {
        return None;
    }
    let of_it = of_kernel.into_iter().filter(|access| access.allocation == Some(allocation.id));
    let worst = of_it.max_by_key(|access| (access.sums.requests, std::cmp::Reverse((access.line, access.column))))?;
    if worst.sums.excess_share() >= 0.6 {
        return None;
    }
    let reason = format!(
        "each byte of {} is loaded {times:.0} times in a launch; the loads hit L1, but they are what the kernel's time goes to ({} of its \
         requests are loads from global memory)",
        facts.target(worst),
        words::percent(share(loads, facts.requests(kernel))),
    ) + &others_of_line(facts, worst, allocation, TIMES_FROM_L1);
    let name = worst.variable().map_or_else(|| "it".to_owned(), |name| format!("`{name}`"));
    let cure = format!(
        "let a block load tiles of {name} into shared memory and let each thread compute several results from what it loads (register \
         blocking), so that a load serves several operations"
    );
    let sums = &worst.sums;
    let saving = Saving::of("l1_lanes", (sums.stages.words * 32) as f64)
        .and(Saving::of("l1_data", sums.stages.data as f64))
        .and(Saving::of("l1_tag", sums.stages.tag as f64));
    // How much is left depends on the blocking; half of these loads is what tiles of two results a thread save.
    let waste = 0.5 * facts.waste(kernel, &saving, share(sums.requests, loads));
    Some(
        Draft::new(reason, cure)
            .at_access(worst)
            .evidence("times", times)
            .evidence("touched_bytes", allocation.touched_bytes as f64)
            .evidence("share_of_requests", share(sums.requests, facts.requests(kernel)))
            .score(waste),
    )
}
