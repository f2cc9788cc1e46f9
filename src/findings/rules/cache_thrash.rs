//! Lines that a block uses again after L1 has given them up: between the uses it touches more than L1 holds.

use std::collections::BTreeSet;

use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::facts::access::{Access, share};
use super::super::gain::Saving;
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Distances, Kernel, Severity};

/// Least share of the uses of lines whose reuse distance is beyond L1.
const LEAST_BEYOND: f64 = 0.3;
/// Loads that hit L1, at most.
const MOST_HITS: f64 = 0.5;
/// The same where what is known is that a block has touched more than its part of L1.
const MOST_HITS_OF_PART: f64 = 0.25;
/// A thread's own line is used up within so many uses; fewer are no reuse worth a word.
const LEAST_REUSE: f64 = 0.3;
/// Data counts as read once if its sectors are requested so many times each, at most.
const MOST_PER_BYTE: f64 = 1.1;
/// Least share in the sectors of all loads that such data takes room with.
const LEAST_STREAM: f64 = 0.2;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // What a block loads again, and why, a finding of that has with more to do about it.
    let is_told = |one: &Thrashed| {
        let is_it = |other: &Draft| is_of_one_line(&one.draft, other) && other.severity >= one.draft.severity;
        !one.streams && super::repeated_load::all(facts).iter().any(is_it)
    };
    all(facts).iter().filter(|one| !is_told(one)).map(|one| one.draft.clone()).collect()
}

/// What is found of a kernel.
pub(in super::super) struct Thrashed {
    draft: Draft,
    /// It names data that streams past what is used again.
    streams: bool,
}

/// What is found of all kernels, looked for once.
fn all<'c>(facts: &'c Facts<'_>) -> &'c [Thrashed] {
    let found = || facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel));
    facts.thrashed.get_or_init(|| found().collect())
}

/// Whether the finding of a kernel names data that streams past what this one is about.
pub(super) fn names_stream(facts: &Facts<'_>, other: &Draft) -> bool {
    all(facts).iter().any(|one| one.streams && is_of_one_line(&one.draft, other))
}

