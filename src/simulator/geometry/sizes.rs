//! Sizes of the pieces in which memory is counted.

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a line.
pub const LINE_BYTES: u64 = 128;
