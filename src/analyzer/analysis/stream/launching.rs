//! Processes launches from their start until their results are stored.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use warpline_format::carveout::CarveoutPreference;
use warpline_format::event::{
    Argument, ArgumentValue, Launch, LaunchEnd, LaunchId, Sampled, SiteCount, WarpBlockCount,
};
use warpline_format::site_table::Op;

use super::analyzer::Analyzer;
use super::open_launch::OpenLaunch;
use super::refusal::Refusal;
use super::{counted, limits};
use crate::analyses::Sums;
use crate::analysis::results::{HostTraffic, LeftOut};
use crate::analysis::sampling::LineCounts;
use crate::analysis::sharing::RowPlace;
use crate::analysis::tool_set::{LaunchResults, ToolResults};
use crate::analysis::{
    BlockSum, BranchSum, FailedLaunch, InstructionSums, KernelData, LaunchArgument, LaunchData, LaunchGroup,
    LaunchKind, OpSum, WarpSum,
};
use crate::attribution::{ContextTree, ROOT};
use crate::requests::{CellKey, Cells, LaunchShape, LaunchWork, Owner, WorkerLost, check_batch};
use warpline_simulator::metrics::Counters;

/// Maximum number of failed launches that are reported separately even if their kind is reported in groups.
const MOST_FAILED: u64 = 1000;

impl Analyzer {
    pub(super) fn launch(&mut self, mut event: Launch) -> Result<(), Refusal> {
        let recorded = self.device().cloned().ok_or(Refusal::NoProgram)?;
        if self.last_launch.replace(event.id).is_some_and(|last| last >= event.id) {
            return Err(Refusal::LaunchOrder(event.id));
        }
        let preferred = self.carveout.take().filter(|(launch, _)| *launch == event.id);
        let carveout = preferred.map_or(CarveoutPreference::Default, |(_, preference)| preference);
        self.memory.next_launch = event.id.saturating_add(1);
        let module = self.analysis.modules.get(&event.module).cloned();
        let module = module.ok_or(Refusal::UnknownModule { launch: event.id, module: event.module })?;
        if event.function as usize >= module.table.functions.len() {
            return Err(Refusal::UnknownKernel { launch: event.id, kernel: event.function });
        }
        let kernels = &mut self.analysis.kernels;
        let kernel = *self.kernels.entry((event.module, event.function)).or_insert_with(|| {
            kernels.push(KernelData {
                module: event.module,
                function: event.function,
                cells: Cells::default(),
                contexts: ContextTree::default(),
                launches: Vec::new(),
                groups: BTreeMap::new(),
                blocks: BTreeMap::new(),
                branches: BTreeMap::new(),
                sums: Sums::default(),
                patterns: BTreeMap::new(),
            });
            kernels.len() as u32 - 1
        });
        let mut shape = LaunchShape::new(&event, module, kernel, &recorded)?;
        // The row does not depend on the model, so analyses of one trace for several models report the same launches.
        let place = self.launches.place(&LaunchKind::new(kernel, &event));
        if let Some(reorder) = &mut self.reorder {
            let module = Arc::clone(&shape.module.1);
            let known = self.analysis.resources.get(&(event.module, event.function));
            if let Err(why) = reorder.launch(&mut event, shape, &recorded, known.map_or(&[], Vec::as_slice)) {
                self.left_out.insert(event.id);
                let why = why.to_string();
                let last = self.analysis.left_out.last().map(|left| &left.why).filter(|last| ***last == *why);
                let why = last.map_or_else(|| Arc::from(why), Arc::clone);
                self.analysis.left_out.push(LeftOut { model: 0, launch: event.id, kernel, why });
                return Ok(());
            }
            shape = LaunchShape::new(&event, module, kernel, reorder.device())?;
        }
        shape.carveout = carveout;
        let shape = Arc::new(shape);
        if let Some(watch) = &mut self.watch {
            watch.launched(&shape, event.function);
        }
        self.tools.start(&shape)?;
        self.current = Some(event.id);
        self.open.insert(
            event.id,
            OpenLaunch {
                shape,
                event,
                place,
                warp_blocks: Vec::new(),
                arguments: Vec::new(),
                site_counts: Vec::new(),
                sampled: None,
            },
        );
        Ok(())
    }

