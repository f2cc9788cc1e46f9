//! A memory request, resolved to its source, its allocation and its cost.

use warpline_format::access::Access;
use warpline_format::site_table::Site;

use super::CellId;
use warpline_simulator::geometry::Width;
use warpline_simulator::metrics::{Footprint, Wavefronts};

/// The share of one owner in a request that several own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerShare {
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
    /// Passes over the banks of its memory, or of L1 where the model has them.
    pub passes: Wavefronts,
    /// Warp slot that made it.
    pub slot: u32,
    /// Place in the batch: orders the requests of all workers.
    pub place: u32,
    /// Where the whole request is counted.
    pub cell: CellId,
    /// Empty unless several allocations own it.
    pub parts: &'a [OwnerShare],
}
