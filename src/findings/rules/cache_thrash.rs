//! Lines that a block reuses after L1 has evicted them, because the block touches more data between the uses than L1
//! can contain.

use super::super::facts::eviction::{Evicted, again_from_dram};
use super::super::facts::reuse::evictions;
use super::super::prelude::*;
use super::super::thresholds::reuse::*;

described! {
    enum Cause {
        EvictedByStream { beyond: Share, hits: Share, stream: Shown } => "evicted-by-stream",
        WorkingSet { beyond: Share, hits: Share } => "working-set-exceeds-l1",
    }
    enum Remedy {
        BypassL1 { stream: Shown } => "load-stream-past-l1",
        SmallerTiles => "smaller-tiles",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    evictions(facts).map(|evicted| draft(facts, &evicted)).collect()
}

fn classify(facts: &Facts<'_>, it: &Evicted<'_, '_>) -> (Cause, Remedy) {
    let (beyond, hits) = (Share(it.beyond), Share(it.hit_rate));
    if let Some(stream) = it.stream.map(|access| Shown(facts.target(access))) {
        return (Cause::EvictedByStream { beyond, hits, stream: stream.clone() }, Remedy::BypassL1 { stream });
    }
    (Cause::WorkingSet { beyond, hits }, Remedy::SmallerTiles)
}

fn draft(facts: &Facts<'_>, it: &Evicted<'_, '_>) -> Draft {
    let kernel = it.worst.kernel;
    let (cause, remedy) = classify(facts, it);
    let accesses = facts.accesses_of(kernel.id, "global");
    let lookups = accesses.map(|access| access.sums.l2_load_lookups).total();
    let saving = Saving::new("l2", it.of_all * lookups.saturating_mul(facts.l2_lookup_bytes()) as f64)
        .and(Saving::new("dram", again_from_dram(facts, kernel) as f64));
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &remedy), it.worst)
        .evidence("beyond_l1_share", it.beyond)
        .evidence("l1_load_hit_rate", it.hit_rate)
        .gain(facts.gain(kernel, &saving))
        .score(facts.waste(kernel, &saving, it.beyond));
    // Wasted sectors cause misses as well. If the kernel does not wait for L2, other tiles may have no gain.
    let is_note = it.worst.sums.excess_share() >= MOST_EXCESS || it.stream.is_none() && draft.gain.is_none();
    draft.note_if(is_note)
}