    pub(super) fn batch(&mut self, launch: LaunchId, items: &[u8]) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        if self.granted.is_some() && self.open.contains_key(&launch) && !self.make_room(launch, items.len())? {
            return Ok(());
        }
        let open = self.open.get(&launch);
        let open = open.ok_or(Refusal::NotRunning { what: "accesses", launch })?;
        if let Some(reorder) = &mut self.reorder {
            self.status.requests += reorder.batch(launch, items)?;
            return Ok(());
        }
        self.status.requests += check_batch(items, &open.shape)?;
        if let Some(watch) = &mut self.watch {
            watch.batch(&open.shape, open.event.path, items, &self.memory.map);
            let launch = (open.shape.kernel, open.event.path);
            self.add_found_faults(launch);
        }
        self.tools.batch(launch, items)?;
        if self.granted.is_some() {
            self.make_room(launch, 0)?;
        }
        Ok(())
    }

    pub(super) fn sampled(&mut self, place: Sampled) -> Result<(), Refusal> {
        let kernel = match self.open.get_mut(&place.launch) {
            Some(open) if open.sampled.is_none() => {
                open.sampled = Some(place);
                open.shape.kernel
            }
            None if self.left_out.contains(&place.launch) => return Ok(()),
            _ => return Err(Refusal::NotRunning { what: "a place", launch: place.launch }),
        };
        Ok(self.strata.begin(kernel, &place)?)
    }

    pub(super) fn arguments(&mut self, launch: LaunchId, values: &[Argument]) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        let open = self.open.get_mut(&launch);
        let open = open.ok_or(Refusal::NotRunning { what: "arguments", launch })?;
        let each = values.iter().map(|one| {
            let (value, allocation) = match one.value {
                ArgumentValue::Bits(bits) => (bits, None),
                ArgumentValue::Pointer { allocation, offset } => {
                    let found = self.memory.place(allocation, &self.analysis);
                    let (row, address) = found.ok_or(Refusal::NotAnnounced(allocation))?;
                    (address.wrapping_add(offset), Some(row))
                }
            };
            let Argument { parameter, offset, bytes, .. } = *one;
            Ok(LaunchArgument { parameter, offset, bytes, value, allocation })
        });
        open.arguments = each.collect::<Result<_, Refusal>>()?;
        if let Some(watch) = &mut self.watch {
            watch.arguments(&open.shape, &open.arguments);
        }
        Ok(())
    }

    pub(super) fn warp_blocks(&mut self, launch: LaunchId, blocks: Vec<WarpBlockCount>) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        let open = self.open.get_mut(&launch);
        let open = open.ok_or(Refusal::NotRunning { what: "blocks", launch })?;
        limits::warp_blocks(launch, &blocks, &open.shape.module.1.table)?;
        open.warp_blocks = blocks;
        Ok(())
    }

    pub(super) fn parted(&mut self, launch: LaunchId, branches: &[u32]) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        let open = self.open.get(&launch);
        let shape = &open.ok_or(Refusal::NotRunning { what: "parted lanes", launch })?.shape;
        let known = shape.module.1.table.branches.len();
        if let Some(branch) = branches.iter().find(|&&branch| branch as usize >= known) {
            return Err(Refusal::UnknownBranch { launch, branch: *branch });
        }
        self.analysis.parted.extend(branches.iter().map(|&branch| (shape.kernel, branch)));
        Ok(())
    }

    pub(super) fn site_counts(&mut self, launch: LaunchId, sites: &[SiteCount]) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        let open = self.open.get_mut(&launch);
        let open = open.ok_or(Refusal::NotRunning { what: "counts", launch })?;
        let module = &open.shape.module.1;
        open.site_counts = sites.iter().map(|count| counted::counters(module, count)).collect::<Result<_, _>>()?;
        self.analysis.counted = true;
        self.status.requests += open.site_counts.iter().map(|(_, counters)| counters.requests).sum::<u64>();
        Ok(())
    }

    pub(super) fn launch_end(&mut self, end: &LaunchEnd) -> Result<(), Refusal> {
        if self.left_out.remove(&end.id) {
            return Ok(());
        }
        let open = self.open.get(&end.id).ok_or(Refusal::NeverBegan(end.id))?;
        let table = &open.shape.module.1.table;
        limits::launch_end(end, table)?;
        let by_warp = self.open.get_mut(&end.id).map(|open| std::mem::take(&mut open.warp_blocks)).unwrap_or_default();
        let sampled = self.open.get(&end.id).and_then(|open| open.sampled);
        let Some(closed) = self.close(end.id, Some(end.error))? else { return Ok(()) };
        let Closed { kernel: number, place, data: mut launch, lines } = closed;
        if end.error != 0 {
            let stopped = self.stopped.take().filter(|(launch, ..)| *launch == end.id);
            let stopped = stopped.map(|(_, cause, block)| (cause, block));
            let failed = FailedLaunch { launch: end.id, kernel: number, error: end.error, stopped };
            self.analysis.failures.launches.push(failed);
        }
        let kernel = &mut self.analysis.kernels[number as usize];
        let module = self.analysis.modules.get(&kernel.module);
        for count in &end.blocks {
            let sum = kernel.blocks.entry(count.block).or_default();
            for sum in [sum, &mut launch.blocks] {
                sum.executions = sum.executions.saturating_add(count.executions);
                sum.lanes = sum.lanes.saturating_add(count.lanes);
                sum.partial = sum.partial.saturating_add(count.partial);
            }
            if let Some(module) = module {
                let mix = &module.table.blocks[count.block as usize].mix;
                launch.instructions.add_block(mix, count.executions, count.lanes);
            }
        }
        for count in &by_warp {
            let sum = kernel.blocks.entry(count.block).or_default();
            let pairs = WarpSum { pairs: count.warps, uneven: count.uneven, partial: count.partial };
            for sum in [sum, &mut launch.blocks] {
                sum.by_warp.get_or_insert_default().add(pairs);
            }
        }
        for count in &end.branches {
            let sum = kernel.branches.entry(count.branch).or_default();
            for (executions, divergent) in [
                (&mut launch.branches.executions, &mut launch.branches.divergent),
                (&mut sum.executions, &mut sum.divergent),
            ] {
                *executions = executions.saturating_add(count.executions);
                *divergent = divergent.saturating_add(count.divergent);
            }
            sum.lanes.resize(count.lanes.len(), 0);
            for (sum, lanes) in sum.lanes.iter_mut().zip(&count.lanes) {
                *sum = sum.saturating_add(*lanes);
            }
        }
        if let Some(sampled) = sampled.filter(|_| launch.event.block_share != 0) {
            self.strata.end(&sampled, &launch, &lines);
        }
        self.keep(number, place, launch);
        self.count_kept();
        Ok(())
    }

    /// Stores a launch's figures, separately or in its group. The first failed launches are reported separately.
    pub(super) fn keep(&mut self, kernel: u32, place: RowPlace, launch: LaunchData) {
        let kernel = &mut self.analysis.kernels[kernel as usize];
        let failed = launch.error != Some(0);
        let listed = failed && self.failed < MOST_FAILED;
        match place {
            RowPlace::Shared(number) if !listed => match kernel.groups.entry((number, failed)) {
                Entry::Occupied(mut group) => group.get_mut().add(&launch),
                Entry::Vacant(place) => _ = place.insert(LaunchGroup::new(launch)),
            },
            _ => {
                self.failed += u64::from(listed);
                kernel.launches.push(launch);
            }
        }
        self.status.launches += 1;
    }

    /// Collects the workers' figures of a launch.
    pub(super) fn close(&mut self, launch: LaunchId, error: Option<i32>) -> Result<Option<Closed>, WorkerLost> {
        let Some(open) = self.open.remove(&launch) else { return Ok(None) };
        if let Some(reorder) = &mut self.reorder {
            let (tools, map) = (&mut self.tools, &self.memory.map);
            let watch = &mut self.watch;
            let assumed = reorder.finish(launch, |items| {
                if let Some(watch) = watch {
                    watch.batch(&open.shape, open.event.path, items, map);
                }
                tools.batch(launch, items)
            })?;
            if assumed {
                *self.analysis.assumed_turns.entry((0, open.shape.kernel)).or_default() += 1;
            }
        }
        if let Some(watch) = &mut self.watch {
            watch.end(launch);
            self.add_found_faults((open.shape.kernel, open.event.path));
        }
        let works = self.tools.end(launch)?;
        let kernel = &mut self.analysis.kernels[open.shape.kernel as usize];
        let mut spaces = BTreeMap::new();
        let mut by_op: BTreeMap<_, OpSum> = BTreeMap::new();
        let mut host_memory = Vec::new();
        let module = &open.shape.module.1;
        let sites = &module.table.sites;
        let mut lines = LineCounts::default();
        let mut count_line = |key: CellKey, counters: &Counters| {
            if open.sampled.is_some() {
                lines.add(open.shape.kernel, module, key, counters);
            }
        };
        let mut results = LaunchResults::default();
        for mut work in works {
            merge(kernel, &work);
            results.add(std::mem::take(&mut work.results));
            self.analysis.requests += work.requests;
            for (key, _) in work.cells.iter() {
                let stores = sites.get(key.site as usize).is_some_and(|site| site.op != Op::Load);
                if let Owner::Allocation(row) | Owner::PartOf(row) = key.owner
                    && stores
                {
                    self.memory.stored(row);
                }
            }
            for (key, counters) in work.cells.iter().filter(|(key, _)| key.owner.whole()) {
                spaces.entry(key.space).or_insert_with(Counters::default).add(counters);
                count_line(*key, counters);
                if let Some(site) = sites.get(key.site as usize) {
                    by_op.entry((key.space, site.op)).or_default().count(counters);
                }
                let Owner::Allocation(id) = key.owner else { continue };
                if let Some(traffic) = counters.traffic.first().filter(|_| self.memory.is_in_host_memory(id)) {
                    host_memory.resize(1, HostTraffic::default());
                    host_memory[0].add(traffic.dram_reads, traffic.dram_writes);
                }
            }
        }
        let atomics = results.serial_atomics();
        results.keep(kernel, &mut self.memory.touched, &self.memory.map);
        for (key, counters) in &open.site_counts {
            let cell = kernel.cells.id(*key);
            kernel.cells.counters(cell).add(counters);
            spaces.entry(key.space).or_default().add(counters);
            count_line(*key, counters);
            if let Some(site) = sites.get(key.site as usize) {
                by_op.entry((key.space, site.op)).or_default().count(counters);
            }
            self.analysis.requests += counters.requests;
        }
        let data = LaunchData {
            event: open.event,
            spaces,
            by_op,
            host_memory,
            atomics,
            error,
            instructions: InstructionSums::default(),
            blocks: BlockSum::default(),
            branches: BranchSum::default(),
            arguments: open.arguments,
        };
        Ok(Some(Closed { kernel: open.shape.kernel, place: open.place, data, lines }))
    }
}

/// An ended launch.
pub(super) struct Closed {
    pub(super) kernel: u32,
    /// The row in which it is reported.
    pub(super) place: RowPlace,
    pub data: LaunchData,
    /// Counts of its lines, if the launch represents others.
    lines: LineCounts,
}

/// Adds a worker's figures of one launch to its kernel's.
fn merge(kernel: &mut KernelData, work: &LaunchWork<ToolResults>) {
    let tree = &mut kernel.contexts;
    kernel.cells.add(&work.cells, |context| {
        work.contexts.calls(context).into_iter().fold(ROOT, |parent, call| tree.child(parent, call))
    });
}
