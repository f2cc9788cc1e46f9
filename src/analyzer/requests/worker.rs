//! Counts the requests of a part of the SMs.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Item, LANES, MOST_MEMBERS, Space, bundle_of, requests_of};
use warpline_format::event::LaunchId;
use warpline_format::site_table::{Member, Op};

use super::alike::{Alike, Shifts};
use super::narrow::Narrowed;
use super::resolve::{Cost, Resolver, Scratch, SiteState};
use super::waves::{PendingRequest, WaveRequest, Waves};
use super::{AnalysisTool, Cells, Event, Execution, LaunchShape, Request, decode};
use crate::attribution::{AllocationMap, ContextId, ContextTree, MapChange, Module, ROOT, WarpContext};
use warpline_simulator::geometry::{BankRules, Width};

/// Positions per byte of a batch. An access takes at least 16 bytes, so the positions of a bundle's requests (two each)
/// stay below those of the next item. The positions of a payload of one gibibyte fit into 32 bits.
const PLACES: u32 = 4;
const _: () = assert!(2 * MOST_MEMBERS as u32 <= 16 * PLACES);

/// Figures of one launch, or of one worker's part of it.
#[derive(Default)]
pub struct LaunchWork<R> {
    /// The counters.
    pub cells: Cells,
    /// Device call paths that the contexts of the cells refer to.
    pub contexts: ContextTree,
    /// Number of requests.
    pub requests: u64,
    /// Results of the worker's tool.
    pub results: R,
    /// Number of the worker.
    pub worker: u32,
    warps: Vec<WarpContext>,
    /// Pending halves of waves of 64 lanes, for models that have them.
    waves: Waves,
}

/// Counts the requests of every `of`-th SM.
pub struct Worker<T: AnalysisTool> {
    index: u32,
    of: u32,
    banks: BankRules,
    /// Incremented when cached segments or cells may be outdated.
    epoch: u64,
    last: Option<(LaunchId, u64)>,
    modules: FxHashMap<u32, ModuleState>,
    launches: FxHashMap<LaunchId, (Arc<LaunchShape>, LaunchWork<T::Result>)>,
    scratch: Scratch,
    shifts: Shifts,
    /// Number of the last batch's module.
    module: u32,
    /// Whether two neighbouring warps form a wave.
    wide: bool,
    /// Allocations with smaller elements, if there are any.
    narrowed: Option<Arc<Narrowed>>,
    /// The allocations at the time of the next batch. Each worker has its own map, because copying a shared map after
    /// each allocation would take time proportional to its size.
    map: AllocationMap,
    /// Incremented with each change of the map.
    map_version: u64,
    tool: T,
}

/// The cached state of a module.
#[derive(Default)]
struct ModuleState {
    sites: Vec<SiteState>,
    bundles: Vec<BundleState>,
    /// States of the sites' requests to allocations with smaller elements; empty if there are none.
    narrow_sites: Vec<SiteState>,
    /// Site fields of requests that are not counted yet.
    waiting: Vec<u32>,
}

/// The cached state of a bundle's last record.
#[derive(Clone, Default)]
struct BundleState {
    alike: Alike,
    /// Cost of each member.
    costs: Vec<Cost>,
}

impl BundleState {
    /// Counts the pending requests that were equal to the last one.
    fn count_waiting(&mut self, members: &[Member], widths: &[Width], cells: &mut Cells) {
        let Some(waiting) = self.alike.take() else { return };
        for (member, cost) in members.iter().zip(&self.costs) {
            cost.count(Some(waiting), widths[member.site as usize], cells);
        }
    }
}

impl<T: AnalysisTool> Worker<T> {
    /// Creates worker number `index` of `of`.
    pub fn new(index: u32, of: u32, banks: BankRules, tool: T) -> Self {
        let wide = tool.wave_lanes() == 64;
        Worker {
            index,
            of: of.max(1),
            banks,
            epoch: 0,
            last: None,
            modules: FxHashMap::default(),
            launches: FxHashMap::default(),
            scratch: Scratch::default(),
            shifts: Shifts::new(&banks),
            module: 0,
            wide,
            narrowed: None,
            map: AllocationMap::default(),
            map_version: 0,
            tool,
        }
    }

    /// Sets the allocations with smaller elements.
    pub fn narrow(&mut self, narrowed: Arc<Narrowed>) {
        self.narrowed = Some(narrowed);
    }

    /// Starts a launch.
    pub fn start(&mut self, shape: &Arc<LaunchShape>) {
        self.tool.start(shape);
        self.launches.insert(shape.id, (Arc::clone(shape), LaunchWork::default()));
    }

