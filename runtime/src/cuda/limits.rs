//! Largest launches.

/// Threads per block that CUDA allows.
pub const MAX_THREADS: u32 = 1024;
/// Largest block, by axis.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Largest grid, by axis.
pub const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
