//! Data that is read from DRAM again after L2 has evicted it, either by the next sweep or by the kernel after the one
//! that wrote it (CUDA C++ Best Practices Guide, "L2 Cache").

use super::super::facts::handover::{Handover, handover};
use super::super::facts::steps::{Needs, is_handed_over, needs};
use super::super::facts::sweep::{Sweep, moved_bytes, read_bytes, sweep};
use super::super::prelude::*;
use super::super::thresholds::reuse::LEAST_HANDED_SHARE;
use super::super::words;
use std::collections::BTreeMap;

described! {
    enum Cause {
        ProducerConsumer { writer: Name, reader: Name, read: Bytes } => "producer-consumer",
        IndependentLaunches { launches: Count } => "independent-launches",
        ElementwiseLaunches { launches: Count } => "elementwise-launches",
        NeighbourDependence { launches: Count } => "neighbour-dependence",
        GlobalDependence { launches: Count } => "global-dependence",
        DistantBlocks => "distant-blocks",
        LoopExceedsL2 => "loop-exceeds-l2",
    }
    enum Remedy {
        FuseKernels => "fuse-kernels",
        MergeLaunches => "merge-launches",
        FuseLaunches => "fuse-launches",
        BlockTime => "temporal-blocking",
        ShrinkData => "shrink-data",
        IterateInBlock => "iterate-within-block",
        BlockLoops => "block-loops",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // Data in host memory has a separate finding.
    let each = facts.profile.allocations.iter().filter(|allocation| !allocation.kind.contains("Host"));
    let found = each.filter_map(|allocation| {
        let of_handover = || handover(facts, allocation).and_then(|it| of_handover(facts, allocation, &it));
        let of_sweep = || of_sweep(facts, allocation);
        if is_handed_over(facts, allocation) {
            of_handover().or_else(of_sweep)
        } else {
            of_sweep().or_else(of_handover)
        }
    });
    found.collect()
}

fn of_handover(facts: &Facts<'_>, allocation: &Allocation, it: &Handover<'_, '_>) -> Option<Draft> {
    let (writer, reader) = (it.writer, it.worst.kernel);
    let saving = Saving::new("dram", it.read_bytes as f64);
    facts.gain(reader, &saving)?;
    let name = |kernel: &Kernel| Name(words::kernel(kernel));
    let cause = Cause::ProducerConsumer { writer: name(writer), reader: name(reader), read: Bytes(it.read_bytes) };
    let elsewhere = BTreeMap::from([(writer.id, Saving::new("dram", it.written_bytes as f64))]);
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &Remedy::FuseKernels), it.worst)
        .evidence("times", it.read_bytes as f64 / it.loaded_bytes.max(1) as f64)
        .evidence("dram_read_bytes", it.read_bytes as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("saved_bytes", it.read_bytes.saturating_add(it.written_bytes) as f64)
        .evidence("launches", writer.launch_count().saturating_add(reader.launch_count()) as f64)
        // A kernel that runs once and loads nothing generates input data, which programs usually receive from elsewhere.
        .note_if(writer.launch_count() == 1 && facts.loads_of(writer.id).next().is_none());
    Some(draft.saves(facts, Saved { saving, otherwise: LEAST_HANDED_SHARE, elsewhere }))
}

/// Returns why data is swept repeatedly, and the remedy. Returns `None` if threads cannot execute several steps because
/// another kernel writes new data for each step.
fn classify(it: &Sweep<'_, '_>, needs: Needs, is_handed_over: bool) -> Option<(Cause, Remedy)> {
    let launches = Count(it.launches);
    Some(match (it.is_across, needs) {
        (false, _) if it.has_no_loop() => (Cause::DistantBlocks, Remedy::IterateInBlock),
        (false, _) => (Cause::LoopExceedsL2, Remedy::BlockLoops),
        (true, Needs::Nothing) => (Cause::IndependentLaunches { launches }, Remedy::MergeLaunches),
        (true, Needs::Everything) => (Cause::GlobalDependence { launches }, Remedy::ShrinkData),
        (true, Needs::Neighbours) => (Cause::NeighbourDependence { launches }, Remedy::BlockTime),
        (true, Needs::Itself) if is_handed_over => return None,
        (true, Needs::Itself) => (Cause::ElementwiseLaunches { launches }, Remedy::FuseLaunches),
    })
}

fn of_sweep(facts: &Facts<'_>, allocation: &Allocation) -> Option<Draft> {
    let it = sweep(facts, allocation)?;
    let worst = *it.accesses.first()?;
    let needs = if it.is_across { needs(facts, &it.accesses) } else { Needs::Itself };
    let (cause, remedy) = classify(&it, needs, is_handed_over(facts, allocation))?;
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    diagnosis.figures.set("times", Ratio(it.times));
    diagnosis.figures.set("touched", Bytes(allocation.touched_bytes));
    // The remedy leaves one sweep, including its writes.
    let part = 1.0 - 1.0 / it.times;
    let moved = |row: &ByKernel| {
        let sectors = row.metrics.dram.as_ref().map_or(0, |dram| dram.read_sectors.saturating_add(dram.write_sectors));
        (row.kernel, Saving::new("dram", part * sectors.saturating_mul(SECTOR_BYTES) as f64))
    };
    let mut elsewhere: BTreeMap<u32, Saving> = allocation.by_kernel.iter().map(moved).collect();
    let saving = elsewhere.remove(&worst.kernel.id)?;
    let draft = Draft::for_access(facts, diagnosis, worst)
        .evidence("times", it.times)
        .evidence("dram_read_bytes", read_bytes(allocation) as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("saved_bytes", part * moved_bytes(allocation) as f64)
        .evidence("launches", it.launches as f64);
    let draft = if matches!(needs, Needs::Nothing | Needs::Everything) {
        // The minimum size of the data is unknown.
        draft.score(facts.waste(worst.kernel, &saving, part))
    } else {
        let elsewhere = if it.is_across { elsewhere } else { BTreeMap::new() };
        // If launches sweep over several arrays together, one launch that executes all steps keeps all of them in
        // cache.
        let shared = it.is_across.then(|| format!("launches {}", cause.id()));
        draft.one_cause(shared).saves(facts, Saved { saving, otherwise: part, elsewhere })
    };
    // If steps need results of other threads, the change is expensive and rarely made.
    Some(draft.note_if(needs != Needs::Itself))
}
