//! Builds rows of the profile from the cells of a kernel.

use std::collections::BTreeMap;

use warpline_format::access::Space;
use warpline_format::site_table::{InstructionMix, Op};

use super::names::op_name;
use super::paths::{ChainPlace, chain_place, device_frame};
use crate::model::{
    BlockPart, ByAllocation, Context, InstructionCount, Instructions, LaneSlots, Line, Metrics, PassMetrics, Site,
    Spaces, WarpBlocks,
};
use warpline_analyzer::analysis::{BlockSum, InstructionSums, KernelData, WarpSum, space_name};
use warpline_analyzer::attribution::{Module, ROOT};
use warpline_analyzer::requests::{CellKey, Owner};
use warpline_simulator::metrics::Counters;

/// Returns the metrics of counters of one space, or of several (`None`).
pub(in crate::build) fn metrics(counters: &Counters, space: Option<Space>) -> Metrics {
    let caches = counters.traffic.first().map(super::caches::caches);
    let passes = |of: Space| {
        // Counts of the GPU do not contain passes. Every traced request has at least one pass.
        (space == Some(of) && counters.wavefronts != 0)
            .then_some(PassMetrics { wavefronts: counters.wavefronts, ideal_wavefronts: counters.ideal_wavefronts })
    };
    Metrics {
        l1_wavefronts: caches.and_then(|caches| caches.l1_wavefronts),
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
        shared: passes(Space::Shared),
        constant: passes(Space::Constant),
    }
}

/// Sums by space.
#[derive(Default)]
pub(in crate::build) struct SpaceSums(BTreeMap<Space, Counters>);

impl SpaceSums {
    pub(in crate::build) fn add(&mut self, space: Space, counters: &Counters) {
        self.0.entry(space).or_default().add(counters);
    }

    pub(in crate::build) fn spaces(&self) -> Spaces {
        spaces(&self.0)
    }
}

pub(in crate::build) fn spaces(sums: &BTreeMap<Space, Counters>) -> Spaces {
    sums.iter().map(|(&space, counters)| (space_name(space).to_owned(), metrics(counters, Some(space)))).collect()
}

/// Adds a block's executed instructions.
pub(in crate::build) fn add_instructions(sum: &mut Instructions, mix: &InstructionMix, block: &BlockSum) {
    let mut classes = InstructionSums::default();
    classes.add_block(mix, block.executions, block.lanes);
    for (class, more) in classes.iter() {
        let InstructionCount { warps, lanes } = sum.entry(class.to_owned()).or_default();
        *warps = warps.saturating_add(more.warps);
        *lanes = lanes.saturating_add(more.lanes);
    }
}

/// Adds a block's lane slots; returns the instructions of one execution.
pub(in crate::build) fn add_lane_slots(sum: &mut LaneSlots, mix: &InstructionMix, block: &BlockSum) -> u64 {
    let instructions = instructions(mix);
    let issued = block.executions.saturating_mul(32).saturating_mul(instructions);
    let active = block.lanes.saturating_mul(instructions);
    sum.issued = sum.issued.saturating_add(issued);
    sum.active = sum.active.saturating_add(active);
    sum.lost_partial = sum.lost_partial.saturating_add(
        idle_in_part(block.executions.saturating_mul(32).saturating_sub(block.lanes), block.partial)
            .saturating_mul(instructions),
    );
    instructions
}

/// Returns an upper bound of those of a block's `idle` lanes that belong to its `partial` executions. Each partial
/// execution has at least one active lane.
pub fn idle_in_part(idle: u64, partial: u64) -> u64 {
    idle.min(partial.saturating_mul(31))
}

/// Converts pairs of a warp and a basic block to the profile's form.
pub(in crate::build) fn warp_blocks(sum: WarpSum) -> WarpBlocks {
    WarpBlocks { count: sum.pairs, divergent: sum.uneven, partial: sum.partial }
}

/// Returns the cells of a kernel in an order that does not depend on how they were counted.
pub(in crate::build) fn sorted_cells(kernel: &KernelData) -> Vec<(CellKey, Vec<u32>, &Counters)> {
    let mut cells: Vec<(CellKey, Vec<u32>, &Counters)> =
        kernel.cells.iter().map(|(key, counters)| (*key, kernel.contexts.calls(key.context), counters)).collect();
    cells.sort_by(|one, other| {
        (one.0.site, one.0.space, &one.1, one.0.owner).cmp(&(other.0.site, other.0.space, &other.1, other.0.owner))
    });
    cells
}

