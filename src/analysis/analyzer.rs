//! Reads a stream in order, keeps what control records say and hands batches to the workers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Display;
use std::io::Read;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use warpline_format::device::Device;
use warpline_format::event::{
    Allocation, AllocationId, AllocationKind, Copy, Event, Fault, Launch, LaunchEnd, LaunchId, PathId, SiteCount,
    StopCause, WarpBlockCount,
};
use warpline_format::site_table::Op;
use warpline_format::visible;

use super::contents::Contents;
use super::followers::{Followed, LaunchFollowed};
use super::limits::{self, copied_bytes};
use super::pool::{Pool, WorkerLost};
use super::results::{HostTraffic, LeftOut, ObjectData, direction_key};
use super::rows::{self, AllocationRows, HostRows};
use super::sharing::{LAUNCHES, Place, Sharing};
use super::worker::LaunchWork;
use super::{
    Analysis, BlockSum, BranchSum, CellKey, Cells, CopyKey, FailedLaunch, FaultData, Finish, HostAllocationData,
    InstructionSums, KernelData, LaunchData, LaunchGroup, LaunchKind, LaunchShape, OpSum, Owner, ProgramData, Progress,
    Status, WarpSum, check_batch, counted,
};
use crate::attribution::{AllocationMap, ContextTree, MapChange, Module, ROOT};
use crate::hierarchy::Written;
use crate::metrics::Counters;
use crate::patterns::Touched;
use crate::races::Watch;
use crate::simulation::{Reorder, Settings};
use crate::trace::{Damage, Ending, Message, TraceReader};

/// Why a record cannot be followed.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{0}")]
    Meaning(String),
    #[error(transparent)]
    Worker(#[from] WorkerLost),
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Refusal::Meaning(what)
    }
}

/// Bad accesses that are kept.
const MOST_FAULTS: usize = 10_000;
/// Failed launches that are told by themselves, wherever they would be told otherwise.
const MOST_FAILED: u64 = 1000;

struct OpenLaunch {
    shape: Arc<LaunchShape>,
    event: Launch,
    /// Whether it is told by itself.
    place: Place,
    /// Its blocks by warp, until they are added to its kernel's.
    warp_blocks: Vec<WarpBlockCount>,
    /// Its requests, where the GPU counted them.
    site_counts: Vec<(CellKey, Counters)>,
}

/// Follows one stream.
pub struct Analyzer {
    analysis: Analysis,
    pool: Pool,
    map: AllocationMap,
    kernels: FxHashMap<(u32, u32), u32>,
    launches: Sharing<LaunchKind>,
    failed: u64,
    allocations: AllocationRows,
    host_allocations: HostRows,
    open: BTreeMap<LaunchId, OpenLaunch>,
    status: Status,
    current: Option<LaunchId>,
    /// The launch that began last.
    last_launch: Option<LaunchId>,
    /// Puts launches into another device's order.
    reorder: Option<Reorder>,
    /// Launches that this device cannot have, until they end.
    left_out: FxHashSet<LaunchId>,
    /// Allocations in host memory that kernels reach where it is.
    in_host_memory: FxHashSet<AllocationId>,
    /// The launch that was stopped and has not ended yet, why and in which block.
    stopped: Option<(LaunchId, StopCause, u64)>,
    /// Allocations of a call path that are live.
    live: FxHashMap<PathId, u64>,
    /// Call paths of those.
    path_of: FxHashMap<AllocationId, PathId>,
    /// What copies find where they write.
    contents: Contents,
    /// Sectors that kernels touched in memory that is live.
    touched: Touched,
    /// Looks for conflicts between warps; not on a GPU, whose records do not tell barriers.
    watch: Option<Watch>,
}

/// Analyses a whole stream with `threads` workers. Damage does not make it fail: it is told in
/// [`Analysis::finish`], and everything before it is counted.
///
/// # Errors
/// [`WorkerLost`], after a bug.
pub fn analyze<R: Read>(
    reader: TraceReader<R>,
    threads: usize,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    analyze_with(reader, threads, None, progress)
}

/// As [`analyze`], with caches and reuse distances simulated.
///
/// # Errors
/// [`WorkerLost`], after a bug.
pub fn analyze_with<R: Read>(
    reader: TraceReader<R>,
    threads: usize,
    simulation: Option<&Settings>,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    follow(reader, Analyzer::new(threads, simulation), progress)
}

