//! Counts the requests of a share of the SMs.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Item, LANES, MOST_MEMBERS, Space, bundle_of, requests_of};
use warpline_format::event::LaunchId;
use warpline_format::site_table::Member;

use super::alike::{Alike, Shifts};
use super::resolve::{Cost, Resolver, Scratch, SiteState};
use super::{Cells, Follower, LaunchShape, Request, decode};
use crate::attribution::{AllocationMap, ContextId, ContextTree, Module, ROOT, WarpContext};
use crate::metrics::{BankRules, Width};
use crate::simulation::PageCounts;

/// Places per byte of a batch. An access takes 16 bytes or more, so that the places of a bundle's requests stay below
/// those of the item behind it; a payload of a gibibyte has fewer places than there are numbers.
const PLACES: u32 = 4;
const _: () = assert!(MOST_MEMBERS as u32 <= 16 * PLACES);

/// Figures of one launch, or of one worker's share of it.
#[derive(Default)]
pub(super) struct LaunchWork {
    pub(super) cells: Cells,
    pub(super) contexts: ContextTree,
    pub(super) requests: u64,
    pub(super) pages: Option<PageCounts>,
    /// Worker that made it.
    pub(super) worker: u32,
    warps: Vec<WarpContext>,
}

/// Counts the requests of every `of`-th SM.
pub struct Worker<F> {
    index: u32,
    of: u32,
    banks: BankRules,
    /// Moves on whenever the remembered segments or cells may be out of date.
    epoch: u64,
    last: Option<(LaunchId, u64)>,
    modules: FxHashMap<u32, ModuleState>,
    launches: FxHashMap<LaunchId, (Arc<LaunchShape>, LaunchWork)>,
    scratch: Scratch,
    shifts: Shifts,
    /// Module of the last batch.
    module: u32,
    follower: F,
}

/// What a worker remembers of a module.
#[derive(Default)]
struct ModuleState {
    sites: Vec<SiteState>,
    bundles: Vec<BundleState>,
    /// Site fields of requests that wait to be counted.
    waiting: Vec<u32>,
}

/// What a worker remembers of a bundle's last record.
#[derive(Clone, Default)]
struct BundleState {
    alike: Alike,
    /// Of each member.
    costs: Vec<Cost>,
}

impl BundleState {
    /// Counts the requests that wait because they were like the last one.
    fn count_waiting(&mut self, members: &[Member], widths: &[Width], cells: &mut Cells) {
        let Some(waiting) = self.alike.take() else { return };
        for (member, cost) in members.iter().zip(&self.costs) {
            cost.count(Some(waiting), widths[member.site as usize], cells);
        }
    }
}

impl<F: Follower> Worker<F> {
    /// Worker number `index` of `of`.
    pub fn new(index: u32, of: u32, banks: BankRules, follower: F) -> Self {
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
            follower,
        }
    }

    /// A launch begins.
    pub fn start(&mut self, shape: &Arc<LaunchShape>) {
        self.follower.start(shape);
        self.launches.insert(shape.id, (Arc::clone(shape), LaunchWork::default()));
    }

    /// Counts the requests that wait because they were like the ones before them.
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

    /// Counts a batch that [`super::check_batch`] has passed. `map_version` changes with the map.
    pub fn batch(&mut self, launch: LaunchId, items: &[u8], map: &AllocationMap, map_version: u64) {
        if self.last != Some((launch, map_version)) {
            self.count_waiting();
            self.last = Some((launch, map_version));
            self.epoch += 1;
        }
        let Some((shape, work)) = self.launches.get_mut(&launch) else {
            self.follower.batch_end();
            return;
        };
        let module = &shape.module.1;
        self.module = shape.module.0;
        let state = self.modules.entry(self.module).or_default();
        state.sites.resize(module.table.sites.len(), SiteState::default());
        state.bundles.resize(module.table.bundles.len(), BundleState::default());
        self.follower.batch(launch);
        let mut counting = Counting {
            follows_shared: self.follower.wants_shared(),
            module,
            cells: &mut work.cells,
            state,
            resolver: Resolver { map, epoch: self.epoch, banks: &self.banks, scratch: &mut self.scratch },
            shifts: self.shifts,
            follower: &mut self.follower,
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
            // The batch was checked before; nothing after damage is looked at.
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
                        counting.follower.block(slot, warps, block);
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
                Item::Barrier => counting.follower.barrier(counting.slot),
                // Taken above.
                Item::Access(_) | Item::Turn { .. } => {}
            }
        }
        self.follower.batch_end();
    }

    /// A launch is over; its figures leave the worker.
    pub(super) fn end(&mut self, launch: LaunchId) -> LaunchWork {
        self.count_waiting();
        self.last = None;
        let Some((shape, mut work)) = self.launches.remove(&launch) else { return LaunchWork::default() };
        work.pages = self.follower.end(&shape, &mut work.cells);
        work.worker = self.index;
        work
    }
}

/// What counting a request of the current warp takes.
struct Counting<'w, F> {
    follows_shared: bool,
    module: &'w Module,
    cells: &'w mut Cells,
    state: &'w mut ModuleState,
    resolver: Resolver<'w>,
    shifts: Shifts,
    follower: &'w mut F,
    slot: u32,
    context: ContextId,
}

impl<F: Follower> Counting<'_, F> {
    /// Counts the request of an item, or the several of a bundle. `at`: byte of the item in its batch.
    #[inline(always)]
    fn item(&mut self, access: &Access<'_>, at: u32) {
        match bundle_of(access.site) {
            None => _ = self.request(access, at * PLACES),
            Some(index) => self.bundle(index, access, at),
        }
    }

    fn bundle(&mut self, index: u32, access: &Access<'_>, at: u32) {
        let epoch = self.resolver.epoch;
        let bundle = &mut self.state.bundles[index as usize];
        let may_wait = !self.follows_shared && access.space == Space::Shared;
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
            let cost = self.request(&access, at * PLACES + number);
            if may_wait {
                costs.push(cost);
            }
        }
        let bundle = &mut self.state.bundles[index as usize];
        bundle.costs = costs;
        bundle.alike.remember(self.shifts, access, self.context, epoch);
    }

    /// Counts one request and hands it to the follower; `place` orders it in its batch.
    #[inline(always)]
    fn request(&mut self, access: &Access<'_>, place: u32) -> Cost {
        let site = &mut self.state.sites[access.site as usize];
        let epoch = self.resolver.epoch;
        if !self.follows_shared
            && let Some(unlisted) = site.alike.again(self.shifts, access, self.context, epoch)
        {
            if unlisted {
                self.state.waiting.push(access.site);
            }
            return site.cost;
        }
        let width = self.module.widths[access.site as usize];
        site.cost.count(site.alike.take(), width, self.cells);
        let cost = self.resolver.resolve(access, width, self.context, site, self.cells);
        site.alike.remember(self.shifts, access, self.context, epoch);
        site.cost = cost;
        self.follower.request(&Request {
            access,
            site: &self.module.table.sites[access.site as usize],
            width,
            footprint: cost.footprint,
            passes: cost.passes,
            slot: self.slot,
            place,
            cell: cost.cell,
            parts: &self.resolver.scratch.parts,
        });
        cost
    }
}
