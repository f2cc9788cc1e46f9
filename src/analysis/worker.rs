//! Counts the requests of a share of the SMs.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Addresses, Item, Space};
use warpline_format::event::{AllocationId, LaunchId};

use super::alike::{Alike, Shifts};
use super::{CellId, CellKey, Cells, Follower, LaunchShape, Owner, Part, Request, decode};
use crate::attribution::{AllocationMap, ContextId, ContextTree, ROOT, Segment, WarpContext};
use crate::metrics::{
    BankRules, Footprint, FootprintMemo, LineTable, WavefrontMemo, Wavefronts, Width, footprint, wavefronts,
};
use crate::simulation::PageCounts;

/// What a worker remembers of a site's last request. Valid while `epoch` is the worker's.
#[derive(Clone, Copy)]
struct SiteState {
    epoch: u64,
    segment: Segment,
    context: ContextId,
    space: Space,
    cell: CellId,
    footprint: FootprintMemo,
    wavefronts: WavefrontMemo,
    alike: Alike,
}

impl Default for SiteState {
    fn default() -> Self {
        SiteState {
            epoch: 0,
            segment: Segment::EMPTY,
            context: ROOT,
            space: Space::Generic,
            cell: 0,
            footprint: FootprintMemo::default(),
            wavefronts: WavefrontMemo::default(),
            alike: Alike::default(),
        }
    }
}

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
    sites: FxHashMap<u32, Vec<SiteState>>,
    launches: FxHashMap<LaunchId, (Arc<LaunchShape>, LaunchWork)>,
    scratch: Scratch,
    shifts: Shifts,
    /// Module and sites with requests that wait to be counted.
    waiting: (u32, Vec<u32>),
    follower: F,
}

#[derive(Default)]
struct Scratch {
    table: LineTable,
    words: Vec<u64>,
    parts: Vec<Part>,
    shares: Vec<Share>,
}

/// Bytes of one owner in a request that several own.
struct Share {
    owner: Option<AllocationId>,
    mask: u32,
    /// Address, bytes, and the bytes' place in the site's mask.
    pieces: Vec<(u64, u32, u32)>,
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
            sites: FxHashMap::default(),
            launches: FxHashMap::default(),
            scratch: Scratch::default(),
            shifts: Shifts::new(&banks),
            waiting: (0, Vec::new()),
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
        let (Some((shape, work)), Some(sites)) = (self.launches.get_mut(&launch), self.sites.get_mut(&self.waiting.0))
        else {
            return;
        };
        for site in self.waiting.1.drain(..) {
            let (Some(state), Some(width)) = (sites.get_mut(site as usize), shape.module.1.widths.get(site as usize))
            else {
                continue;
            };
            state.alike.flush(*width, |cell| work.cells.counters(cell));
            state.alike.unlist();
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
        let sites = self.sites.entry(shape.module.0).or_default();
        sites.resize(module.table.sites.len(), SiteState::default());
        self.waiting.0 = shape.module.0;
        self.follower.batch(launch);
        let follows_shared = self.follower.wants_shared();
        let mut slot = 0;
        let mut context = ROOT;
        let mut at = 0;
        while at < items.len() {
            if let Some((access, length)) = decode::request(&items[at..]) {
                at += length;
                let state = &mut sites[access.site as usize];
                if !follows_shared && let Some(unlisted) = state.alike.again(self.shifts, &access, context, self.epoch)
                {
                    work.requests += 1;
                    if unlisted {
                        self.waiting.1.push(access.site);
                    }
                    continue;
                }
                let width = module.widths[access.site as usize];
                if state.alike.waits() {
                    state.alike.flush(width, |cell| work.cells.counters(cell));
                }
                let mut request = Resolver { map, epoch: self.epoch, banks: &self.banks, scratch: &mut self.scratch };
                let resolved = request.resolve(&access, width, context, state, &mut work.cells);
                let Resolved { cell, footprint, passes } = resolved;
                state.alike.remember(self.shifts, &access, context, self.epoch, cell, footprint, passes);
                work.requests += 1;
                self.follower.request(&Request {
                    access: &access,
                    site: &module.table.sites[access.site as usize],
                    width,
                    footprint,
                    passes,
                    slot,
                    place: at as u32,
                    cell,
                    parts: &self.scratch.parts,
                });
                continue;
            }
            if let Some((next, bytes)) = decode::turn(&items[at..]) {
                at += decode::TURN_BYTES;
                slot = next;
                if self.of > 1 && shape.sm(slot) % self.of != self.index {
                    at += bytes as usize;
                    continue;
                }
                if work.warps.len() <= slot as usize {
                    work.warps.resize(slot as usize + 1, WarpContext::default());
                }
                context = work.warps[slot as usize].context();
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
                        self.follower.block(slot, warps, block);
                    }
                }
                Item::Call { call_site, .. } => {
                    work.warps[slot as usize].enter(&mut work.contexts, call_site);
                    context = work.warps[slot as usize].context();
                }
                Item::Return => {
                    _ = work.warps[slot as usize].leave(&work.contexts);
                    context = work.warps[slot as usize].context();
                }
                Item::Barrier => self.follower.barrier(slot),
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

struct Resolver<'a> {
    map: &'a AllocationMap,
    epoch: u64,
    banks: &'a BankRules,
    scratch: &'a mut Scratch,
}

/// Where a request was counted, and what it costs.
struct Resolved {
    cell: CellId,
    footprint: Footprint,
    passes: Wavefronts,
}

impl Resolver<'_> {
    /// Counts a request and says where.
    #[inline]
    fn resolve(
        &mut self,
        access: &Access<'_>,
        width: Width,
        context: ContextId,
        state: &mut SiteState,
        cells: &mut Cells,
    ) -> Resolved {
        self.scratch.parts.clear();
        let footprint = footprint(access, width, &mut state.footprint, &mut self.scratch.table);
        let passes = wavefronts(access, width, self.banks, &mut state.wavefronts, &mut self.scratch.words);
        let known = state.epoch == self.epoch && state.context == context && state.space == access.space;
        let cell = if matches!(access.space, Space::Shared | Space::Local) {
            if known {
                state.cell
            } else {
                let cell = cells.id(CellKey { site: access.site, space: access.space, context, owner: Owner::Space });
                *state = SiteState { epoch: self.epoch, context, space: access.space, cell, ..*state };
                cell
            }
        } else {
            let extent = extent(access, width);
            match extent {
                Some((low, high)) if known && low >= state.segment.low && high <= state.segment.high => state.cell,
                _ => self.find(access, width, context, state, cells, extent),
            }
        };
        // What level 1 makes of global and local requests belongs to the model, not to the request.
        let counted =
            if matches!(access.space, Space::Shared | Space::Constant) { passes } else { Wavefronts::default() };
        cells.counters(cell).count(access.mask.count_ones(), width.useful(), footprint, counted);
        Resolved { cell, footprint, passes }
    }

