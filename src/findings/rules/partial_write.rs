//! Stores that fill only parts of the touched sectors. The remaining part of a sector must be read or masked before the
//! sector is written to DRAM.

use super::super::facts::index;
use super::super::prelude::*;
use super::super::thresholds::coalescing::*;
use warpline_format::condition::Decider;

described! {
    enum Cause {
        SparseResults { filled: Share } => "sparse-results",
        SparseStores { filled: Share } => "sparse-stores",
        FewLanes { filled: Share } => "few-lanes",
    }
    enum Remedy {
        StoreList => "store-compacted-list",
        CompactOrKeep => "compact-if-order-is-free",
        GatherInShared => "gather-in-shared-memory",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let partial = facts.accesses.iter().filter(|access| is_partial(facts, access));
    partial.filter_map(|access| draft(facts, access)).collect()
}

/// Returns whether few lanes store next to each other. Strides, structures, gathers, narrow elements and block shapes
/// have separate findings.
fn is_partial(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let (pattern, sums) = (&access.pattern, &access.sums);
    // The lanes would fill whole sectors if they started at a sector boundary; misaligned-access reports this.
    let starts_within_sectors = share(pattern.contiguous, pattern.requests) >= NEARLY_ALL
        && share(pattern.misaligned, pattern.contiguous) >= 0.5
        && sums.bytes as f64 >= ABOUT_A_SECTOR * sums.requests.saturating_mul(SECTOR_BYTES) as f64;
    access.space == "global"
        && access.op == "store"
        && is_contiguous(access)
        && facts.memory(access).is_none_or(|memory| memory.bytes >= LEAST_PARTIAL_BYTES)
        && filled(access) < MOST_FILLED
        && sums.lanes < FEW_LANES.saturating_mul(sums.requests)
        && !starts_within_sectors
        // A single request per launch cannot be combined with others.
        && sums.requests > access.kernel.recorded_launches()
}

/// Returns the written share of the bytes of the touched sectors.
fn filled(access: &Access<'_>) -> f64 {
    share(access.sums.bytes, access.sums.sectors.saturating_mul(SECTOR_BYTES))
}

/// Returns why a store fills parts of sectors, and the remedy; `None` if the positions of the stores cannot change.
fn classify(facts: &Facts<'_>, access: &Access<'_>) -> Option<(Cause, Remedy)> {
    let filled = Share(filled(access));
    let kernel = access.kernel.id;
    // The thread index determines the position, so another position would be another element.
    let is_of_lanes = matches!(access.step(), Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)));
    if !is_of_lanes || access.has_loaded_index() || index::is_given_by_atomics(access) {
        return Some((Cause::FewLanes { filled }, Remedy::GatherInShared));
    }
    let is_of_data =
        |branch: &Branch| branch.kernel == kernel && branch.divergent > 0 && branch.decided_by.contains(&Decider::Data);
    let is_changed_in_place = facts.loads_of(kernel).any(|one| one.allocation == access.allocation);
    if !facts.profile.branches.iter().any(is_of_data) || is_changed_in_place {
        return None;
    }
    Some(match is_cleared(facts, access) {
        true => (Cause::SparseResults { filled }, Remedy::StoreList),
        false => (Cause::SparseStores { filled }, Remedy::CompactOrKeep),
    })
}

fn draft(facts: &Facts<'_>, access: &Access<'_>) -> Option<Draft> {
    let all = facts.accesses_of(access.kernel.id, "global").map(|one| one.sums.sectors).total();
    let of_kernel = share(access.sums.sectors, all);
    let (cause, remedy) = classify(facts, access).filter(|_| of_kernel >= LEAST_PARTIAL_SHARE)?;
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &remedy), access)
        .evidence("bytes", access.sums.bytes as f64)
        .evidence("sectors", access.sums.sectors as f64);
    if remedy == Remedy::StoreList {
        // Storage for consecutive elements, together with their indices.
        let kept = access.sums.bytes.saturating_mul(2);
        let less = |sectors: u64, bytes: u64| sectors.saturating_mul(bytes).saturating_sub(kept) as f64;
        let saving = Saving::new("l2", less(access.sums.l2_lookups, facts.l2_lookup_bytes()))
            .and(Saving::new("dram", less(access.sums.dram(), SECTOR_BYTES)));
        let waste = facts.waste(access.kernel, &saving, of_kernel);
        return Some(draft.gain(facts.gain(access.kernel, &saving)).score(waste));
    }
    Some(draft.score(of_kernel * facts.kernel_share(access.kernel)).severity(Severity::Note))
}

/// Returns whether the memory is cleared before the launch and only these stores write to it, so that it contains only
/// their results.
fn is_cleared(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let is_set = facts.memory(access).is_some_and(|memory| {
        memory.copies.iter().any(|copy| copy.direction == "set" && copy.bytes >= memory.touched_bytes)
    });
    let place = |one: &Access<'_>| (one.kernel.id, one.file.to_owned(), one.line);
    let is_other =
        |one: &Access<'_>| !one.is_load() && one.allocation == access.allocation && place(one) != place(access);
    is_set && !facts.accesses.iter().any(is_other)
}