/// Returns the site rows of a kernel.
pub(in crate::build) fn sites(
    id: u32,
    module: &Module,
    kernel: &KernelData,
    cells: &[(CellKey, Vec<u32>, &Counters)],
) -> Vec<Site> {
    let mut rows = Vec::new();
    for group in cells.chunk_by(|one, other| (one.0.site, one.0.space) == (other.0.site, other.0.space)) {
        let (key, ..) = &group[0];
        let entry = &module.table.sites[key.site as usize];
        let place = chain_place(module, &entry.chain);
        let space = Some(key.space);
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
                Owner::Space | Owner::Several | Owner::NotTold => continue,
            };
            by_allocation.entry(owner).or_default().add(counters);
        }
        let only_kernel = group.iter().all(|(key, ..)| key.context == ROOT);
        rows.push(Site {
            id: key.site,
            kernel: id,
            over_ranks: BTreeMap::new(),
            file: place.user.file,
            line: place.user.line,
            column: place.user.column,
            function: place.user.function,
            leaf: place.leaf,
            inlined_at: place.inlined_at,
            op: op_name(entry.op).to_owned(),
            space: space_name(key.space).to_owned(),
            bytes: entry.bytes,
            past_l1: entry.op == Op::Load && key.space == Space::Global && entry.cache.is_past_l1(),
            result_used: entry.op == Op::Atomic && !module.table.hint(key.site).unused,
            atomic: module.table.atomic(key.site),
            library: entry.in_library,
            approximate: entry.approximate,
            metrics: metrics(&total, space),
            operand: super::operand::operand(&module.table, key.site),
            pattern: kernel.patterns.get(&(key.site, key.space)).and_then(super::pattern::pattern),
            by_allocation: by_allocation
                .into_iter()
                .map(|(allocation, counters)| ByAllocation { allocation, metrics: metrics(&counters, space) })
                .collect(),
            contexts: if only_kernel {
                Vec::new()
            } else {
                contexts
                    .into_iter()
                    .map(|(calls, counters)| Context {
                        calls: calls.iter().flat_map(|&call| call_frames(module, call)).collect(),
                        metrics: metrics(&counters, space),
                    })
                    .collect()
            },
        });
    }
    rows
}

/// Returns the frames of a call that was not inlined, outermost first.
fn call_frames(module: &Module, call: u32) -> Vec<crate::model::Frame> {
    module.table.calls[call as usize].chain.iter().rev().map(|&frame| device_frame(module, frame)).collect()
}

/// Returns the source lines of a block's instructions, each with its instructions.
pub(in crate::build) fn block_parts(module: &Module, block: u32) -> Vec<(ChainPlace, &InstructionMix)> {
    let parts = module.table.parts_of(block);
    if parts.is_empty() {
        let entry = &module.table.blocks[block as usize];
        return vec![(chain_place(module, &entry.chain), &entry.mix)];
    }
    parts.iter().map(|part| (chain_place(module, &part.chain), &part.mix)).collect()
}

/// Returns the parts of a block in the profile's form; empty if the whole block belongs to one line.
pub(in crate::build) fn parts(module: &Module, block: u32) -> Vec<BlockPart> {
    let mut lines: BTreeMap<(String, u32, u32), u64> = BTreeMap::new();
    for (place, mix) in block_parts(module, block) {
        let kernel_line = place.kernel_line();
        *lines.entry((place.user.file, place.user.line, kernel_line)).or_default() += instructions(mix);
    }
    if lines.len() < 2 {
        return Vec::new();
    }
    let part = |((file, line, kernel_line), instructions)| BlockPart { file, line, kernel_line, instructions };
    lines.into_iter().map(part).collect()
}

/// Returns the number of instructions of one execution.
pub(in crate::build) fn instructions(mix: &InstructionMix) -> u64 {
    let mut once = InstructionSums::default();
    once.add_block(mix, 1, 1);
    once.all_warps()
}

/// Returns the line rows of a kernel.
pub(in crate::build) fn lines(
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
        for (ChainPlace { user, .. }, mix) in block_parts(module, block) {
            if user.line != 0 {
                add_instructions(&mut sums.entry((user.file, user.line)).or_default().1, mix, sum);
            }
        }
    }
    sums.into_iter()
        .map(|((file, line), (spaces, instructions))| Line {
            file,
            line,
            kernel: id,
            metrics: spaces.spaces(),
            instructions,
            whole_run: BTreeMap::new(),
            over_ranks: BTreeMap::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Generates single executions of a block: the active and the live lanes of each. The cost of divergence is
        /// known exactly from them; the bound uses only their sums.
        #[test]
        fn idle_lanes_are_bounded_from_both_sides(
            executions in prop::collection::vec((prop_oneof![Just(1u64), 1u64..=32], 1u64..=32), 0..60),
            fp32 in 0u32..5, int in 0u32..5,
        ) {
            let (mut block, mut diverged, mut in_part) = (BlockSum::default(), 0, 0);
            for (lanes, live) in executions.into_iter().map(|(one, other)| (one.min(other), one.max(other))) {
                block.executions += 1;
                block.lanes += lanes;
                if lanes < live {
                    block.partial += 1;
                    diverged += live - lanes;
                    in_part += 32 - lanes;
                }
            }
            let mix = InstructionMix { fp32, int, ..InstructionMix::default() };
            let instructions = u64::from(fp32 + int);
            let mut slots = LaneSlots { issued: 5, active: 3, lost_partial: 2 };
            prop_assert_eq!(add_lane_slots(&mut slots, &mix, &block), instructions);
            prop_assert_eq!(slots.issued - 5, 32 * block.executions * instructions);
            prop_assert_eq!(slots.active - 3, block.lanes * instructions);
            let (lost, idle) = (slots.lost_partial - 2, (32 * block.executions - block.lanes) * instructions);
            // The bound is at least the divergent lanes, at most all idle lanes of these executions, and never more
            // than the total of idle lanes.
            prop_assert!(lost >= in_part * instructions && in_part >= diverged && lost <= idle);
            prop_assert!(lost <= 31 * block.partial * instructions);
            if block.partial == block.executions {
                prop_assert_eq!(lost, in_part * instructions);
            }
        }
    }
}