    /// The slow way to a request's cell: asks the map, and counts the parts of several owners.
    #[cold]
    fn find(
        &mut self,
        access: &Access<'_>,
        width: Width,
        context: ContextId,
        state: &mut SiteState,
        cells: &mut Cells,
        extent: Option<(u64, u64)>,
    ) -> CellId {
        let key = |owner| CellKey { site: access.site, space: access.space, context, owner };
        if let Some((low, high)) = extent {
            let segment = self.map.find(low);
            if high <= segment.high {
                let cell = cells.id(key(segment.allocation.map_or(Owner::Unknown, Owner::Allocation)));
                *state = SiteState { epoch: self.epoch, context, space: access.space, cell, segment, ..*state };
                return cell;
            }
        }
        self.share(access, width);
        if let [share] = &self.scratch.shares[..] {
            return cells.id(key(share.owner.map_or(Owner::Unknown, Owner::Allocation)));
        }
        let cell = cells.id(key(Owner::Several));
        for share in &self.scratch.shares {
            let part = cells.id(key(share.owner.map_or(Owner::PartUnknown, Owner::PartOf)));
            self.scratch.table.clear();
            let mut useful = 0;
            for &(address, bytes, place) in &share.pieces {
                match width.holes {
                    None => {
                        self.scratch.table.insert_range(address, bytes);
                        useful += u64::from(bytes);
                    }
                    Some(mask) => {
                        let here = (mask >> place) & (u64::MAX >> (64 - bytes));
                        self.scratch.table.insert_masked(address, here);
                        useful += u64::from(here.count_ones());
                    }
                }
            }
            let footprint = self.scratch.table.footprint();
            cells.counters(part).count_part(share.mask.count_ones(), useful, footprint);
            self.scratch.parts.push(Part { cell: part, mask: share.mask });
        }
        cell
    }

    /// Splits a request by owner, in order of first touch.
    fn share(&mut self, access: &Access<'_>, width: Width) {
        let (map, shares) = (self.map, &mut self.scratch.shares);
        shares.clear();
        access.for_each_lane(|lane, address| {
            let mut place = 0;
            while place < width.bytes {
                let at = address.wrapping_add(u64::from(place));
                let segment = map.find(at);
                let bytes = u64::from(width.bytes - place).min((segment.high - at).saturating_add(1)) as u32;
                let touched = width.holes.is_none_or(|mask| mask >> place & (u64::MAX >> (64 - bytes)) != 0);
                if touched {
                    let index = shares.iter().position(|share| share.owner == segment.allocation);
                    let index = index.unwrap_or_else(|| {
                        shares.push(Share { owner: segment.allocation, mask: 0, pieces: Vec::new() });
                        shares.len() - 1
                    });
                    shares[index].mask |= 1 << lane;
                    shares[index].pieces.push((at, bytes, place));
                }
                place += bytes;
            }
        });
    }
}

/// First and last byte of a request; `None` where they cannot be told simply (addresses that wrap).
#[inline]
fn extent(access: &Access<'_>, width: Width) -> Option<(u64, u64)> {
    let tail = u64::from(width.bytes - 1);
    let (low, high) = match access.addresses {
        Addresses::Uniform(address) => (address, address),
        Addresses::Affine { bases, stride } => {
            let half = |mask: u32, base: u64| {
                let step = |lane: u32| i64::from(stride) * i64::from(lane);
                let one = base.checked_add_signed(step(mask.trailing_zeros()))?;
                let other = base.checked_add_signed(step(31 - mask.leading_zeros()))?;
                Some((one.min(other), one.max(other)))
            };
            let (first, second) = (access.mask & 0xffff, access.mask >> 16);
            if second == 0 {
                half(first, bases[0])?
            } else if first == 0 {
                half(second, bases[1])?
            } else {
                let (one, other) = (half(first, bases[0])?, half(second, bases[1])?);
                (one.0.min(other.0), one.1.max(other.1))
            }
        }
        Addresses::Delta(..) | Addresses::Full(_) => {
            let (mut low, mut high) = (u64::MAX, 0);
            access.for_each_lane(|_, address| {
                low = low.min(address);
                high = high.max(address);
            });
            (low, high)
        }
    };
    Some((low, high.checked_add(tail)?))
}