fn is_of_one_line(one: &Draft, other: &Draft) -> bool {
    let place = |draft: &Draft| (draft.kernel, draft.line, draft.allocation);
    place(one) == place(other) && one.file == other.file && one.object == other.object
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Thrashed> {
    let metrics = kernel.metrics.get("global")?;
    let lines = &metrics.reuse.as_ref()?.line;
    let finite: u64 = lines.buckets.iter().map(|bucket| bucket.count).fold(0, u64::saturating_add);
    let l1 = metrics.l1.as_ref()?;
    let hits = share(l1.load_hits, l1.load_lookups);
    let (room, blocks) = (room(facts, kernel), resident(kernel));
    // Blocks that share an SM have a part of its L1 each, where they do not use the same lines.
    let of_block = room.map(|room| room / blocks as f64).filter(|_| blocks > 1 && hits <= MOST_HITS_OF_PART);
    let in_part = of_block.map_or(0, |room| beyond_lines(lines, room));
    let of_all = lines.beyond?.l1;
    let is_of_part = in_part > of_all;
    let beyond = of_all.max(in_part);
    let room = if is_of_part { of_block } else { room };
    if share(finite, finite.saturating_add(lines.infinite)) < LEAST_REUSE
        || share(beyond, finite) < LEAST_BEYOND
        || hits > MOST_HITS
    {
        return None;
    }
    let loads = facts.accesses_of(kernel.id, "global").filter(|access| access.op == "load");
    let misses = |access: &Access<'_>| access.sums.l1_load_lookups.saturating_sub(access.sums.l1_load_hits);
    let loads: Vec<&Access<'_>> = loads.collect();
    let key = |access: &&Access<'_>| (misses(access), std::cmp::Reverse((access.line, access.column)));
    // What is read once misses in any case: the one to name is what is used again.
    let again = loads.iter().copied().filter(|access| misses(access) > 0 && !is_read_once(facts, access));
    let worst = again.max_by_key(key).or_else(|| loads.iter().copied().max_by_key(key))?;
    let holds = if is_of_part { format!("a part of L1 that {blocks} blocks share") } else { "L1 holds".to_owned() };
    let reason = format!(
        "{} of the uses of a line come after its block has touched more than {holds}, so that only {} of the lookups of loads hit L1; \
         most misses are those of {}",
        words::percent(share(beyond, finite)),
        words::percent(hits),
        facts.target(worst),
    );
    // What passes by L1, or is stored, takes no other operator of a load.
    let all: u64 =
        facts.accesses_of(kernel.id, "global").map(|access| access.sums.sectors).fold(0, u64::saturating_add);
    let part = |is_meant: fn(&Access<'_>) -> bool| {
        let those = facts.accesses_of(kernel.id, "global").filter(|access| is_meant(access));
        share(those.map(|access| access.sums.sectors).fold(0, u64::saturating_add), all)
    };
    let (past, stored) = (part(|access| access.past_l1), part(|access| access.op == "store"));
    // Whether a block's uses come before L1 is full, without this share of what it touches between them. Distances have no stores.
    let fits = |without: f64| {
        let touched = lines.mean.map(|mean| mean / (1.0 - stored).max(0.1));
        touched.zip(room).is_none_or(|(touched, room)| touched * (1.0 - without) <= room)
    };
    let streamed = streamed(facts, kernel, worst).filter(|one| fits(past + share(one.sums.sectors, all)));
    // What data chooses from all of a table has no tile.
    let is_chosen = super::super::facts::pattern::is_scattered(worst);
    if streamed.is_none() && (is_chosen || room.is_some() && past + stored > 0.0 && fits(past + stored)) {
        return None;
    }
    let streams = streamed.is_some();
    let cure = "work on smaller tiles, so that what a block uses again fits into L1 beside the other blocks, or keep the tile in shared memory";
    let cure = match streamed.map(|access| facts.target(access)) {
        Some(data) => format!(
            "{data} is read once and takes the room of what is used again: load it past L1 with __ldcg(&…); if that is \
             not enough, {cure}"
        ),
        None => cure.to_owned(),
    };
    let looked_up: u64 =
        facts.accesses_of(kernel.id, "global").map(|access| access.sums.l2_load_lookups).fold(0, u64::saturating_add);
    let sector = facts.profile.run.lookup_bytes.values().next().map_or(32, |bytes| bytes.l2.max(1));
    let saving = Saving::of("l2", share(beyond, finite.saturating_add(lines.infinite)) * (looked_up * sector) as f64)
        .and(Saving::of("dram", again_from_dram(facts, kernel, &loads) as f64));
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .evidence("beyond_l1_share", share(beyond, finite))
        .evidence("l1_load_hit_rate", hits)
        .gain(facts.gain(kernel, &saving, "uses of lines within a block hit L1"))
        .score(facts.waste(kernel, &saving, share(beyond, finite)));
    // Bad coalescing shows as misses, too, and is the better hint; where L2 is not what the kernel waits for, other tiles may bring nothing.
    let is_note = worst.sums.excess_share() >= 0.25 || !streams && draft.gain.is_none();
    Some(Thrashed { draft: if is_note { draft.severity(Severity::Note) } else { draft }, streams })
}

/// Uses that may be at so many lines' distance, where the mean of all is.
fn beyond_lines(lines: &Distances, room: f64) -> u64 {
    if lines.mean.is_none_or(|mean| mean < room) {
        return 0;
    }
    let far = lines.buckets.iter().filter(|bucket| bucket.upto as f64 >= room);
    far.map(|bucket| bucket.count).fold(0, u64::saturating_add)
}

/// Bytes that loads bring from DRAM beyond what is there, each once a launch.
fn again_from_dram(facts: &Facts<'_>, kernel: &Kernel, loads: &[&Access<'_>]) -> u64 {
    let read = loads.iter().map(|access| access.sums.dram_reads).fold(0, u64::saturating_add);
    let allocations: BTreeSet<u64> = loads.iter().filter_map(|access| access.allocation).collect();
    let once = allocations.iter().filter_map(|&id| facts.profile.allocation(id)).map(|one| one.touched_bytes);
    let once = once.fold(0, u64::saturating_add).saturating_mul(kernel.launch_count());
    read.saturating_mul(SECTOR_BYTES).saturating_sub(once)
}

/// Blocks of a launch that are on an SM at the same time.
fn resident(kernel: &Kernel) -> u64 {
    kernel.launches.first().map_or(1, |launch| u64::from(launch.resident_blocks.max(1)))
}

/// Lines of L1, where the model is known: blocks that share an SM may use the same ones again.
fn room(facts: &Facts<'_>, kernel: &Kernel) -> Option<f64> {
    let launch = kernel.launches.first()?;
    let shared = u64::from(launch.static_shared_bytes).saturating_add(launch.dynamic_shared_bytes.into());
    let resident = u64::from(launch.resident_blocks.max(1));
    Some(f64::from(facts.hierarchy()?.l1.lines(shared.saturating_mul(resident))))
}

/// Whether the program reads no sector of its allocation twice.
fn is_read_once(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let Some(allocation) = access.allocation.and_then(|id| facts.profile.allocation(id)) else { return false };
    let bytes = allocation.metrics.sectors.saturating_mul(SECTOR_BYTES);
    allocation.touched_bytes > 0 && bytes as f64 <= MOST_PER_BYTE * allocation.touched_bytes as f64
}

/// The load of most sectors of an allocation that the program reads no sector of twice, beside the one that misses, if it brings
/// a good part of what goes through L1.
fn streamed<'b>(facts: &'b Facts<'_>, kernel: &Kernel, worst: &Access<'_>) -> Option<&'b Access<'b>> {
    let loads = || facts.accesses_of(kernel.id, "global").filter(|access| access.op == "load");
    let all: u64 = loads().map(|access| access.sums.sectors).fold(0, u64::saturating_add);
    let once = |access: &&Access<'_>| {
        access.allocation != worst.allocation
            && !access.past_l1
            && is_read_once(facts, access)
            && share(access.sums.sectors, all) >= LEAST_STREAM
    };
    loads().filter(once).max_by_key(|access| (access.sums.sectors, std::cmp::Reverse((access.line, access.column))))
}
