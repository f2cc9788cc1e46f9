//! Loads whose values go to shared memory.

use super::Facts;
use super::access::Access;

/// A store to shared memory so many lines from a load, at most, keeps its value or what is made of it. What a line accumulates in
/// shared memory is no copy of the data.
pub(in super::super) fn is_staged(facts: &Facts<'_>, load: &Access<'_>, lines: u32) -> bool {
    let shared = || facts.accesses_of(load.kernel.id, "shared");
    let is_sum = |store: &Access<'_>| {
        let place = (store.file, store.line, store.variable());
        shared().any(|one| one.op == "load" && (one.file, one.line, one.variable()) == place)
    };
    shared().any(|store| {
        store.op == "store" && store.file == load.file && store.line.abs_diff(load.line) <= lines && !is_sum(store)
    })
}
