//! A memory request, resolved to its source, its allocation and its cost.

use warpline_format::access::Access;
use warpline_format::site_table::Site;

use super::CellId;
use warpline_simulator::geometry::Width;
use warpline_simulator::hierarchy::Piece;
use warpline_simulator::metrics::{Footprint, Wavefronts};

/// One owner's share of a request with several owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerShare {
    /// The cell that counts the share.
    pub cell: CellId,
    /// Lanes that access the owner's memory. A lane may belong to two shares.
    pub mask: u32,
}

/// A request with its site, cell and cost.
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
    /// The lines that a request to global memory touches, in ascending order, with the touched bytes unless it is a
    /// load. Empty for other memory, and if the tool uses no requests.
    pub pieces: &'a [Piece],
    /// Passes through the banks of its memory, or through those of L1 if the model has them.
    pub passes: Wavefronts,
    /// Warp slot that made the request.
    pub slot: u32,
    /// Position in the batch; orders the requests of all workers.
    pub place: u32,
    /// The cell that counts the whole request.
    pub cell: CellId,
    /// Shares of the owners; empty unless there are several.
    pub parts: &'a [OwnerShare],
}
