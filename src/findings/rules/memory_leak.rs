//! Memory that a loop allocates and never frees.

use super::super::facts::memory::{Made, Maker, allocated_bytes, is_variable, made};
use super::super::prelude::*;
use super::super::thresholds::allocations::*;

described! {
    enum Cause {
        NeverFreed { memory: Shown, times: Count, all: Bytes } => "never-freed-in-loop",
    }
    enum Remedy {
        FreeOrReuse => "free-or-reuse",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    if !facts.is_whole_run() {
        return Vec::new();
    }
    made(facts, 0).iter().filter(|made| is_leaked(made)).filter_map(|made| draft(facts, made)).collect()
}

/// Returns whether launches come between the allocations, none of which is freed, for one variable. Those of a setup loop come
/// one after the other, and elements of an array and members keep their pointers.
fn is_leaked(made: &Made<'_>) -> bool {
    let count = made.count();
    count >= LEAST_ALLOCATIONS
        && made.are_kept()
        && made.maker == Maker::Line
        && made.rows.iter().all(|row| row.name.as_deref().is_some_and(is_variable))
        && made.launches_between() as f64 >= LEAST_SEPARATED_SHARE * count as f64
}

fn draft(facts: &Facts<'_>, made: &Made<'_>) -> Option<Draft> {
    let (first, bytes, count) = (made.rows.first()?, made.bytes(), made.count());
    let memory = Shown(format!("`{}`", first.name.as_deref()?));
    let cause = Cause::NeverFreed { memory, times: Count(count), all: Bytes(bytes) };
    let draft = Draft::of(Diagnosis::new(&cause, &Remedy::FreeOrReuse))
        .at_frame(made.frame)
        .of_allocation(first.id)
        .object(first.name.clone())
        .evidence("allocations", count as f64)
        .evidence("bytes", bytes as f64);
    let severity = if bytes >= LEAST_RETAINED_BYTES { Severity::Warning } else { Severity::Note };
    // It costs memory, not time.
    Some(Draft { severity, score: MEMORY_WEIGHT * share(bytes, allocated_bytes(facts)), ..draft })
}
