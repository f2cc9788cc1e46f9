//! Fills of memory that is overwritten before any access reads it.

use super::super::facts::fills::{Overwritten, Refilled, overwritten, refilled};
use super::super::prelude::*;

described! {
    enum Cause {
        ByKernel { memory: Shown, times: Count, bytes: Bytes } => "overwritten-by-kernel",
        AlreadySet { memory: Shown, times: Count, bytes: Bytes, again: Count } => "already-set",
        ByCopy { memory: Shown, times: Count, bytes: Bytes } => "overwritten-by-copy",
    }
    enum Remedy {
        Remove => "remove-fill",
        FillOnce => "fill-once",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    if !facts.is_whole_run() {
        return Vec::new();
    }
    let overwritten = overwritten(facts);
    let is_new = |one: &Refilled<'_>| !overwritten.iter().any(|known| std::ptr::eq(known.fill, one.fill));
    let again = refilled(facts).into_iter().filter(is_new).map(|one| again(facts, &one));
    overwritten.iter().map(|one| draft(facts, one)).chain(again).collect()
}

/// Creates the finding for fills that write the value that is already in memory.
fn again(facts: &Facts<'_>, one: &Refilled<'_>) -> Draft {
    let (memory, times, bytes) = (describe(one.allocation), Count(one.fill.count), Bytes(one.bytes));
    let cause = Cause::AlreadySet { memory, times, bytes, again: Count(one.fill.unchanged_count) };
    Draft::new(Diagnosis::new(&cause, &Remedy::FillOnce))
        .at_frame(innermost(&one.fill.path))
        .of_allocation(one.allocation.id)
        .object(one.allocation.name.clone())
        .evidence("fills", one.fill.count as f64)
        .evidence("unchanged", one.fill.unchanged_count as f64)
        .evidence("bytes", one.bytes as f64)
        .evidence("assumed_seconds", one.seconds)
        .score(facts.program_share(one.seconds))
}

fn draft(facts: &Facts<'_>, one: &Overwritten<'_>) -> Draft {
    let (memory, times) = (describe(one.allocation), Count(one.fill.count));
    let bytes = Bytes(one.fill.bytes);
    let cause =
        if one.by_copy { Cause::ByCopy { memory, times, bytes } } else { Cause::ByKernel { memory, times, bytes } };
    Draft::new(Diagnosis::new(&cause, &Remedy::Remove))
        .at_frame(innermost(&one.fill.path))
        .of_allocation(one.allocation.id)
        .object(one.allocation.name.clone())
        .evidence("fills", one.fill.count as f64)
        .evidence("bytes", one.fill.bytes as f64)
        .evidence("assumed_seconds", one.seconds)
        .score(facts.program_share(one.seconds))
}