/// As [`analyze_with`], in the order of a run made for `device`.
///
/// # Errors
/// [`WorkerLost`], after a bug.
pub fn analyze_for<R: Read>(
    reader: TraceReader<R>,
    threads: usize,
    simulation: &Settings,
    device: Device,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    let analyzer =
        Analyzer { reorder: Some(Reorder::new(device, simulation.stated)), ..Analyzer::new(threads, Some(simulation)) };
    follow(reader, analyzer, progress)
}

fn follow<R: Read>(
    mut reader: TraceReader<R>,
    mut analyzer: Analyzer,
    progress: &mut dyn Progress,
) -> Result<Analysis, WorkerLost> {
    let finish = loop {
        let result = match reader.next() {
            Ok(Message::Event(event)) => analyzer.event(*event),
            Ok(Message::Batch { launch, items }) => analyzer.batch(launch, items),
            Err(Ending::Complete) => break Finish::Complete,
            Err(Ending::Unfinished | Ending::Damaged(Damage::Cut(_))) => break Finish::Unfinished,
            Err(Ending::Damaged(damage)) => break Finish::Damaged(damage.to_string()),
        };
        match result {
            Ok(()) => {}
            Err(Refusal::Worker(lost)) => return Err(lost),
            Err(Refusal::Meaning(what)) => break Finish::Damaged(format!("chunk {}: {what}", reader.chunk())),
        }
        analyzer.status.bytes = reader.bytes();
        progress.update(&analyzer.status, analyzer.current_kernel());
    };
    analyzer.finish(finish)
}

impl Analyzer {
    fn new(threads: usize, simulation: Option<&Settings>) -> Analyzer {
        Analyzer {
            analysis: Analysis::empty(Finish::Nothing),
            pool: Pool::new(threads, simulation),
            map: AllocationMap::default(),
            kernels: FxHashMap::default(),
            launches: Sharing::new(LAUNCHES),
            failed: 0,
            allocations: AllocationRows::default(),
            host_allocations: HostRows::default(),
            open: BTreeMap::new(),
            status: Status::default(),
            current: None,
            last_launch: None,
            reorder: None,
            left_out: FxHashSet::default(),
            in_host_memory: FxHashSet::default(),
            stopped: None,
            live: FxHashMap::default(),
            path_of: FxHashMap::default(),
            contents: Contents::default(),
            touched: Touched::default(),
            watch: Some(Watch::new(simulation.map(|settings| settings.races).unwrap_or_default())),
        }
    }

    fn current_kernel(&self) -> Option<&str> {
        let shape = &self.open.get(&self.current?)?.shape;
        let kernel = &self.analysis.kernels[shape.kernel as usize];
        Some(&shape.module.1.table.functions[kernel.function as usize].name)
    }

    fn device(&self) -> Option<&Device> {
        self.analysis.program.as_ref().map(|program| &program.device)
    }

