//! Thresholds for device memory that is allocated, freed, filled or never used.

/// Minimum bytes of unused memory for a severity above a note. Policy.
pub const LEAST_UNUSED_BYTES: u64 = 1 << 20;
/// Maximum bytes of memory that exists only so that a pointer is not null. Policy.
pub const PLACEHOLDER_BYTES: u64 = 16;
/// Maximum number of allocations with one name whose positions are listed. Policy.
pub const MOST_POSITIONS: usize = 4;
/// Weight of a share of memory in the ranking of findings by time. Policy.
pub const MEMORY_WEIGHT: f64 = 0.01;

/// Minimum number of allocations from one source position per allocation that is live at the same time. Policy.
pub const LEAST_ALLOCATIONS: u64 = 8;
/// Seconds to allocate and free memory. Physical, assumed: driver calls that map memory and wait for the device.
pub const SECONDS_PER_ALLOCATION: f64 = 100e-6;

/// Minimum bytes that allocations in a loop retain, for a severity above a note. Policy.
pub const LEAST_RETAINED_BYTES: u64 = 1 << 20;
/// Minimum share of the allocations between which kernels are launched. Policy: a setup loop launches no kernels.
pub const LEAST_SEPARATED_SHARE: f64 = 0.5;
/// Minimum bytes of fills that are overwritten. Policy.
pub const LEAST_FILLED_BYTES: u64 = 64 << 10;
