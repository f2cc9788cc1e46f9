//! A resolved request, and what may follow requests.

use warpline_format::access::Access;
use warpline_format::site_table::Site;

use super::{CellId, LaunchShape};
use crate::metrics::{Footprint, Width};

/// The share of one owner in a request that several own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it is counted.
    pub cell: CellId,
    /// Lanes that touch the owner's memory; a lane may be in two parts.
    pub mask: u32,
}

/// One request, resolved.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Site, space, mask and addresses.
    pub access: &'a Access<'a>,
    /// The site's entry in the site table.
    pub site: &'a Site,
    /// Bytes per lane.
    pub width: Width,
    /// Distinct sectors, lines and bytes.
    pub footprint: Footprint,
    /// Warp slot that made it.
    pub slot: u32,
    /// Where the whole request is counted.
    pub cell: CellId,
    /// Empty unless several allocations own it.
    pub parts: &'a [Part],
}

/// An analysis that sees every request of a launch, in the order of one worker's share of the SMs:
/// all requests of one SM, and so of one block, come to the same follower in the order the SM made
/// them. Figures belong into vectors indexed by cell; cells are numbered per worker and launch, and
/// [`Follower::end`] is the moment to hand them on by [`super::CellKey`].
pub trait Follower: Send {
    /// A launch begins.
    fn start(&mut self, _launch: &LaunchShape) {}
    /// A block takes the slots from `slot` on.
    fn block(&mut self, _slot: u32, _warps: u32, _block: u64) {}
    /// A request is made.
    fn request(&mut self, request: &Request<'_>);
    /// A warp reaches a block-wide barrier.
    fn barrier(&mut self, _slot: u32) {}
    /// A launch ends.
    fn end(&mut self, _launch: &LaunchShape, _cells: &super::Cells) {}
}

/// Follows nothing.
impl Follower for () {
    #[inline]
    fn request(&mut self, _request: &Request<'_>) {}
}
