//! A value that a loop stores at one address in each iteration, with or without loading it first. The value should be
//! in a register until the loop ends (CUDA C++ Best Practices Guide, "Memory Optimizations"). The compiler may not keep
//! it in a register if another pointer may alias the address.

use super::super::facts::accumulator::{is_stored_in_place, with_loads};
use super::super::prelude::*;
use super::super::thresholds::reuse::*;

described! {
    enum Cause {
        ReadModifyWrite { iterations: Count, share: Share } => "read-modify-write-per-iteration",
        StorePerIteration { iterations: Count, share: Share } => "store-per-iteration",
    }
    enum Remedy {
        AccumulateInRegister => "accumulate-in-register",
        StoreAfterLoop => "store-after-loop",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let stores = facts.accesses.iter().filter(|access| access.space == "global" && is_stored_in_place(facts, access));
    stores.filter_map(|store| draft(facts, store)).collect()
}

fn draft(facts: &Facts<'_>, store: &Access<'_>) -> Option<Draft> {
    let accesses = with_loads(facts, store);
    let requests = accesses.iter().map(|access| access.sums.requests).total();
    let of_kernel = share(requests, facts.requests(store.kernel));
    let turns = share(store.sums.requests, warps(store.kernel).max(1));
    if turns < LEAST_ITERATIONS as f64 || of_kernel < LEAST_ACCUMULATOR_SHARE {
        return None;
    }
    let (iterations, share) = (Count(turns.round() as u64), Share(of_kernel));
    let (cause, remedy) = match accesses.len() {
        0 | 1 => (Cause::StorePerIteration { iterations, share }, Remedy::StoreAfterLoop),
        _ => (Cause::ReadModifyWrite { iterations, share }, Remedy::AccumulateInRegister),
    };
    let l2 = accesses.iter().map(|access| access.sums.l2_lookups).total();
    let saving = Saving::without_requests(&accesses).and(Saving::new("l2", l2 as f64 * 32.0)).times(1.0 - 1.0 / turns);
    let saved = Saved::new(saving, of_kernel);
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &remedy), store)
        .evidence("requests", requests as f64)
        .evidence("turns", turns)
        .evidence("share_of_requests", of_kernel);
    Some(draft.saves(facts, saved))
}
