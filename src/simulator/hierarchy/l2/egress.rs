//! Requests on their way from the SMs to L2.

use super::request::L2Op;
use crate::geometry::sectors::{Units, bytes_of};
use crate::hierarchy::array::{Placement, Shares};
use crate::hierarchy::config::L2Config;

/// A request that left an SM: at most one line of 128 bytes.
#[derive(Clone, Copy, Debug)]
pub struct L2Request {
    /// Address / 128.
    pub line: u64,
    /// Place in the trace, see [`Egress::place`].
    pub place: u32,
    /// Where it is counted.
    pub cell: u32,
    /// Its entry in the list of byte masks; [`WHOLE`] where all bytes of its sectors are touched.
    mask: u32,
    /// SM that made it.
    pub sm: u16,
    /// Sectors.
    pub sectors: u8,
    /// What.
    pub op: L2Op,
}

impl L2Request {
    /// One that touches all bytes of its sectors.
    #[inline(always)]
    pub(crate) fn whole(place: u32, sm: u16, cell: u32, line: u64, sectors: u8, op: L2Op) -> L2Request {
        L2Request { line, place, cell, mask: WHOLE, sm, sectors, op }
    }
}

/// No mask: every byte of the sectors.
const WHOLE: u32 = u32::MAX;

/// What is on its way to one share of L2, in order. Few requests write only some bytes of their sectors; the masks
/// of those lie apart, so that the others are short.
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

    /// Returns whether one of the requests touches all bytes of its sectors.
    #[inline(always)]
    pub(crate) fn is_whole(request: &L2Request) -> bool {
        request.mask == WHOLE
    }

    /// Touched bytes of one of the requests.
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
    /// Sectors of a 128-byte line by the share that their lines of L2 belong to.
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

/// What left the SMs of one worker.
#[derive(Clone, Debug)]
pub struct Egress {
    shares: Vec<EgressQueue>,
    /// Where there are several shares.
    division: Option<Division>,
    lookups: Units,
    /// Place of what is pushed next, the same for all that one request of a warp causes. Rises.
    pub place: u32,
}

impl Default for Egress {
    fn default() -> Self {
        Egress { shares: vec![EgressQueue::default()], division: None, lookups: Units::new(32), place: 0 }
    }
}

impl Egress {
    /// Creates an `Egress` for a L2 in shares.
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

    /// Sectors that L2 looks up as one.
    pub(crate) fn lookups(&self) -> Units {
        self.lookups
    }

    /// Appends a request. `bytes` matters for stores only.
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

    /// Where requests go that touch all bytes of their sectors, if there is one share.
    #[inline(always)]
    pub(crate) fn only_share(&mut self) -> Option<&mut Vec<L2Request>> {
        match (&mut self.shares[..], &self.division) {
            ([share], None) => Some(&mut share.requests),
            _ => None,
        }
    }

    /// What goes to one of the shares.
    pub fn share(&self, share: usize) -> &EgressQueue {
        &self.shares[share]
    }

    /// Discards the contents.
    pub fn clear(&mut self) {
        for share in &mut self.shares {
            share.requests.clear();
            share.masks.clear();
        }
    }
}
