//! Values that accesses move.

/// Least lanes of an access whose values are judged. Policy: fewer move a few kilobytes.
pub const LEAST_LANES: u64 = 4096;
/// Least share of a store's lanes that change nothing. Policy: where fewer do, finding them costs as much as it saves.
pub const LEAST_SILENT_SHARE: f64 = 0.5;
/// Least share of sectors that hold zeros only. Policy: below, an index of the others takes much of what is saved.
pub const LEAST_ZERO_SHARE: f64 = 0.75;
/// Least bytes of an element that a code of one byte can stand for.
pub const LEAST_CODED_BYTES: u32 = 4;
/// Most different values that are probably more than those of one input. Policy.
pub const FEW_VALUES: usize = 4;