    /// Counts the pending requests that were equal to earlier ones.
    fn count_waiting(&mut self) {
        let Some((launch, _)) = self.last else { return };
        let (Some((shape, work)), Some(state)) = (self.launches.get_mut(&launch), self.modules.get_mut(&self.module))
        else {
            return;
        };
        let module = &shape.module.1;
        for field in state.waiting.drain(..) {
            if let Some(index) = bundle_of(field) {
                let bundle = &mut state.bundles[index as usize];
                let members = &module.table.bundles[index as usize].members;
                bundle.count_waiting(members, &module.widths, &mut work.cells);
                bundle.alike.unlist();
            } else {
                let site = &mut state.sites[field as usize];
                site.cost.count(site.alike.take(), module.widths[field as usize], &mut work.cells);
                site.alike.unlist();
            }
        }
    }

    /// Applies changes of memory before the next batch.
    pub fn apply(&mut self, changes: &[MapChange]) {
        changes.iter().for_each(|change| self.map.apply(*change));
        self.map_version += 1;
    }

    /// Counts a batch that [`super::check_batch`] has accepted.
    pub fn batch(&mut self, launch: LaunchId, items: &[u8]) {
        if self.last != Some((launch, self.map_version)) {
            self.count_waiting();
            self.last = Some((launch, self.map_version));
            self.epoch += 1;
        }
        let Some((shape, work)) = self.launches.get_mut(&launch) else {
            self.tool.batch_end();
            return;
        };
        let module = &shape.module.1;
        self.module = shape.module.0;
        let state = self.modules.entry(self.module).or_default();
        state.sites.resize(module.table.sites.len(), SiteState::default());
        state.bundles.resize(module.table.bundles.len(), BundleState::default());
        if self.narrowed.is_some() {
            state.narrow_sites.resize(module.table.sites.len(), SiteState::default());
        }
        self.tool.batch(launch);
        let pieces = self.tool.needs_requests();
        let mut counting = Counting {
            alike: !self.wide && !self.tool.needs_shared(),
            wide: self.wide,
            cached_only: !self.wide && !self.tool.needs_counters(),
            narrowed: self.narrowed.as_deref(),
            warps: shape.warps,
            module,
            waves: &mut work.waves,
            cells: &mut work.cells,
            state,
            resolver: Resolver {
                map: &self.map,
                epoch: self.epoch,
                banks: &self.banks,
                pieces,
                scratch: &mut self.scratch,
            },
            shifts: self.shifts,
            tool: &mut self.tool,
            slot: 0,
            context: ROOT,
        };
        let mut at = 0;
        while at < items.len() {
            if let Some((access, length)) = decode::request(&items[at..]) {
                work.requests += u64::from(requests_of(access.site));
                counting.item(&access, at as u32);
                at += length;
                continue;
            }
            if let Some((next, bytes)) = decode::turn(&items[at..]) {
                at += decode::TURN_BYTES;
                counting.slot = next;
                if self.of > 1 && shape.sm(next) % self.of != self.index {
                    at += bytes as usize;
                    continue;
                }
                if work.warps.len() <= next as usize {
                    work.warps.resize(next as usize + 1, WarpContext::default());
                }
                counting.context = work.warps[next as usize].context();
                continue;
            }
            // The batch was checked before; anything after damage is ignored.
            let Some((Ok(item), length)) = decode::item(&items[at..]) else { break };
            at += length;
            match item {
                Item::BlockStart { slot, warps, block } => {
                    if shape.sm(slot) % self.of == self.index {
                        let end = (slot + warps) as usize;
                        if work.warps.len() < end {
                            work.warps.resize(end, WarpContext::default());
                        }
                        work.warps[slot as usize..end].fill(WarpContext::default());
                        if self.wide {
                            counting.waves_over(slot, warps, (at as u32).wrapping_mul(PLACES));
                        }
                        counting.tool.event(Event::Block { slot, warps, block });
                    }
                }
                Item::Call { call_site, .. } => {
                    let warp = &mut work.warps[counting.slot as usize];
                    warp.enter(&mut work.contexts, call_site);
                    counting.context = warp.context();
                }
                Item::Return => {
                    let warp = &mut work.warps[counting.slot as usize];
                    _ = warp.leave(&work.contexts);
                    counting.context = warp.context();
                }
                Item::Barrier => {
                    if self.wide {
                        counting.wave_barrier((at as u32).wrapping_mul(PLACES));
                    }
                    counting.tool.event(Event::Barrier { slot: counting.slot });
                }
                Item::Named(_) => {
                    if self.wide {
                        counting.wave_barrier((at as u32).wrapping_mul(PLACES));
                    }
                }
                Item::Operation(values) => {
                    let Some(operation) = module.table.operations.get(values.operation as usize) else { continue };
                    let execution = Execution { values: &values, operation, slot: counting.slot };
                    counting.tool.event(Event::Operation(&execution));
                }
                // These items were handled above.
                Item::Access(_) | Item::Turn { .. } => {}
            }
        }
        self.tool.batch_end();
    }

