//! The operation of a site at its address.

use warpline_format::site_table::Op;

use super::request::Kind;

/// The operation of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Bytes per lane.
    pub bytes: u32,
    /// The site accesses shared memory.
    pub shared: bool,
    /// The site is a load that bypasses L1.
    pub past_l1: bool,
    /// The operation. It is `None` if neither a row nor the profile's addresses contain it, as in profiles of earlier
    /// releases.
    pub op: Option<Op>,
}

impl Access {
    /// Returns whether the site only loads.
    pub fn loads(&self) -> bool {
        self.op == Some(Op::Load)
    }

    /// Returns the properties, besides addresses, that the cost of its requests depends on.
    pub fn kind(&self) -> Kind {
        Kind { bytes: self.bytes, shared: self.shared, loads: self.loads() }
    }

    /// Returns whether the site changes memory.
    pub fn stores(&self) -> bool {
        matches!(self.op, Some(Op::Store | Op::Atomic))
    }
}
