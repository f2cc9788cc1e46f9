//! Device memory that is allocated, freed, filled and never used.

/// Least bytes of unused memory for more than a note. Policy.
pub const LEAST_UNUSED_BYTES: u64 = 1 << 20;
/// Most bytes of memory that is there so that a pointer is not null. Policy.
pub const PLACEHOLDER_BYTES: u64 = 16;
/// Most allocations of one name whose positions are listed. Policy.
pub const MOST_POSITIONS: usize = 4;
/// Weight of a share of memory in the ranking of findings by time. Policy.
pub const MEMORY_WEIGHT: f64 = 0.01;

/// Least allocations from one place for each that is alive at a time. Policy.
pub const LEAST_ALLOCATIONS: u64 = 8;
/// Seconds of an allocation and its end. Physical, an assumption: driver calls that map memory and wait for the device.
pub const SECONDS_PER_ALLOCATION: f64 = 100e-6;

/// Least bytes that allocations in a loop retain, for more than a note. Policy.
pub const LEAST_RETAINED_BYTES: u64 = 1 << 20;
/// Least share of the allocations between which kernels are launched. Policy: those of a setup loop follow each other.
pub const LEAST_SEPARATED_SHARE: f64 = 0.5;
/// Least bytes of fills that are overwritten. Policy.
pub const LEAST_FILLED_BYTES: u64 = 64 << 10;
