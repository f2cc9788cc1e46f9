//! Loads whose values are stored to shared memory.

use super::super::prelude::*;
use super::super::thresholds::coalescing::MERGED_LINES;

/// Returns whether a store to shared memory is at most this many lines after or before a load.
pub fn is_near_store(facts: &Facts<'_>, load: &Access<'_>, lines: u32) -> bool {
    near_stores(facts, load, lines).next().is_some()
}

/// Returns whether such a store stores the load's value or a value computed from it. A line that accumulates in shared
/// memory is not a copy.
pub fn is_staged(facts: &Facts<'_>, load: &Access<'_>, lines: u32) -> bool {
    let is_sum = |store: &Access<'_>| {
        let place = |one: &Access<'_>| (one.file.to_owned(), one.line, one.variable().map(str::to_owned));
        facts.accesses_of(load.kernel.id, "shared").any(|one| one.is_load() && place(one) == place(store))
    };
    near_stores(facts, load, lines).any(|store| !is_sum(store))
}

fn near_stores<'b, 'a>(facts: &'b Facts<'a>, load: &'b Access<'_>, lines: u32) -> impl Iterator<Item = &'b Access<'a>> {
    // If the compiler merged the stores of two branches, only the nearest line is known.
    let most = move |one: &Access<'_>| if one.is_near { lines.max(MERGED_LINES) } else { lines };
    let is_near = move |one: &Access<'_>| one.file == load.file && one.line.abs_diff(load.line) <= most(one);
    facts.accesses_of(load.kernel.id, "shared").filter(move |one| one.op == "store" && is_near(one))
}
