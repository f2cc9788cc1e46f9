//! Rows of the profile from the cells of a kernel.

use std::collections::BTreeMap;

use warpline_format::access::Space;
use warpline_format::site_table::{InstructionMix, Op};

use super::model::{
    ByAllocation, Context, InstructionCount, Instructions, Line, Metrics, SharedMetrics, Site, Spaces, Spread,
};
use super::paths::{chain_place, device_frame};
use crate::analysis::{BlockSum, CellKey, KernelData, LaunchData, Owner};
use crate::attribution::{Module, ROOT};
use crate::metrics::Counters;

pub(super) fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global | Space::Generic => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Constant => "constant",
    }
}

pub(super) fn op_name(op: Op) -> &'static str {
    match op {
        Op::Load => "load",
        Op::Store => "store",
        Op::Atomic => "atomic",
    }
}

/// Counters as the profile tells them; `shared` adds the passes.
pub(super) fn metrics(counters: &Counters, shared: bool) -> Metrics {
    let caches = counters.traffic.first().map(super::caches::caches);
    Metrics {
        l1: caches.map(|caches| caches.l1),
        l2: caches.map(|caches| caches.l2),
        dram: caches.map(|caches| caches.dram),
        other_models: super::caches::others(counters),
        reuse: counters.reuse.as_deref().map(super::caches::reuse),
        requests: counters.requests,
        lanes: counters.lanes,
        bytes: counters.bytes,
        sectors: counters.sectors,
        ideal_sectors: counters.ideal_sectors,
        lines_touched: BTreeMap::from([
            ("32".to_owned(), counters.by_sectors.to_vec()),
            ("128".to_owned(), counters.by_lines.to_vec()),
        ]),
        shared: shared
            .then_some(SharedMetrics { wavefronts: counters.wavefronts, ideal_wavefronts: counters.ideal_wavefronts }),
    }
}

/// Sums by space.
#[derive(Default)]
pub(super) struct SpaceSums(BTreeMap<Space, Counters>);

impl SpaceSums {
    pub(super) fn add(&mut self, space: Space, counters: &Counters) {
        self.0.entry(space).or_default().add(counters);
    }

    pub(super) fn spaces(&self) -> Spaces {
        spaces(&self.0)
    }
}

pub(super) fn spaces(sums: &BTreeMap<Space, Counters>) -> Spaces {
    sums.iter()
        .map(|(&space, counters)| (space_name(space).to_owned(), metrics(counters, space == Space::Shared)))
        .collect()
}

/// Adds a block's executed instructions.
pub(super) fn add_instructions(sum: &mut Instructions, mix: &InstructionMix, block: &BlockSum) {
    let classes = [
        ("fp16", mix.fp16),
        ("fp32", mix.fp32),
        ("fp64", mix.fp64),
        ("int", mix.int),
        ("special", mix.special),
        ("conversion", mix.conversion),
        ("control", mix.control),
        ("memory", mix.memory),
        ("barrier", mix.barrier),
        ("tensor", mix.tensor),
    ];
    for (class, count) in classes {
        if count != 0 {
            let InstructionCount { warps, lanes } = sum.entry(class.to_owned()).or_default();
            *warps = warps.saturating_add(block.executions.saturating_mul(count.into()));
            *lanes = lanes.saturating_add(block.lanes.saturating_mul(count.into()));
        }
    }
}

/// Cells of a kernel in an order that does not depend on how they were counted.
pub(super) fn sorted_cells(kernel: &KernelData) -> Vec<(CellKey, Vec<u32>, &Counters)> {
    let mut cells: Vec<(CellKey, Vec<u32>, &Counters)> =
        kernel.cells.iter().map(|(key, counters)| (*key, kernel.contexts.calls(key.context), counters)).collect();
    cells.sort_by(|one, other| {
        (one.0.site, one.0.space, &one.1, one.0.owner).cmp(&(other.0.site, other.0.space, &other.1, other.0.owner))
    });
    cells
}

