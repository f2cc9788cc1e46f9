//! Requests from the SMs to L2.

use super::request::L2Op;
use crate::geometry::sectors::{Units, bytes_of};
use crate::hierarchy::array::{Placement, Shares};
use crate::hierarchy::config::L2Config;

/// A request that left an SM. It covers at most one 128-byte line.
#[derive(Clone, Copy, Debug)]
pub struct L2Request {
    /// Address / 128.
    pub line: u64,
    /// Position in the trace; see [`Egress::place`].
    pub place: u32,
    /// Cell that counts the request.
    pub cell: u32,
    /// Index in the list of byte masks; [`WHOLE`] if all bytes of its sectors are touched.
    mask: u32,
    /// SM that made the request.
    pub sm: u16,
    /// Touched sectors.
    pub sectors: u8,
    /// The operation.
    pub op: L2Op,
}

impl L2Request {
    /// Creates a request that touches all bytes of its sectors.
    #[inline(always)]
    pub(crate) fn whole(place: u32, sm: u16, cell: u32, line: u64, sectors: u8, op: L2Op) -> L2Request {
        L2Request { line, place, cell, mask: WHOLE, sm, sectors, op }
    }
}

/// Marks a request that touches every byte of its sectors and has no mask.
const WHOLE: u32 = u32::MAX;

/// Requests to one share of L2, in order. Few requests write sectors partly; their masks are stored separately, so that
/// the other requests stay small.
#[derive(Clone, Debug, Default)]
pub struct EgressQueue {
    requests: Vec<L2Request>,
    masks: Vec<u128>,
}

impl EgressQueue {
    /// Returns the requests.
    pub fn requests(&self) -> &[L2Request] {
        &self.requests
    }

    /// Returns whether a request touches all bytes of its sectors.
    #[inline(always)]
    pub(crate) fn is_whole(request: &L2Request) -> bool {
        request.mask == WHOLE
    }

    /// Returns the touched bytes of a request.
    #[inline(always)]
    pub fn bytes(&self, request: &L2Request) -> u128 {
        if request.mask == WHOLE {
            return bytes_of(request.sectors);
        }
        self.masks.get(request.mask as usize).copied().unwrap_or_default()
    }

    #[inline(always)]
    fn push(&mut self, mut request: L2Request, bytes: u128) {
        if request.op == L2Op::Store && bytes & bytes_of(request.sectors) != bytes_of(request.sectors) {
            request.mask = self.masks.len() as u32;
            self.masks.push(bytes);
        }
        self.requests.push(request);
    }
}

/// Maps lines to the shares of L2.
#[derive(Clone, Debug)]
struct Division {
    placement: Placement,
    shares: Shares,
    line_bytes: u32,
}

impl Division {
    /// Splits the sectors of a 128-byte line by the share that their L2 lines belong to.
    fn sectors(&self, line: u64, sectors: u8) -> impl Iterator<Item = (u32, u8)> {
        let width = self.line_bytes / 32;
        let parts = 4 / width;
        let mask = ((1u32 << width) - 1) as u8;
        (0..parts).filter_map(move |part| {
            let here = sectors & mask << (part * width);
            let set = self.placement.set(line * u64::from(parts) + u64::from(part));
            (here != 0).then_some((self.shares.share(set), here))
        })
    }
}

/// Requests that left the SMs of one worker.
#[derive(Clone, Debug)]
pub struct Egress {
    shares: Vec<EgressQueue>,
    /// The division into shares, if there are several.
    division: Option<Division>,
    lookups: Units,
    /// Position of the next pushed request in the trace, in ascending order. All requests to L2 that one request of a
    /// warp causes have the same position.
    pub place: u32,
}

impl Default for Egress {
    fn default() -> Self {
        Egress { shares: vec![EgressQueue::default()], division: None, lookups: Units::new(32), place: 0 }
    }
}

impl Egress {
    /// Creates an `Egress` for an L2 that is divided into shares.
    pub fn new(config: &L2Config, shares: Shares) -> Egress {
        let placement = Placement::new(config.slices, config.sets, config.index, config.line_bytes);
        let division = Division { placement, shares, line_bytes: config.line_bytes };
        Egress {
            shares: vec![EgressQueue::default(); shares.count() as usize],
            division: (shares.count() > 1).then_some(division),
            lookups: Units::new(config.sector_bytes),
            place: 0,
        }
    }

    /// Returns the units of sectors that L2 looks up together.
    pub(crate) fn lookups(&self) -> Units {
        self.lookups
    }

    /// Appends a request. `bytes` is used for stores only.
    #[inline(always)]
    pub fn push(&mut self, sm: u16, cell: u32, line: u64, sectors: u8, op: L2Op, bytes: u128) {
        let request = L2Request { line, place: self.place, cell, mask: WHOLE, sm, sectors, op };
        match &self.division {
            None => self.shares[0].push(request, bytes),
            Some(division) => {
                for (share, sectors) in division.sectors(line, sectors) {
                    self.shares[share as usize].push(L2Request { sectors, ..request }, bytes);
                }
            }
        }
    }

    /// Returns the list for requests that touch all bytes of their sectors, if there is only one share.
    #[inline(always)]
    pub(crate) fn only_share(&mut self) -> Option<&mut Vec<L2Request>> {
        match (&mut self.shares[..], &self.division) {
            ([share], None) => Some(&mut share.requests),
            _ => None,
        }
    }

    /// Returns the requests to one of the shares.
    pub fn share(&self, share: usize) -> &EgressQueue {
        &self.shares[share]
    }

    /// Discards all requests.
    pub fn clear(&mut self) {
        for share in &mut self.shares {
            share.requests.clear();
            share.masks.clear();
        }
    }
}
