//! Thresholds for the values that accesses move.

/// Minimum number of lanes of an access whose values are classified. Policy: fewer lanes move a few kilobytes.
pub const LEAST_LANES: u64 = 4096;
/// Minimum share of a store's lanes that do not change memory. Policy: if the share is smaller, detecting them costs as
/// much as it saves.
pub const LEAST_SILENT_SHARE: f64 = 0.5;
/// Minimum share of sectors with only zeros. Policy: with fewer, an index of the other sectors uses most of the saving.
pub const LEAST_ZERO_SHARE: f64 = 0.75;
/// Minimum bytes of an element that a one-byte code can replace.
pub const LEAST_CODED_BYTES: u32 = 4;
/// Maximum number of different values that are probably independent of the input. Policy.
pub const FEW_VALUES: usize = 4;