    fn event(&mut self, event: Event) -> Result<(), Refusal> {
        match event {
            Event::Program { mut executable, mut arguments, mut device } => {
                arguments.iter_mut().chain([&mut executable, &mut device.name]).for_each(visible::make_name);
                if self.analysis.program.is_some() {
                    return Err("a second program record".to_owned().into());
                }
                self.analysis.program = Some(ProgramData { executable, arguments, device });
            }
            Event::OnGpu => {
                self.analysis.on_gpu = true;
                self.watch = None;
            }
            Event::Object { id, path, build_id } => {
                announce(&mut self.analysis.objects, id, ObjectData { path, build_id }, "object")?;
            }
            Event::Module { id, site_table } => {
                // Kernels of the first one may have run: their numbers must keep their meaning.
                if self.analysis.modules.contains_key(&id) {
                    return Err(format!("module {id} is announced twice").into());
                }
                let module = Module::new(&site_table).map_err(|error| error.to_string())?;
                self.analysis.modules.insert(id, Arc::new(module));
            }
            Event::Path { id, frames } => {
                announce(&mut self.analysis.paths, id, frames, "call path")?;
            }
            Event::Allocation(mut event) => {
                event.name.iter_mut().for_each(visible::make_name);
                if self.analysis.allocations.contains_key(&event.id) {
                    return Err(format!("allocation {} is announced twice", event.id).into());
                }
                let within = || self.map.find(event.address).allocation;
                let in_host_memory = match event.kind {
                    AllocationKind::Host | AllocationKind::Registered => true,
                    AllocationKind::Named => within().is_some_and(|around| self.in_host_memory.contains(&around)),
                    _ => false,
                };
                let row = self.allocations.row(&event);
                if in_host_memory {
                    self.in_host_memory.insert(row);
                }
                let Allocation { id, address, bytes, kind, path, .. } = event;
                self.begin_life(id, path);
                if kind != AllocationKind::Named {
                    self.touched.forget(address, bytes);
                }
                self.map.insert_for(id, row, address, bytes).map_err(|error| error.to_string())?;
                self.pool.changed(MapChange::Insert { id, row, address, bytes })?;
                rows::enter(&mut self.analysis.allocations, row, event);
            }
            Event::Free { id, .. } => {
                self.count_touched(&self.map.with_parts(id));
                if !self.freed(id) {
                    return Err(format!("allocation {id} is freed and was never announced").into());
                }
                for part in self.map.remove(id).into_iter().filter(|part| *part != id) {
                    self.freed(part);
                }
                self.pool.changed(MapChange::Remove(id))?;
            }
            Event::HostAllocation { id, mut kind, bytes, mut name, path } => {
                name.iter_mut().chain([&mut kind]).for_each(visible::make_name);
                let data = HostAllocationData { kind, bytes, name, path, count: 1 };
                if !self.host_allocations.enter(&mut self.analysis.host_allocations, id, data) {
                    return Err(format!("host allocation {id} is announced twice").into());
                }
            }
            Event::Copy(copy) => self.copy(&copy)?,
            Event::Unchanged => {
                for key in self.contents.unchanged() {
                    let sum = self.analysis.copies.entry(key).or_default();
                    sum.unchanged = (sum.unchanged + 1).min(sum.count);
                }
            }
            Event::Launch(launch) => self.launch(launch)?,
            Event::LaunchEnd(end) => self.launch_end(&end)?,
            Event::Fault(fault) => self.fault(fault),
            Event::Dropped { records } => self.analysis.dropped = self.analysis.dropped.saturating_add(records),
            Event::WarpBlocks { launch, blocks } => self.warp_blocks(launch, blocks)?,
            Event::Spills { module, kernels } => {
                self.analysis.spills.extend(kernels.into_iter().map(|(function, bytes)| ((module, function), bytes)));
            }
            Event::Parted { launch, branches } => self.parted(launch, &branches)?,
            Event::Assembled { module, kernels } => {
                let each = kernels.into_iter().map(|(function, known)| ((module, function), known));
                self.analysis.resources.extend(each);
            }
            Event::SiteCounts { launch, sites } => self.site_counts(launch, &sites)?,
            Event::Stopped { launch, cause, block } => self.stopped = Some((launch, cause, block)),
            Event::DivergentBarrier(barrier) if self.analysis.divergent.len() < MOST_FAULTS => {
                let launch = self.launch_of(barrier.launch);
                self.analysis.divergent.push((barrier, launch));
            }
            Event::DifferentBarriers(pair) if self.analysis.different.len() < MOST_FAULTS => {
                let launch = self.launch_of(pair.launch);
                self.analysis.different.push((pair, launch));
            }
            Event::DivergentBarrier(_) | Event::DifferentBarriers(_) => self.analysis.more_faults += 1,
            Event::NotLaunched { why, launches } => self.analysis.failures.add_not_launched(why, launches),
            Event::End { .. } => {}
        }
        Ok(())
    }

    /// Kernel and host path of a launch that runs.
    fn launch_of(&self, launch: LaunchId) -> Option<(u32, PathId)> {
        self.open.get(&launch).map(|open| (open.shape.kernel, open.event.path))
    }

