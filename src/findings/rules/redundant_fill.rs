//! Fills of memory that is overwritten before anything reads it.

use super::super::facts::fills::{Overwritten, overwritten};
use super::super::prelude::*;

described! {
    enum Cause {
        ByKernel { memory: Shown, times: Count, bytes: Bytes } => "overwritten-by-kernel",
        ByCopy { memory: Shown, times: Count, bytes: Bytes } => "overwritten-by-copy",
    }
    enum Remedy {
        Remove => "remove-fill",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    if !facts.is_whole_run() {
        return Vec::new();
    }
    overwritten(facts).iter().map(|one| draft(facts, one)).collect()
}

fn draft(facts: &Facts<'_>, one: &Overwritten<'_>) -> Draft {
    let (memory, times) = (describe(one.allocation), Count(one.fill.count));
    let bytes = Bytes(one.fill.bytes);
    let cause =
        if one.by_copy { Cause::ByCopy { memory, times, bytes } } else { Cause::ByKernel { memory, times, bytes } };
    Draft::of(Diagnosis::new(&cause, &Remedy::Remove))
        .at_frame(innermost(&one.fill.path))
        .of_allocation(one.allocation.id)
        .object(one.allocation.name.clone())
        .evidence("fills", one.fill.count as f64)
        .evidence("bytes", one.fill.bytes as f64)
        .evidence("assumed_seconds", one.seconds)
        .score(facts.program_share(one.seconds))
}
