//! An access that the fast path of the check did not let pass.

use warpline_format::access::LANES;

/// The access that did not fit its site's range.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Site.
    pub site: u32,
    /// Space as the compiler knew it.
    pub space: u32,
    /// Active lanes.
    pub mask: u32,
    /// Their addresses.
    pub addresses: &'a [u64; LANES],
    /// Bytes per lane.
    pub bytes: u32,
    /// Alignment it needs.
    pub align: u32,
}
