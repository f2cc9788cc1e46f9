//! Thresholds for arrays and registers of a thread in local memory.

/// Minimum spilled bytes per thread that justify a change. Policy.
pub const LEAST_SPILL_BYTES: u32 = 64;
/// Minimum share of a kernel with spills in the estimated time of all kernels. Policy.
pub const LEAST_SPILL_SHARE: f64 = 0.05;
/// Share of the kernel's time with which spills are ranked. Policy: the number of their executions is unknown.
pub const SCORE_OF_SPILLS: f64 = 0.05;
/// Maximum number of registers per thread. Physical.
pub const MOST_REGISTERS: u32 = 255;
/// Minimum share of accesses to an array in local memory in the kernel's requests. Policy.
pub const LEAST_ARRAY_SHARE: f64 = 0.05;
/// Maximum bytes of a thread's array that registers, or columns in shared memory for a typical block, can contain.
/// Policy.
pub const MOST_BYTES_OF_THREAD: u64 = 512;
/// Bytes of a thread's widest access, which accesses several elements at once. Physical.
pub const WIDEST_ACCESS: u32 = 16;
