//! The bytes that an access touches, relative to its address.

/// The bytes that each lane of a site touches, relative to its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Bytes from the first to the last touched byte, 1 to [`MAX_WIDTH`].
    pub bytes: u32,
    /// One bit per touched byte, for accesses that skip bytes.
    pub holes: Option<u64>,
}

impl Width {
    /// Returns the width of an access that touches all bytes.
    pub fn solid(bytes: u32) -> Width {
        Width { bytes, holes: None }
    }

    /// Returns the number of touched bytes per lane.
    pub fn useful(&self) -> u32 {
        self.holes.map_or(self.bytes, u64::count_ones)
    }
}

/// Maximum width per lane in bytes that is accepted. The widest existing accesses are masked vectors of 64 elements.
pub const MAX_WIDTH: u32 = 4096;
