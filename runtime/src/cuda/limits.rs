//! The limits on the size of a launch.

/// The maximum number of threads per block that CUDA allows.
pub const MAX_THREADS: u32 = 1024;
/// The largest block along each axis.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// The largest grid along each axis.
pub const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
