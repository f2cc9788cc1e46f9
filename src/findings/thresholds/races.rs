//! Thresholds for conflicts between warps.

/// Maximum number of lines between two accesses that one change fixes. Policy.
pub const NEAR_LINES: u32 = 2;
/// Minimum ratio of loading to storing lanes, if the compiler loads before the condition. Policy.
pub const EARLY_LOADS: u64 = 4;
