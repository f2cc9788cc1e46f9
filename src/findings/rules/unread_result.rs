//! Results that kernels store and that are never read (`--values`; dead stores, which DrGPUM calls "dead writes").

use super::super::facts::values::never_read;
use super::super::prelude::*;

described! {
    enum Cause {
        NeverRead { memory: Shown, bytes: Bytes } => "never-read",
    }
    enum Remedy {
        Remove => "remove-store",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    never_read(facts).into_iter().filter_map(|(row, stores)| draft(facts, row, &stores)).collect()
}

fn draft(facts: &Facts<'_>, row: &Allocation, stores: &[&Access<'_>]) -> Option<Draft> {
    let store = worst(stores.iter().copied(), |access| access.sums.sectors)?;
    let own: Vec<&Access<'_>> = stores.iter().copied().filter(|one| one.kernel.id == store.kernel.id).collect();
    let bytes = stores.iter().map(|one| one.sums.bytes).total();
    let cause = Cause::NeverRead { memory: describe(row), bytes: Bytes(bytes) };
    let of_kernel = share(own.iter().map(|one| one.sums.requests).total(), facts.requests(store.kernel));
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &Remedy::Remove), store)
        .of_allocation(row.id)
        .evidence("bytes", bytes as f64)
        .saves(facts, Saved::new(Saving::without_traffic(&own), of_kernel));
    Some(draft)
}
