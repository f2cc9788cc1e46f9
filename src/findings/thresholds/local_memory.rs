//! Arrays and registers of a thread in local memory.

/// Spilled bytes of a thread from which on a change is worth it. Policy.
pub const LEAST_SPILL_BYTES: u32 = 64;
/// Least share of the estimated time of all kernels that a kernel with spills takes. Policy.
pub const LEAST_SPILL_SHARE: f64 = 0.05;
/// Share of its kernel's time that spills are ranked with. Policy: how often they run is unknown.
pub const SCORE_OF_SPILLS: f64 = 0.05;
/// Registers of a thread, at most. Physical.
pub const MOST_REGISTERS: u32 = 255;
/// Least share of the kernel's requests that accesses to an array in local memory are. Policy.
pub const LEAST_ARRAY_SHARE: f64 = 0.05;
/// Bytes of an array of each thread, at most, that registers, or columns in shared memory for a usual block, can hold. Policy.
pub const MOST_BYTES_OF_THREAD: u64 = 512;
/// Bytes of the widest access of a thread, which takes several elements at once. Physical.
pub const WIDEST_ACCESS: u32 = 16;