    /// Counts the end of an allocation for its row; `false` where it was never announced.
    fn freed(&mut self, id: AllocationId) -> bool {
        let row = self.allocations.find(id, &self.analysis.allocations).map(|(row, _)| row);
        self.allocations.end(id);
        if let Some(path) = self.path_of.remove(&id)
            && let Some(live) = self.live.get_mut(&path)
        {
            *live = live.saturating_sub(1);
        }
        let Some(data) = row.and_then(|row| self.analysis.allocations.get_mut(&row)) else { return false };
        data.freed = (data.freed + 1).min(data.count);
        true
    }

    fn begin_life(&mut self, id: AllocationId, path: PathId) {
        if path == 0 {
            return;
        }
        self.path_of.insert(id, path);
        let live = self.live.entry(path).or_default();
        *live += 1;
        let most = self.analysis.live_at_once.entry(path).or_default();
        *most = (*most).max(*live);
    }

    /// Counts what was touched of allocations, each with row, address and size, for their rows.
    fn count_touched(&mut self, extents: &[(AllocationId, u64, u64)]) {
        for &(row, address, bytes) in extents {
            if let Some(data) = self.analysis.allocations.get_mut(&row) {
                data.touched_bytes = data.touched_bytes.saturating_add(self.touched.bytes_in(address, bytes));
            }
        }
    }

    /// Keeps a bad access with what it happened to, which may not be told by itself later.
    fn fault(&mut self, event: Fault) {
        if self.analysis.faults.len() >= MOST_FAULTS {
            self.analysis.more_faults += 1;
            return;
        }
        let launch = self.open.get(&event.launch).map(|open| (open.shape.kernel, open.event.path));
        let nearest = event.nearest.and_then(|id| {
            let (row, address) = self.allocations.find(id, &self.analysis.allocations)?;
            Some((row, event.address.wrapping_sub(address) as i64))
        });
        self.analysis.faults.push(FaultData { event, launch, nearest });
    }

    /// Counts a copy for the allocations at both its ends.
    fn copy(&mut self, copy: &Copy) -> Result<(), Refusal> {
        let bytes = copied_bytes(copy)?;
        if let Some(destination) = copy.destination
            && bytes != 0
        {
            let written = Written::new(destination, copy.width, copy.height, copy.destination_pitch);
            self.pool.copied(written.ok_or_else(|| format!("a copy to {destination:#x} ends past the last address"))?);
        }
        let ends = [copy.destination, copy.source].map(|end| end.and_then(|at| self.map.find(at).allocation));
        let second = ends[1].filter(|_| ends[0] != ends[1]);
        let host = copy.host.map(|id| self.host_allocations.row(id));
        let key = |allocation| (allocation, direction_key(copy.direction), host, copy.path);
        let keys: Vec<CopyKey> = ends[0].into_iter().chain(second).map(key).collect();
        for key in &keys {
            let sum = self.analysis.copies.entry(*key).or_default();
            sum.count += 1;
            sum.bytes = sum.bytes.saturating_add(bytes);
        }
        self.contents.copied(&keys);
        Ok(())
    }