    /// Counts the pending halves of waves at the end of a launch, as a separate batch.
    fn end_waves(&mut self, launch: LaunchId) {
        // The cached state of sites may belong to another launch.
        self.epoch += 1;
        if let Some((shape, work)) = self.launches.get_mut(&launch) {
            let module = &shape.module.1;
            self.tool.batch(launch);
            let (slots, pieces) = (shape.slots, self.tool.needs_requests());
            let mut counting = Counting {
                alike: false,
                wide: true,
                cached_only: false,
                narrowed: self.narrowed.as_deref(),
                warps: shape.warps,
                module,
                waves: &mut work.waves,
                cells: &mut work.cells,
                state: self.modules.entry(shape.module.0).or_default(),
                resolver: Resolver {
                    map: &self.map,
                    epoch: self.epoch,
                    banks: &self.banks,
                    pieces,
                    scratch: &mut self.scratch,
                },
                shifts: self.shifts,
                tool: &mut self.tool,
                slot: 0,
                context: ROOT,
            };
            for slot in 0..slots {
                // Each slot belongs to one worker, so the slot number orders the requests of all workers.
                counting.waves_over(slot, 1, 2 * slot);
            }
        }
        self.tool.batch_end();
    }

    /// Ends a launch and returns its figures.
    pub fn end(&mut self, launch: LaunchId) -> LaunchWork<T::Result> {
        self.count_waiting();
        if self.wide {
            self.end_waves(launch);
        }
        self.last = None;
        let Some((shape, mut work)) = self.launches.remove(&launch) else { return LaunchWork::default() };
        work.results = self.tool.end(&shape, &mut work.cells);
        work.worker = self.index;
        work
    }
}

/// The data that is needed to count a request of the current warp.
struct Counting<'w, T> {
    /// Whether equal requests to shared memory may be counted together.
    alike: bool,
    wide: bool,
    /// Whether only requests that reach the caches are needed.
    cached_only: bool,
    narrowed: Option<&'w Narrowed>,
    /// Warps per block.
    warps: u32,
    waves: &'w mut Waves,
    module: &'w Module,
    cells: &'w mut Cells,
    state: &'w mut ModuleState,
    resolver: Resolver<'w>,
    shifts: Shifts,
    tool: &'w mut T,
    slot: u32,
    context: ContextId,
}

