//! Memory that is repeatedly allocated and freed in a loop. Both operations wait for the device or for the driver's
//! locks (CUDA C++ Best Practices Guide, "Allocation").

use super::super::facts::memory::{AllocationSite, Maker, allocation_sites};
use super::super::phrase::{Phrase, Unnamed};
use super::super::prelude::*;
use super::super::thresholds::allocations::*;

described! {
    enum Cause {
        Scratch { function: Name } => "library-scratch-per-call",
        Object { by: Option<Shown> } => "allocated-per-object",
        Loop => "allocated-per-iteration",
    }
    enum Remedy {
        CachingAllocator => "caching-allocator",
        AllocateLargest => "allocate-largest-once",
        AllocateOnce => "allocate-once",
        AllocateHostOnce => "allocate-once-without-pool",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    allocation_sites(facts, LEAST_ALLOCATIONS).iter().filter_map(|site| draft(facts, site)).collect()
}

fn diagnosis(site: &AllocationSite<'_>) -> Option<Diagnosis> {
    let first = site.rows.first()?;
    let remedy = match &first.kind[..] {
        _ if site.sizes_differ() => Remedy::AllocateLargest,
        "cudaMalloc" => Remedy::AllocateOnce,
        _ => Remedy::AllocateHostOnce,
    };
    let is_elsewhere = |inner: &&Frame| site.frame.is_some_and(|at| (&inner.file, inner.line) != (&at.file, at.line));
    let place = |frame: &Frame| {
        let file = frame.file.rsplit('/').next().unwrap_or_default().to_owned();
        Phrase::Line { line: Shown(frame.line.to_string()), file: Shown(file) }.shown()
    };
    let by = innermost(&first.path).filter(is_elsewhere).map(place);
    let (cause, remedy) = match &site.maker {
        Maker::Algorithm(function) => (Cause::Scratch { function: Name(function.clone()) }, Remedy::CachingAllocator),
        Maker::Constructor => (Cause::Object { by }, remedy),
        Maker::Line => (Cause::Loop, remedy),
    };
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    let memory = first.name.as_ref().map(|name| Shown(format!("`{name}`")));
    diagnosis.figures.set("memory", memory.unwrap_or_else(|| Unnamed::Memory.shown()));
    diagnosis.figures.set("times", Count(site.count()));
    diagnosis.figures.set("each", Bytes(site.bytes() / site.count().max(1)));
    diagnosis.figures.set("live", Count(site.live));
    Some(diagnosis)
}

fn draft(facts: &Facts<'_>, site: &AllocationSite<'_>) -> Option<Draft> {
    let (first, count) = (site.rows.first()?, site.count());
    let seconds = count as f64 * SECONDS_PER_ALLOCATION;
    let diagnosis = diagnosis(site)?;
    // Allocations of one function that are made and freed together are one change.
    let is_own = matches!(site.maker, Maker::Constructor | Maker::Line);
    let function = site.frame.map(|frame| &frame.function).filter(|_| is_own);
    let together = function.map(|function| format!("{count} times {} in {function}: {}", site.live, diagnosis.remedy));
    let draft = Draft::new(diagnosis)
        .at_frame(site.frame)
        .of_allocation(first.id)
        .object(first.name.clone())
        .evidence("allocations", count as f64)
        .evidence("live_at_once", site.live as f64)
        .evidence("assumed_seconds", seconds)
        .score(facts.program_share(seconds));
    Some(draft.one_cause(together))
}
