//! Data that is loaded from L2 to L1 repeatedly, although a block could keep it in shared memory (CUDA C++ Best
//! Practices Guide, "Shared Memory in Matrix Multiplication").

use super::super::facts::reuse::{Again, Reloaded, load_share, reloads};
use super::super::prelude::*;
use super::super::thresholds::reuse::*;

described! {
    enum Cause {
        LoadsBypassL1 { times: Ratio } => "loads-bypass-l1",
        TilesReloaded { times: Ratio, hits: Share } => "tiles-reloaded",
        ReloadedByBlock { times: Ratio, hits: Share } => "reloaded-by-block",
        ReloadedByEachBlock { times: Ratio, hits: Share } => "reloaded-by-each-block",
        L1Limited { times: Ratio, share: Share } => "l1-limited-loads",
    }
    enum Remedy {
        CacheLoads => "cache-loads",
        LargerTiles => "larger-tiles",
        TileInShared => "tile-in-shared-memory",
        RegisterBlocking => "register-blocking",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    reloads(facts).map(|reloaded| draft(facts, &reloaded)).collect()
}

fn classify(facts: &Facts<'_>, it: &Reloaded<'_, '_>) -> (Cause, Remedy) {
    let (times, hits) = (Ratio(it.times), Share(it.hit_rate));
    match it.why {
        Again::PastL1 => (Cause::LoadsBypassL1 { times }, Remedy::CacheLoads),
        Again::Staged => (Cause::TilesReloaded { times, hits }, Remedy::LargerTiles),
        Again::ByBlock => (Cause::ReloadedByBlock { times, hits }, Remedy::TileInShared),
        Again::ByEachBlock => (Cause::ReloadedByEachBlock { times, hits }, Remedy::TileInShared),
        Again::FromL1 => {
            let share = Share(load_share(facts, it.worst.kernel));
            (Cause::L1Limited { times, share }, Remedy::RegisterBlocking)
        }
    }
}

fn draft(facts: &Facts<'_>, it: &Reloaded<'_, '_>) -> Draft {
    let (kernel, sums) = (it.worst.kernel, &it.worst.sums);
    let (cause, remedy) = classify(facts, it);
    let allocation = facts.memory(it.worst);
    let touched = allocation.map_or(0, |one| one.touched_bytes);
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &remedy), it.worst)
        .evidence("times", it.times)
        .evidence("touched_bytes", touched as f64);
    if it.why == Again::FromL1 {
        // The remaining traffic depends on the blocking.
        let of_kernel = share(sums.requests, facts.requests(kernel));
        let waste = facts.waste(kernel, &Saving::without_requests(&[it.worst]), of_kernel);
        return draft.evidence("share_of_requests", of_kernel).score(SAVED_BY_BLOCKING * waste);
    }
    let all = facts.accesses_of(kernel.id, "global").map(|one| one.sums.l2_lookups).total();
    let saving = Saving::new("l2", it.loaded_bytes.saturating_sub(it.once_bytes) as f64);
    let draft = draft
        .evidence("loaded_bytes", it.loaded_bytes as f64)
        .evidence("l1_load_hit_rate", it.hit_rate)
        .gain(facts.gain(kernel, &saving))
        .score(facts.waste(kernel, &saving, share(sums.l2_lookups, all)));
    let is_note = matches!(it.why, Again::Staged | Again::PastL1) || draft.gain.is_none();
    draft.note_if(is_note)
}
