//! What a site does at its address.

use warpline_format::site_table::Op;

use super::request::Kind;

/// The operation of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Bytes per lane.
    pub bytes: u32,
    /// Whether it accesses shared memory.
    pub shared: bool,
    /// A load that goes past L1.
    pub past_l1: bool,
    /// The operation; `None` if neither a row nor the profile's addresses contain it, as in profiles of earlier releases.
    pub op: Option<Op>,
}

impl Access {
    /// Returns whether it loads and does nothing else.
    pub fn loads(&self) -> bool {
        self.op == Some(Op::Load)
    }

    /// Returns what the cost of its requests depends on in addition to their addresses.
    pub fn kind(&self) -> Kind {
        Kind { bytes: self.bytes, shared: self.shared, loads: self.loads() }
    }

    /// Returns whether it changes what is in memory.
    pub fn stores(&self) -> bool {
        matches!(self.op, Some(Op::Store | Op::Atomic))
    }
}
