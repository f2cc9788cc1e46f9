//! Memory that is allocated and freed again in a loop: both wait for the device or for the driver's locks (CUDA C++ Best
//! Practices Guide, "Allocation").

use super::super::diagnosis::{Bytes, Count, Diagnosis, Name, Shown, described};
use super::super::draft::Draft;
use super::super::facts::memory::{Made, Maker, made};
use super::super::facts::{Facts, innermost};
use super::super::thresholds::allocations::{LEAST_ALLOCATIONS, SECONDS_PER_ALLOCATION};
use super::super::words;

described! {
    pub(in super::super) enum Cause {
        /// Objects are copied, with their memory.
        CopiedObject { memory: Shown, times: Count, each: Bytes, live: Count, class: Name, by: Option<Shown> } => "allocated-per-object-copy",
        /// An algorithm allocates for each call.
        Scratch { function: Name, times: Count, each: Bytes, live: Count } => "library-scratch-per-call",
        /// Objects are made, with their memory.
        Object { memory: Shown, times: Count, each: Bytes, live: Count, by: Option<Shown> } => "allocated-per-object",
        /// An allocation in a loop.
        Loop { memory: Shown, times: Count, each: Bytes, live: Count } => "allocated-per-iteration",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// References in the place of copies.
        PassByReference { class: Name } => "pass-by-reference",
        /// An allocator that keeps memory.
        CachingAllocator => "caching-allocator",
        /// One allocation of the largest size.
        AllocateLargest => "allocate-largest-once",
        /// One allocation.
        AllocateOnce => "allocate-once",
        /// One allocation of pinned or managed memory, which has no pool.
        AllocateHostOnce => "allocate-once-without-pool",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    made(facts, LEAST_ALLOCATIONS).iter().filter_map(|made| draft(facts, made)).collect()
}

fn diagnosis(made: &Made<'_>) -> Option<Diagnosis> {
    let first = made.rows.first()?;
    let count = made.count();
    let (times, live) = (Count(count), Count(made.live));
    let each = Bytes(made.bytes() / count.max(1));
    let memory = Shown(first.name.as_ref().map_or("memory".to_owned(), |name| format!("`{name}`")));
    let remedy = if made.sizes_differ() {
        Remedy::AllocateLargest
    } else if first.kind == "cudaMalloc" {
        Remedy::AllocateOnce
    } else {
        Remedy::AllocateHostOnce
    };
    let inner = innermost(&first.path)
        .filter(|inner| made.frame.is_some_and(|frame| (&inner.file, inner.line) != (&frame.file, frame.line)));
    let by = inner.map(|frame| Shown(words::place(frame)));
    let (cause, remedy) = match &made.maker {
        Maker::Copy(class) => {
            let class = Name((*class).to_owned());
            let remedy = Remedy::PassByReference { class: class.clone() };
            (Cause::CopiedObject { memory, times, each, live, class, by }, remedy)
        }
        Maker::Algorithm(function) => {
            (Cause::Scratch { function: Name(function.clone()), times, each, live }, Remedy::CachingAllocator)
        }
        Maker::Constructor => (Cause::Object { memory, times, each, live, by }, remedy),
        Maker::Line => (Cause::Loop { memory, times, each, live }, remedy),
    };
    Some(Diagnosis::new(&cause, &remedy))
}

fn draft(facts: &Facts<'_>, made: &Made<'_>) -> Option<Draft> {
    let (first, count) = (made.rows.first()?, made.count());
    let seconds = count as f64 * SECONDS_PER_ALLOCATION;
    let diagnosis = diagnosis(made)?;
    // Those of one function that come and go together are one thing to change.
    let is_own = matches!(made.maker, Maker::Constructor | Maker::Line);
    let function = made.frame.map(|frame| &frame.function).filter(|_| is_own);
    let together = function.map(|function| format!("{count} times {} in {function}: {}", made.live, diagnosis.remedy));
    let draft = Draft::of(diagnosis)
        .at_frame(made.frame)
        .of_allocation(first.id)
        .object(first.name.clone())
        .evidence("allocations", count as f64)
        .evidence("live_at_once", made.live as f64)
        .evidence("assumed_seconds", seconds)
        .score(facts.program_share(seconds));
    Some(draft.one_cause(together))
}
