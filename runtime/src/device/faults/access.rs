//! An access that the fast path of the check did not permit.

use warpline_format::access::LANES;

/// The access that is outside its site's range.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Site.
    pub site: u32,
    /// The space that the compiler determined.
    pub space: u32,
    /// Active lanes.
    pub mask: u32,
    /// The addresses of the lanes.
    pub addresses: &'a [u64; LANES],
    /// The number of bytes per lane.
    pub bytes: u32,
    /// The alignment that the access needs.
    pub align: u32,
}