impl<T: AnalysisTool> Counting<'_, T> {
    /// Counts the request of an item, or the requests of a bundle. `at` is the byte of the item in its batch.
    #[inline(always)]
    fn item(&mut self, access: &Access<'_>, at: u32) {
        if self.cached_only && !matches!(access.space, Space::Global | Space::Local) {
            return;
        }
        match bundle_of(access.site) {
            None => _ = self.make(access, at * PLACES),
            Some(index) => self.bundle(index, access, at),
        }
    }

    fn bundle(&mut self, index: u32, access: &Access<'_>, at: u32) {
        let epoch = self.resolver.epoch;
        let bundle = &mut self.state.bundles[index as usize];
        let may_wait = self.alike && access.space == Space::Shared;
        if may_wait && let Some(unlisted) = bundle.alike.again(self.shifts, access, self.context, epoch) {
            if unlisted {
                self.state.waiting.push(access.site);
            }
            return;
        }
        let members = &self.module.table.bundles[index as usize].members;
        bundle.count_waiting(members, &self.module.widths, self.cells);
        let mut costs = std::mem::take(&mut bundle.costs);
        costs.clear();
        let mut spare = [0; 8 * LANES];
        for (number, member) in (0..).zip(members) {
            let access = access.member(member.site, member.offset, &mut spare);
            let cost = self.make(&access, at * PLACES + 2 * number);
            if may_wait {
                costs.push(cost);
            }
        }
        let bundle = &mut self.state.bundles[index as usize];
        bundle.costs = costs;
        bundle.alike.remember(self.shifts, access, self.context, epoch);
    }

    /// Counts one request and passes it to the tool; `place` is its position in the batch.
    #[inline(always)]
    fn request(&mut self, access: &Access<'_>, place: u32) -> Cost {
        if let Some(narrowed) = self.narrowed
            && let Some(cost) = self.narrow_request(narrowed, access, place)
        {
            return cost;
        }
        let site = &mut self.state.sites[access.site as usize];
        let epoch = self.resolver.epoch;
        if self.alike
            && let Some(unlisted) = site.alike.again(self.shifts, access, self.context, epoch)
        {
            if unlisted {
                self.state.waiting.push(access.site);
            }
            return site.cost;
        }
        let width = self.module.widths[access.site as usize];
        site.cost.count(site.alike.take(), width, self.cells);
        let op = self.module.table.sites[access.site as usize].op;
        let cost = self.resolver.resolve(access, width, op, self.context, site, self.cells);
        cost.count_one(access, width, self.cells);
        // Address collisions of atomic operations depend on more than banks, so each request is analysed.
        if op != Op::Atomic {
            site.alike.remember(self.shifts, access, self.context, epoch);
        }
        site.cost = cost;
        self.follow(access, width, cost, place);
        cost
    }

    /// Counts a request to an allocation with smaller elements; returns `None` for other requests.
    #[cold]
    fn narrow_request(&mut self, narrowed: &Narrowed, access: &Access<'_>, place: u32) -> Option<Cost> {
        let mut spare = [0; 8 * LANES];
        let number = access.site as usize;
        let width = self.module.widths[number];
        let (access, width) = narrowed.access(self.resolver.map, access, width, &mut spare)?;
        let op = self.module.table.sites[number].op;
        let site = &mut self.state.narrow_sites[number];
        let cost = self.resolver.resolve(&access, width, op, self.context, site, self.cells);
        cost.count_one(&access, width, self.cells);
        self.follow(&access, width, cost, place);
        Some(cost)
    }

    fn follow(&mut self, access: &Access<'_>, width: Width, cost: Cost, place: u32) {
        let request = Request {
            access,
            site: &self.module.table.sites[access.site as usize],
            width,
            footprint: cost.footprint,
            pieces: self.resolver.scratch.coalescer.last(),
            passes: cost.passes,
            slot: self.slot,
            place,
            cell: cost.cell,
            parts: &self.resolver.scratch.parts,
        };
        self.tool.event(Event::Request(&request));
    }

    /// Counts a request of the current warp, or pairs it with the request of the wave's other half first. Uses two
    /// positions.
    #[inline(always)]
    fn make(&mut self, access: &Access<'_>, place: u32) -> Cost {
        if self.wide {
            self.with_waves(place, |waves, this, made| {
                waves.request(access, this.slot, this.warps, this.context, made)
            });
            return Cost::default();
        }
        self.request(access, place)
    }

    fn wave_barrier(&mut self, place: u32) {
        self.with_waves(place, |waves, this, made| waves.barrier(this.slot, this.warps, made));
    }

    fn waves_over(&mut self, first: u32, count: u32, place: u32) {
        self.with_waves(place, |waves, _, made| waves.over(first, count, made));
    }

    /// Counts the requests that `work` produces from pending halves.
    fn with_waves(&mut self, place: u32, work: impl FnOnce(&mut Waves, &Self, &mut dyn FnMut(WaveRequest))) {
        let mut all = Vec::new();
        let mut waves = std::mem::take(self.waves);
        work(&mut waves, self, &mut |made| all.push(made));
        *self.waves = waves;
        let (slot, context) = (self.slot, self.context);
        for (number, made) in (0..2).chain(std::iter::repeat(1)).zip(all) {
            match made {
                WaveRequest::Half(held) => {
                    (self.slot, self.context) = (held.slot, held.context);
                    self.request(&held.access(), place + number);
                }
                WaveRequest::Whole(even, odd) => self.whole(&even, &odd, place),
            }
        }
        (self.slot, self.context) = (slot, context);
    }

    /// Counts a request of a whole wave. Caches receive the halves one after the other, because they group at most 32
    /// lanes.
    fn whole(&mut self, even: &PendingRequest, odd: &PendingRequest, place: u32) {
        let number = even.access().site as usize;
        let width = self.module.widths[number];
        let op = self.module.table.sites[number].op;
        let mut costs = [Cost::default(); 2];
        for (half, (held, cost)) in [even, odd].into_iter().zip(&mut costs).enumerate() {
            (self.slot, self.context) = (held.slot, held.context);
            let access = held.access();
            let site = &mut self.state.sites[number];
            *cost = self.resolver.resolve(&access, width, op, held.context, site, self.cells);
            self.follow(&access, width, *cost, place + half as u32);
        }
        if costs[0].cell == costs[1].cell {
            self.resolver.both(&even.access(), &odd.access(), width, costs).count_lanes(
                even.access().mask.count_ones() + odd.access().mask.count_ones(),
                even.access().space,
                width,
                self.cells,
            );
        } else {
            // Halves that access different allocations are counted separately.
            for (held, cost) in [even, odd].into_iter().zip(costs) {
                cost.count_one(&held.access(), width, self.cells);
            }
        }
    }
}