/// Site rows of a kernel.
pub(super) fn sites(id: u32, module: &Module, cells: &[(CellKey, Vec<u32>, &Counters)]) -> Vec<Site> {
    let mut rows = Vec::new();
    for group in cells.chunk_by(|one, other| (one.0.site, one.0.space) == (other.0.site, other.0.space)) {
        let (key, ..) = &group[0];
        let entry = &module.table.sites[key.site as usize];
        let place = chain_place(module, &entry.chain);
        let shared = key.space == Space::Shared;
        let mut total = Counters::default();
        let mut by_allocation: BTreeMap<Option<u64>, Counters> = BTreeMap::new();
        let mut contexts: BTreeMap<&[u32], Counters> = BTreeMap::new();
        for (key, calls, counters) in group {
            if key.owner.whole() {
                total.add(counters);
                contexts.entry(calls).or_default().add(counters);
            }
            let owner = match key.owner {
                Owner::Allocation(id) | Owner::PartOf(id) => Some(id),
                Owner::Unknown | Owner::PartUnknown => None,
                Owner::Space | Owner::Several => continue,
            };
            by_allocation.entry(owner).or_default().add(counters);
        }
        let only_kernel = group.iter().all(|(key, ..)| key.context == ROOT);
        rows.push(Site {
            id: key.site,
            kernel: id,
            file: place.user.file,
            line: place.user.line,
            column: place.user.column,
            function: place.user.function,
            leaf: place.leaf,
            inlined_at: place.inlined_at,
            op: op_name(entry.op).to_owned(),
            space: space_name(key.space).to_owned(),
            bytes: entry.bytes,
            library: entry.library,
            approximate: entry.approximate,
            metrics: metrics(&total, shared),
            by_allocation: by_allocation
                .into_iter()
                .map(|(allocation, counters)| ByAllocation { allocation, metrics: metrics(&counters, shared) })
                .collect(),
            contexts: if only_kernel {
                Vec::new()
            } else {
                contexts
                    .into_iter()
                    .map(|(calls, counters)| Context {
                        calls: calls.iter().flat_map(|&call| call_frames(module, call)).collect(),
                        metrics: metrics(&counters, shared),
                    })
                    .collect()
            },
        });
    }
    rows
}

/// Frames of a call that survived inlining, outermost first.
fn call_frames(module: &Module, call: u32) -> Vec<super::model::Frame> {
    module.table.calls[call as usize].chain.iter().rev().map(|&frame| device_frame(module, frame)).collect()
}

/// Line rows of a kernel.
pub(super) fn lines(
    id: u32,
    module: &Module,
    kernel: &KernelData,
    cells: &[(CellKey, Vec<u32>, &Counters)],
) -> Vec<Line> {
    let mut sums: BTreeMap<(String, u32), (SpaceSums, Instructions)> = BTreeMap::new();
    for (key, _, counters) in cells.iter().filter(|(key, ..)| key.owner.whole()) {
        let user = chain_place(module, &module.table.sites[key.site as usize].chain).user;
        sums.entry((user.file, user.line)).or_default().0.add(key.space, counters);
    }
    for (&block, sum) in &kernel.blocks {
        let entry = &module.table.blocks[block as usize];
        let user = chain_place(module, &entry.chain).user;
        if user.line != 0 {
            add_instructions(&mut sums.entry((user.file, user.line)).or_default().1, &entry.mix, sum);
        }
    }
    sums.into_iter()
        .map(|((file, line), (spaces, instructions))| Line {
            file,
            line,
            kernel: id,
            metrics: spaces.spaces(),
            instructions,
        })
        .collect()
}

/// Spread of the main figures over the launches that were recorded.
pub(super) fn over_launches(launches: &[LaunchData]) -> BTreeMap<String, Spread> {
    let recorded: Vec<&LaunchData> = launches.iter().filter(|launch| launch.event.block_share != 0).collect();
    let mut figures: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let names: BTreeMap<Space, ()> =
        recorded.iter().flat_map(|launch| launch.spaces.keys()).map(|&s| (s, ())).collect();
    for &space in names.keys() {
        for launch in &recorded {
            let none = Counters::default();
            let counters = launch.spaces.get(&space).unwrap_or(&none);
            let values = [
                ("requests", counters.requests),
                ("lanes", counters.lanes),
                ("bytes", counters.bytes),
                ("sectors", counters.sectors),
                ("ideal_sectors", counters.ideal_sectors),
            ];
            let simulated = counters.traffic.first().map(super::caches::spread).unwrap_or_default();
            for (name, value) in values.into_iter().chain(simulated) {
                figures.entry(format!("{}.{name}", space_name(space))).or_default().push(value);
            }
        }
    }
    figures.into_iter().map(|(name, values)| (name, spread(&values))).collect()
}

fn spread(values: &[u64]) -> Spread {
    let count = values.len() as f64;
    let mean = values.iter().map(|&value| value as f64).sum::<f64>() / count;
    let variance = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum::<f64>() / count;
    Spread {
        mean,
        min: values.iter().copied().min().unwrap_or(0),
        max: values.iter().copied().max().unwrap_or(0),
        stddev: variance.sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_that_of_the_population() {
        let got = spread(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(got, Spread { mean: 5.0, min: 2, max: 9, stddev: 2.0 });
    }
}
