//! Stores that fill only parts of the sectors they touch: what is left of a sector has to be read or masked on its way to DRAM.

use super::super::draft::Draft;
use super::super::facts::access::{Access, share};
use super::super::facts::index;
use super::super::facts::{Facts, lane_axis};
use super::super::gain::Saving;
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Severity, ThreadStep};
use warpline_format::condition::Decider;

/// Fewer than this part of the bytes of the touched sectors are written.
const MOST_FILLED: f64 = 0.5;
/// Least share of the kernel's sectors that these stores touch.
const LEAST_OF_KERNEL: f64 = 0.2;
/// Share of a sector that is as good as all of it: the ends of rows have fewer lanes.
const ABOUT: f64 = 0.75;
/// Smaller memory, as of a few values, fills no sectors.
const LEAST_BYTES: u64 = 128;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let partly = |access: &&Access<'_>| {
        let filled = share(access.sums.bytes, access.sums.sectors * 32);
        // Strides, structures, gathers and block shapes have findings of their own.
        let plain = share(access.pattern.contiguous, access.pattern.requests.max(1)) >= 0.5;
        let allocation = access.allocation.and_then(|id| facts.profile.allocation(id));
        let is_tiny = allocation.is_some_and(|allocation| allocation.bytes < LEAST_BYTES);
        access.space == "global" && access.op == "store" && plain && !is_tiny && filled < MOST_FILLED
    };
    let each = facts.accesses.iter().filter(partly).filter_map(|access| {
        // One request of each launch is nothing to gather, as that which makes the root of a tree.
        if begins_within_sectors(access) || access.sums.requests <= access.kernel.recorded_launches() {
            return None;
        }
        let all: u64 = facts.accesses_of(access.kernel.id, "global").map(|access| access.sums.sectors).fold(0, u64::saturating_add);
        let of_kernel = share(access.sums.sectors, all);
        if of_kernel < LEAST_OF_KERNEL {
            return None;
        }
        let reason = format!(
            "stores to {} fill {} of the bytes of the sectors they touch ({} active lanes of {} a request): the rest of each sector is \
             moved or masked without need",
            facts.target(access),
            words::percent(share(access.sums.bytes, access.sums.sectors * 32)),
            words::ratio(access.sums.lanes, access.sums.requests),
            words::bytes(access.bytes.into()),
        );
        let few = access.sums.lanes < 16 * access.sums.requests;
        // Lanes that are not there, or that their number leaves out, write where they have to, and so do those that change data in place.
        if few && has_place(access) && (!is_decided_by_data(facts, access) || changes_in_place(facts, access)) {
            return None;
        }
        let cure = if few && has_place(access) {
            if is_cleared(facts, access) {
                "few lanes of a warp have something to store, each at the place that its number gives, in memory that was cleared for it: a list of what was found (element and number, compacted by \
                 ballot and prefix sum) needs neither the clearing nor most of the sectors, and what reads it goes over the list; leave it where it has to find each element at its place"
            } else {
                "few lanes of a warp have something to store, each at the place that its number gives: look at whether what reads it needs it there; where a list of what was found does as well, \
                 compact it (ballot and prefix sum) and store it side by side, else leave it"
            }
        } else if few {
            "few lanes of a warp store here: gather the results in shared memory, or compact them (ballot and prefix sum), and store them side \
             by side"
        } else {
            "let a warp write whole sectors: pack narrow elements into words, or gather the results of a block in shared memory first"
        };
        let draft = Draft::new(reason, cure)
            .at_access(access)
            .evidence("bytes", access.sums.bytes as f64)
            .evidence("sectors", access.sums.sectors as f64);
        if few && has_place(access) && is_cleared(facts, access) {
            let saving = as_list(facts, access);
            let waste = facts.waste(access.kernel, &saving, of_kernel);
            let gain = facts.gain(access.kernel, &saving, "what is stored lies side by side, and each element's number beside it");
            return Some(draft.gain(gain).score(waste));
        }
        Some(draft.score(of_kernel * facts.kernel_share(access.kernel)).severity(Severity::Note))
    });
    each.collect()
}

/// Whether its lanes would fill whole sectors if they began on one, which misaligned-access is about.
fn begins_within_sectors(access: &Access<'_>) -> bool {
    let (pattern, sums) = (&access.pattern, &access.sums);
    share(pattern.contiguous, pattern.requests) >= 0.9
        && share(pattern.misaligned, pattern.contiguous) >= 0.5
        && sums.bytes as f64 >= ABOUT * sums.requests.saturating_mul(SECTOR_BYTES) as f64
}

/// Whether the thread's number gives the place, so that another one would be another element.
fn has_place(access: &Access<'_>) -> bool {
    let of_lanes = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(_) | ThreadStep::Times(_));
    !index::is_given_by_atomics(access)
        && access
            .operand
            .is_some_and(|operand| !operand.loaded_index && of_lanes(&operand.thread_steps[lane_axis(access.kernel)]))
}

/// Whether the memory is cleared before, and nobody else writes to it: what is there after the launch is what these stores have found.
fn is_cleared(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let allocation = access.allocation.and_then(|id| facts.profile.allocation(id));
    let is_set = allocation.is_some_and(|allocation| {
        allocation.copies.iter().any(|copy| copy.direction == "set" && copy.bytes >= allocation.touched_bytes)
    });
    is_set
        && !facts.accesses.iter().any(|one| {
            one.op != "load"
                && one.allocation == access.allocation
                && (one.kernel.id, one.file, one.line) != (access.kernel.id, access.file, access.line)
        })
}

/// What stores of a list ask less: elements side by side, and the number of each.
fn as_list(facts: &Facts<'_>, access: &Access<'_>) -> Saving {
    let sums = &access.sums;
    let kept = sums.bytes.saturating_mul(2);
    let sector = facts.profile.run.lookup_bytes.values().next().map_or(SECTOR_BYTES, |bytes| bytes.l2.max(1));
    let less = |sectors: u64, bytes: u64| sectors.saturating_mul(bytes).saturating_sub(kept) as f64;
    Saving::of("l2", less(sums.l2_lookups, sector))
        .and(Saving::of("dram", less(sums.dram_reads.saturating_add(sums.dram_writes), SECTOR_BYTES)))
}

/// Whether data decides at a branch of the kernel which lanes go on.
fn is_decided_by_data(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    facts.profile.branches.iter().any(|branch| {
        branch.kernel == access.kernel.id && branch.divergent > 0 && branch.decided_by.contains(&Decider::Data)
    })
}

/// Whether the kernel reads what it writes there.
fn changes_in_place(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    facts.accesses_of(access.kernel.id, "global").any(|one| one.op == "load" && one.allocation == access.allocation)
}
