//! Stores that fill only parts of the sectors they touch: what is left of a sector has to be read or masked on its way to DRAM.

use super::super::diagnosis::{Diagnosis, Share, described};
use super::super::draft::Draft;
use super::super::facts::access::{Access, share};
use super::super::facts::pattern::is_contiguous;
use super::super::facts::{Facts, index, lane_axis};
use super::super::gain::Saving;
use super::super::thresholds::coalescing::{
    ABOUT_A_SECTOR, FEW_LANES, LEAST_PARTIAL_BYTES, LEAST_PARTIAL_SHARE, MOST_FILLED, NEARLY_ALL,
};
use warpline_format::condition::Decider;
use warpline_profile::model::{Severity, ThreadStep};
use warpline_simulator::geometry::SECTOR_BYTES;

described! {
    pub(in super::super) enum Cause {
        /// Few lanes store, each at a place that its number gives, in memory that was cleared for it.
        SparseResults { filled: Share } => "sparse-results",
        /// The same in other memory.
        SparseStores { filled: Share } => "sparse-stores",
        /// Few lanes store at other places.
        FewLanes { filled: Share } => "few-lanes",
        /// Narrow elements.
        NarrowElements { filled: Share } => "narrow-elements",
    }
}

described! {
    pub(in super::super) enum Remedy {
        StoreList => "store-compacted-list",
        CompactOrKeep => "compact-if-order-is-free",
        GatherInShared => "gather-in-shared-memory",
        PackWords => "pack-words",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let partial = facts.accesses.iter().filter(|access| is_partial(facts, access));
    partial.filter_map(|access| draft(facts, access)).collect()
}

/// Strides, structures, gathers and block shapes have findings of their own.
fn is_partial(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let allocation = access.allocation.and_then(|id| facts.profile.allocation(id));
    access.space == "global"
        && access.op == "store"
        && is_contiguous(access)
        && allocation.is_none_or(|allocation| allocation.bytes >= LEAST_PARTIAL_BYTES)
        && filled(access) < MOST_FILLED
        && !starts_within_sectors(access)
        // One request of each launch leaves nothing to gather.
        && access.sums.requests > access.kernel.recorded_launches()
}

/// Share of the bytes of the touched sectors that are written.
fn filled(access: &Access<'_>) -> f64 {
    share(access.sums.bytes, access.sums.sectors.saturating_mul(SECTOR_BYTES))
}

/// Why it fills parts of sectors, and what to do; `None` where lanes have to write where they do.
fn classify(facts: &Facts<'_>, access: &Access<'_>) -> Option<(Cause, Remedy)> {
    let filled = Share(filled(access));
    if access.sums.lanes >= FEW_LANES.saturating_mul(access.sums.requests) {
        return Some((Cause::NarrowElements { filled }, Remedy::PackWords));
    }
    if !has_place(access) {
        return Some((Cause::FewLanes { filled }, Remedy::GatherInShared));
    }
    if !is_decided_by_data(facts, access) || changes_in_place(facts, access) {
        return None;
    }
    Some(match is_cleared(facts, access) {
        true => (Cause::SparseResults { filled }, Remedy::StoreList),
        false => (Cause::SparseStores { filled }, Remedy::CompactOrKeep),
    })
}

fn draft(facts: &Facts<'_>, access: &Access<'_>) -> Option<Draft> {
    let all: u64 =
        facts.accesses_of(access.kernel.id, "global").map(|one| one.sums.sectors).fold(0, u64::saturating_add);
    let of_kernel = share(access.sums.sectors, all);
    if of_kernel < LEAST_PARTIAL_SHARE {
        return None;
    }
    let (cause, remedy) = classify(facts, access)?;
    let draft = Draft::of_access(facts, Diagnosis::new(&cause, &remedy), access)
        .evidence("bytes", access.sums.bytes as f64)
        .evidence("sectors", access.sums.sectors as f64);
    if remedy == Remedy::StoreList {
        let saving = as_list(facts, access);
        let waste = facts.waste(access.kernel, &saving, of_kernel);
        return Some(draft.gain(facts.gain(access.kernel, &saving, "")).score(waste));
    }
    Some(draft.score(of_kernel * facts.kernel_share(access.kernel)).severity(Severity::Note))
}

/// Its lanes would fill whole sectors if they started on one, which misaligned-access is about.
fn starts_within_sectors(access: &Access<'_>) -> bool {
    let (pattern, sums) = (&access.pattern, &access.sums);
    share(pattern.contiguous, pattern.requests) >= NEARLY_ALL
        && share(pattern.misaligned, pattern.contiguous) >= 0.5
        && sums.bytes as f64 >= ABOUT_A_SECTOR * sums.requests.saturating_mul(SECTOR_BYTES) as f64
}

/// the thread's number gives the place, so that another one would be another element.
fn has_place(access: &Access<'_>) -> bool {
    let of_lanes = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(_) | ThreadStep::Times(_));
    !index::is_given_by_atomics(access)
        && access
            .operand
            .is_some_and(|operand| !operand.loaded_index && of_lanes(&operand.thread_steps[lane_axis(access.kernel)]))
}

/// the memory is cleared before, and nobody else writes to it: what is there after the launch is what these stores have found.
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

/// data decides at a branch of the kernel which lanes go on.
fn is_decided_by_data(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    facts.profile.branches.iter().any(|branch| {
        branch.kernel == access.kernel.id && branch.divergent > 0 && branch.decided_by.contains(&Decider::Data)
    })
}

/// the kernel reads what it writes there.
fn changes_in_place(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    facts.accesses_of(access.kernel.id, "global").any(|one| one.op == "load" && one.allocation == access.allocation)
}
