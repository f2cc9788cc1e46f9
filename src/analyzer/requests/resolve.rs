//! Determines the cell and the cost of requests.

use warpline_format::access::{Access, Addresses, Space};
use warpline_format::event::AllocationId;
use warpline_format::site_table::Op;

use super::alike::{Alike, Waiting};
use super::{CellId, CellKey, Cells, Owner, OwnerShare};
use crate::attribution::{AllocationMap, ContextId, ROOT, Segment};
use warpline_simulator::geometry::{BankRules, Width};
use warpline_simulator::hierarchy::Coalescer;
use warpline_simulator::metrics::{
    Footprint, FootprintMemo, LineBytes, Scattered, WavefrontMemo, Wavefronts, footprint, together, wavefronts,
};

/// The cached result for a site's last request. It is valid if `epoch` is the worker's epoch.
#[derive(Clone, Copy)]
pub(super) struct SiteState {
    epoch: u64,
    segment: Segment,
    context: ContextId,
    space: Space,
    cell: CellId,
    footprint: FootprintMemo,
    wavefronts: WavefrontMemo,
    pub(super) alike: Alike,
    /// Cost of the request that the following equal requests share.
    pub(super) cost: Cost,
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
            cost: Cost::default(),
        }
    }
}

/// The cell and the cost of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) cell: CellId,
    pub(super) footprint: Footprint,
    pub(super) passes: Wavefronts,
}

impl Cost {
    /// Counts a request with this cost.
    #[inline]
    pub(super) fn count_one(&self, access: &Access<'_>, width: Width, cells: &mut Cells) {
        self.count_lanes(access.mask.count_ones(), access.space, width, cells);
    }

    /// Counts a request with this number of lanes.
    #[inline]
    pub(super) fn count_lanes(&self, lanes: u32, space: Space, width: Width, cells: &mut Cells) {
        // The passes of global and local requests depend on the model, so they are not counted here.
        let passes = if matches!(space, Space::Shared | Space::Constant) { self.passes } else { Wavefronts::default() };
        cells.counters(self.cell).count(lanes, width.useful(), self.footprint, passes);
    }

    /// Counts pending requests, which have equal costs.
    pub(super) fn count(&self, waiting: Option<Waiting>, width: Width, cells: &mut Cells) {
        if let Some(Waiting { requests, lanes }) = waiting {
            cells.counters(self.cell).count_alike(requests, lanes, width.useful(), self.footprint, self.passes);
        }
    }
}

/// Memory that requests reuse.
#[derive(Default)]
pub(super) struct Scratch {
    table: LineBytes,
    words: Vec<u64>,
    /// Computes the pieces of requests.
    pub(super) coalescer: Coalescer,
    /// Shares of the owners of the last request.
    pub(super) parts: Vec<OwnerShare>,
    shares: Vec<Share>,
}

/// The bytes of one owner in a request with several owners.
struct Share {
    owner: Option<AllocationId>,
    mask: u32,
    /// Address, number of bytes, and offset in the site's mask.
    pieces: Vec<(u64, u32, u32)>,
}

/// Resolves requests to cells.
pub(super) struct Resolver<'a> {
    pub(super) map: &'a AllocationMap,
    pub(super) epoch: u64,
    pub(super) banks: &'a BankRules,
    /// Whether the pieces of requests are needed.
    pub(super) pieces: bool,
    pub(super) scratch: &'a mut Scratch,
}

impl Resolver<'_> {
    /// Computes the cell and the cost of a request. The shares of several owners are counted here; the request itself
    /// is not.
    #[inline]
    pub(super) fn resolve(
        &mut self,
        access: &Access<'_>,
        width: Width,
        op: Op,
        context: ContextId,
        state: &mut SiteState,
        cells: &mut Cells,
    ) -> Cost {
        self.scratch.parts.clear();
        let scattered = Scattered::from_access(access, width);
        let footprint = match &scattered {
            Some(scattered) => scattered.footprint(),
            None => footprint(access, width, &mut state.footprint, &mut self.scratch.table),
        };
        if self.pieces && access.space == Space::Global {
            self.scratch.coalescer.warp_pieces(access, width, op != Op::Load, scattered.as_ref());
        } else {
            self.scratch.coalescer.clear();
        }
        let words = &mut self.scratch.words;
        let passes = wavefronts(access, width, op, self.banks, &mut state.wavefronts, words, scattered.as_ref());
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
            let extent = scattered.as_ref().map_or_else(|| extent(access, width), Scattered::extent);
            match extent {
                Some((low, high)) if known && low >= state.segment.low && high <= state.segment.high => state.cell,
                _ => self.find(access, width, context, state, cells, extent),
            }
        };
        Cost { cell, footprint, passes }
    }

    /// Returns the combined cost of two requests of one site.
    pub(super) fn both(&mut self, one: &Access<'_>, other: &Access<'_>, width: Width, costs: [Cost; 2]) -> Cost {
        let [first, second] = costs;
        let footprint = if one.space == Space::Local {
            // The stacks of each 32 lanes are interleaved only among themselves.
            first.footprint.plus(second.footprint)
        } else {
            together(&[one, other], width, &mut self.scratch.table)
        };
        Cost { cell: first.cell, footprint, passes: first.passes.plus(second.passes) }
    }

    /// Finds a request's cell without the cache: searches the map, and counts the shares of several owners.
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
            self.scratch.parts.push(OwnerShare { cell: part, mask: share.mask });
        }
        cell
    }

    /// Splits a request by owner, in the order of first accesses.
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

/// Returns the first and the last byte of a request; `None` if addresses wrap.
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