    fn launch(&mut self, mut event: Launch) -> Result<(), Refusal> {
        let recorded = self.device().cloned().ok_or("a launch before the program record".to_owned())?;
        if self.last_launch.replace(event.id).is_some_and(|last| last >= event.id) {
            return Err(format!("launch {} begins twice, or behind a later one", event.id).into());
        }
        let module = self.analysis.modules.get(&event.module).cloned();
        let module = module.ok_or_else(|| format!("launch {} of the unknown module {}", event.id, event.module))?;
        if event.function as usize >= module.table.functions.len() {
            return Err(format!("launch {} of the unknown kernel {}", event.id, event.function).into());
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
                pages: None,
                patterns: BTreeMap::new(),
            });
            kernels.len() as u32 - 1
        });
        let mut shape = LaunchShape::new(&event, module, kernel, &recorded)?;
        // Before the model has its say: analyses of one trace for several models tell the same launches.
        let place = self.launches.place(&LaunchKind::of(kernel, &event));
        if let Some(reorder) = &mut self.reorder {
            let module = Arc::clone(&shape.module.1);
            let known = self.analysis.resources.get(&(event.module, event.function));
            if let Err(why) = reorder.launch(&mut event, shape, known.map_or(&[], Vec::as_slice)) {
                self.left_out.insert(event.id);
                let last = self.analysis.left_out.last().map(|left| &left.why).filter(|last| ***last == *why);
                let why = last.map_or_else(|| Arc::from(why), Arc::clone);
                self.analysis.left_out.push(LeftOut { model: 0, launch: event.id, kernel, why });
                return Ok(());
            }
            shape = LaunchShape::new(&event, module, kernel, reorder.device())?;
        }
        let shape = Arc::new(shape);
        self.pool.start(&shape)?;
        self.current = Some(event.id);
        self.open
            .insert(event.id, OpenLaunch { shape, event, place, warp_blocks: Vec::new(), site_counts: Vec::new() });
        Ok(())
    }

    fn batch(&mut self, launch: LaunchId, items: &[u8]) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        let open = self.open.get(&launch);
        let open = open.ok_or_else(|| format!("accesses of launch {launch}, which is not running"))?;
        if let Some(reorder) = &mut self.reorder {
            self.status.requests += reorder.batch(launch, items)?;
            return Ok(());
        }
        self.status.requests += check_batch(items, &open.shape)?;
        if let Some(watch) = &mut self.watch {
            watch.batch(&open.shape, open.event.path, items, &self.map);
        }
        self.pool.batch(launch, items)?;
        Ok(())
    }

    fn warp_blocks(&mut self, launch: LaunchId, blocks: Vec<WarpBlockCount>) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        let open = self.open.get_mut(&launch);
        let open = open.ok_or_else(|| format!("blocks of launch {launch}, which is not running"))?;
        limits::warp_blocks(launch, &blocks, &open.shape.module.1.table)?;
        open.warp_blocks = blocks;
        Ok(())
    }

    fn parted(&mut self, launch: LaunchId, branches: &[u32]) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        let open = self.open.get(&launch);
        let shape = &open.ok_or_else(|| format!("parted lanes of launch {launch}, which is not running"))?.shape;
        let known = shape.module.1.table.branches.len();
        if let Some(branch) = branches.iter().find(|&&branch| branch as usize >= known) {
            return Err(format!("launch {launch} tells of the unknown branch {branch}").into());
        }
        self.analysis.parted.extend(branches.iter().map(|&branch| (shape.kernel, branch)));
        Ok(())
    }

    fn site_counts(&mut self, launch: LaunchId, sites: &[SiteCount]) -> Result<(), Refusal> {
        if self.left_out.contains(&launch) {
            return Ok(());
        }
        let open = self.open.get_mut(&launch);
        let open = open.ok_or_else(|| format!("counts of launch {launch}, which is not running"))?;
        let module = &open.shape.module.1;
        open.site_counts = sites.iter().map(|count| counted::counters(module, count)).collect::<Result<_, _>>()?;
        self.analysis.counted = true;
        self.status.requests += open.site_counts.iter().map(|(_, counters)| counters.requests).sum::<u64>();
        Ok(())
    }

    fn launch_end(&mut self, end: &LaunchEnd) -> Result<(), Refusal> {
        if self.left_out.remove(&end.id) {
            return Ok(());
        }
        let open = self.open.get(&end.id).ok_or_else(|| format!("launch {} ends and never began", end.id))?;
        let table = &open.shape.module.1.table;
        limits::launch_end(end, table)?;
        let by_warp = self.open.get_mut(&end.id).map(|open| std::mem::take(&mut open.warp_blocks)).unwrap_or_default();
        let Some((number, place, mut launch)) = self.close(end.id, Some(end.error))? else { return Ok(()) };
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
        self.keep(number, place, launch);
        Ok(())
    }

    /// Keeps a launch's figures, by themselves or in its group's. Those that failed are told by themselves, the first ones.
    fn keep(&mut self, kernel: u32, place: Place, launch: LaunchData) {
        let kernel = &mut self.analysis.kernels[kernel as usize];
        let failed = launch.error != Some(0);
        let told = failed && self.failed < MOST_FAILED;
        match place {
            Place::Shared(number) if !told => match kernel.groups.entry((number, failed)) {
                Entry::Occupied(mut group) => group.get_mut().add(&launch),
                Entry::Vacant(place) => _ = place.insert(LaunchGroup::new(launch)),
            },
            _ => {
                self.failed += u64::from(told);
                kernel.launches.push(launch);
            }
        }
        self.status.launches += 1;
    }

    /// Collects the workers' figures of a launch; with its kernel's number.
    fn close(&mut self, launch: LaunchId, error: Option<i32>) -> Result<Option<(u32, Place, LaunchData)>, WorkerLost> {
        let Some(open) = self.open.remove(&launch) else { return Ok(None) };
        if let Some(reorder) = &mut self.reorder {
            let (pool, map) = (&mut self.pool, &self.map);
            let watch = &mut self.watch;
            reorder.finish(launch, |items| {
                if let Some(watch) = watch {
                    watch.batch(&open.shape, open.event.path, items, map);
                }
                pool.batch(launch, items)
            })?;
        }
        if let Some(watch) = &mut self.watch {
            watch.end(launch);
        }
        let works = self.pool.end(launch)?;
        let kernel = &mut self.analysis.kernels[open.shape.kernel as usize];
        let mut spaces = BTreeMap::new();
        let mut by_op: BTreeMap<_, OpSum> = BTreeMap::new();
        let mut host_memory = Vec::new();
        let sites = &open.shape.module.1.table.sites;
        let mut followed = LaunchFollowed::default();
        for mut work in works {
            merge(kernel, &work);
            followed.add(std::mem::take(&mut work.followed));
            self.analysis.requests += work.requests;
            for (key, _) in work.cells.iter() {
                let stores = sites.get(key.site as usize).is_some_and(|site| site.op != Op::Load);
                if let Owner::Allocation(row) | Owner::PartOf(row) = key.owner
                    && stores
                {
                    self.contents.stored(row);
                }
            }
            for (key, counters) in work.cells.iter().filter(|(key, _)| key.owner.whole()) {
                spaces.entry(key.space).or_insert_with(Counters::default).add(counters);
                if let Some(site) = sites.get(key.site as usize) {
                    by_op.entry((key.space, site.op)).or_default().count(counters);
                }
                let Owner::Allocation(id) = key.owner else { continue };
                if let Some(traffic) = counters.traffic.first().filter(|_| self.in_host_memory.contains(&id)) {
                    host_memory.resize(1, HostTraffic::default());
                    host_memory[0].add(traffic.dram_reads, traffic.dram_writes);
                }
            }
        }
        followed.keep(kernel, &mut self.touched, &self.map);
        for (key, counters) in &open.site_counts {
            let cell = kernel.cells.id(*key);
            kernel.cells.counters(cell).add(counters);
            spaces.entry(key.space).or_default().add(counters);
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
            error,
            instructions: InstructionSums::default(),
            blocks: BlockSum::default(),
            branches: BranchSum::default(),
        };
        Ok(Some((open.shape.kernel, open.place, data)))
    }

    fn finish(mut self, finish: Finish) -> Result<Analysis, WorkerLost> {
        let open: Vec<LaunchId> = self.open.keys().copied().collect();
        for launch in open {
            if let Some((kernel, place, data)) = self.close(launch, None)? {
                self.keep(kernel, place, data);
            }
        }
        if let (Some(reorder), Some(program)) = (&self.reorder, &mut self.analysis.program) {
            program.device = reorder.device().clone();
        }
        self.count_touched(&self.map.all());
        self.analysis.conflicts = self.watch.map(Watch::finish);
        self.analysis.bytes = self.status.bytes;
        self.analysis.finish = finish;
        Ok(self.analysis)
    }
}

/// Keeps an announcement. The same once more does no harm.
fn announce<K: Ord + Display, V: PartialEq>(
    known: &mut BTreeMap<K, V>,
    id: K,
    data: V,
    what: &str,
) -> Result<(), Refusal> {
    match known.entry(id) {
        Entry::Occupied(before) if *before.get() != data => {
            Err(format!("{what} {} is announced twice, with different content", before.key()).into())
        }
        Entry::Occupied(_) => Ok(()),
        Entry::Vacant(free) => {
            free.insert(data);
            Ok(())
        }
    }
}

/// Adds a worker's figures of one launch to its kernel's.
fn merge(kernel: &mut KernelData, work: &LaunchWork<Followed>) {
    let tree = &mut kernel.contexts;
    kernel.cells.add(&work.cells, |context| {
        work.contexts.calls(context).into_iter().fold(ROOT, |parent, call| tree.child(parent, call))
    });
}
