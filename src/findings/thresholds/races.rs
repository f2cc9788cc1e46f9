//! Conflicts between warps.

/// Most lines from one access to the next that are one thing to change. Policy.
pub const NEAR_LINES: u32 = 2;
/// Least lanes that load for each that stores, where the compiler loads before the condition. Policy.
pub const EARLY_LOADS: u64 = 4;
