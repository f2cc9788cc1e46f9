//! The bytes that an access touches from its address on.

/// What the lanes of a site touch from their address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Bytes from first to last, 1 to [`MAX_WIDTH`].
    pub bytes: u32,
    /// For accesses with holes: bit per byte that is touched.
    pub holes: Option<u64>,
}

impl Width {
    /// Without holes.
    pub fn solid(bytes: u32) -> Width {
        Width { bytes, holes: None }
    }

    /// Bytes that are really touched, per lane.
    pub fn useful(&self) -> u32 {
        self.holes.map_or(self.bytes, u64::count_ones)
    }
}

/// Widest access per lane that is accepted, in bytes. The widest that exist are masked vectors of 64.
pub const MAX_WIDTH: u32 = 4096;
