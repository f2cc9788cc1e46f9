//! Data that is read from DRAM again after it left L2: by the next sweep, or by the kernel behind the one that wrote it (CUDA C++ Best
//! Practices Guide, "L2 Cache").

use std::collections::BTreeMap;

use super::super::diagnosis::{Bytes, Count, Described, Diagnosis, Ratio, Shown, described};
use super::super::draft::{Draft, Saved};
use super::super::facts::Facts;
use super::super::facts::handover::{Handover, handover};
use super::super::facts::steps::{Needs, is_handed_over, needs};
use super::super::facts::sweep::{Sweep, moved_bytes, read_bytes, sweep};
use super::super::gain::Saving;
use super::super::thresholds::reuse::LEAST_HANDED_SHARE;
use super::super::words;
use warpline_profile::model::{Allocation, Kernel, Severity};
use warpline_simulator::geometry::SECTOR_BYTES;

described! {
    pub(in super::super) enum Cause {
        /// A kernel writes data and another one reads it, each byte once.
        ProducerConsumer { writer: Shown, reader: Shown, read: Bytes } => "producer-consumer",
        /// No launch needs the results of another.
        IndependentLaunches { times: Ratio, launches: Count, touched: Bytes } => "independent-launches",
        /// A thread needs its own element of the results of the launch before.
        ElementwiseLaunches { times: Ratio, launches: Count, touched: Bytes } => "elementwise-launches",
        /// It needs neighbours, at fixed distances.
        NeighbourDependence { times: Ratio, launches: Count, touched: Bytes } => "neighbour-dependence",
        /// It needs elements anywhere.
        GlobalDependence { times: Ratio, launches: Count, touched: Bytes } => "global-dependence",
        /// Blocks of one launch that run far apart need the same data.
        DistantBlocks { times: Ratio, touched: Bytes } => "distant-blocks",
        /// A loop iterates over more than L2 holds.
        LoopExceedsL2 { times: Ratio, touched: Bytes } => "loop-exceeds-l2",
    }
}

described! {
    pub(in super::super) enum Remedy {
        FuseKernels => "fuse-kernels",
        MergeLaunches => "merge-launches",
        FuseLaunches => "fuse-launches",
        BlockTime => "temporal-blocking",
        ShrinkData => "shrink-data",
        IterateInBlock => "iterate-within-block",
        BlockLoops => "block-loops",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // What lies in host memory has a finding of its own.
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
    let saving = Saving::of("dram", it.read_bytes as f64);
    facts.gain(reader, &saving, "")?;
    let name = |kernel: &Kernel| Shown(format!("`{}`", words::kernel(kernel)));
    let (writer_name, reader_name) = (name(writer), name(reader));
    let cause = Cause::ProducerConsumer { writer: writer_name, reader: reader_name, read: Bytes(it.read_bytes) };
    let elsewhere = BTreeMap::from([(writer.id, Saving::of("dram", it.written_bytes as f64))]);
    let saved = it.read_bytes.saturating_add(it.written_bytes);
    let draft = Draft::of_access(facts, Diagnosis::new(&cause, &Remedy::FuseKernels), it.worst)
        .evidence("times", it.read_bytes as f64 / it.loaded_bytes.max(1) as f64)
        .evidence("dram_read_bytes", it.read_bytes as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("saved_bytes", saved as f64)
        .evidence("launches", writer.launch_count().saturating_add(reader.launch_count()) as f64);
    // What a program makes for itself once, in the place of data from elsewhere.
    let loads = facts.accesses_of(writer.id, "global").any(|access| access.op == "load");
    let draft = if writer.launch_count() == 1 && !loads { draft.severity(Severity::Note) } else { draft };
    Some(draft.saves(facts, Saved { saving, otherwise: LEAST_HANDED_SHARE, elsewhere, ..Saved::default() }))
}

/// Why data is swept, and what to do; `None` where no thread can make several steps on what another kernel makes anew for each.
fn classify(it: &Sweep<'_, '_>, needs: Needs, touched: u64, is_handed_over: bool) -> Option<(Cause, Remedy)> {
    let (times, launches, touched) = (Ratio(it.times), Count(it.launches), Bytes(touched));
    Some(match (it.is_across, needs) {
        (false, _) if it.has_no_loop() => (Cause::DistantBlocks { times, touched }, Remedy::IterateInBlock),
        (false, _) => (Cause::LoopExceedsL2 { times, touched }, Remedy::BlockLoops),
        (true, Needs::Nothing) => (Cause::IndependentLaunches { times, launches, touched }, Remedy::MergeLaunches),
        (true, Needs::Everything) => (Cause::GlobalDependence { times, launches, touched }, Remedy::ShrinkData),
        (true, Needs::Neighbours) => (Cause::NeighbourDependence { times, launches, touched }, Remedy::BlockTime),
        (true, Needs::Itself) if is_handed_over => return None,
        (true, Needs::Itself) => (Cause::ElementwiseLaunches { times, launches, touched }, Remedy::FuseLaunches),
    })
}

fn of_sweep(facts: &Facts<'_>, allocation: &Allocation) -> Option<Draft> {
    let it = sweep(facts, allocation)?;
    let worst = *it.accesses.first()?;
    let needs = if it.is_across { needs(facts, &it.accesses) } else { Needs::Itself };
    let (cause, remedy) = classify(&it, needs, allocation.touched_bytes, is_handed_over(facts, allocation))?;
    // One sweep is left, of the writes too.
    let part = 1.0 - 1.0 / it.times;
    let moved = |row: &warpline_profile::model::ByKernel| {
        let sectors = row.metrics.dram.as_ref().map_or(0, |dram| dram.read_sectors.saturating_add(dram.write_sectors));
        (row.kernel, Saving::of("dram", part * sectors.saturating_mul(SECTOR_BYTES) as f64))
    };
    let mut by_kernel: BTreeMap<u32, Saving> = allocation.by_kernel.iter().map(moved).collect();
    let saving = by_kernel.remove(&worst.kernel.id)?;
    let draft = Draft::of_access(facts, Diagnosis::new(&cause, &remedy), worst)
        .evidence("times", it.times)
        .evidence("dram_read_bytes", read_bytes(allocation) as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("saved_bytes", part * moved_bytes(allocation) as f64)
        .evidence("launches", it.launches as f64);
    let draft = if matches!(needs, Needs::Nothing | Needs::Everything) {
        // How small the data can be is not known.
        draft.score(facts.waste(worst.kernel, &saving, part))
    } else {
        let elsewhere = if it.is_across { by_kernel } else { BTreeMap::new() };
        let draft = draft.saves(facts, Saved { saving, otherwise: part, elsewhere, ..Saved::default() });
        // What launches sweep together, one launch that makes all steps keeps together.
        let shared = it.is_across.then(|| format!("launches {}", cause.id()));
        if it.is_across { draft.one_cause(shared) } else { draft }
    };
    // Steps that need what others make are written otherwise by few, and at some cost.
    Some(if needs == Needs::Itself { draft } else { draft.severity(Severity::Note) })
}
