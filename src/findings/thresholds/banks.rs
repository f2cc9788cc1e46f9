//! Thresholds for banks of shared memory, and for addresses of constant memory.

/// Minimum ratio of the passes of a request to constant memory to the passes that it needs. Policy.
pub const LEAST_CONSTANT_PASSES: f64 = 1.5;
/// Minimum share of divergent reads of constant memory in the kernel's requests. Policy.
pub const LEAST_CONSTANT_SHARE: f64 = 0.02;
/// Bytes of a bank's word. Physical.
pub const WORD_BYTES: u32 = 4;
/// Threads per warp. Physical.
pub const WARP: u32 = 32;
/// Minimum share of an access's passes that conflicts cause. Policy.
pub const LEAST_EXCESS: f64 = 0.2;
/// Maximum ratio of the mean passes of all requests to the passes of the worst request, if the distance between lanes
/// changes. Calibrated on reductions and transforms.
pub const MOST_ALIKE: f64 = 0.9;
/// Maximum ratio of these passes per active lane. Calibrated on the same programs.
pub const MOST_ALIKE_BY_LANE: f64 = 0.75;
/// Maximum number of padding elements that are tried. Policy: more padding uses too much shared memory.
pub const MOST_PADDING: u64 = 4;
/// Maximum number of padding elements for rows of the block that share banks. Physical: the row of half a warp may have
/// to move by half the banks.
pub const MOST_ROW_PADDING: u64 = 16;
/// Divisor of the passes that gives the maximum number of passes left by padded rows. Policy.
pub const LEFT_OF_ROWS: u32 = 8;
/// Divisor of the passes that gives the maximum number of passes left by padding after all banks. Policy.
pub const LEFT_OF_CYCLES: u32 = 4;
/// Maximum number of elements between lanes that belong to one thread; a larger distance is a row. Policy.
pub const MOST_ITEMS: u64 = 4;
/// Minimum distance in lanes from the first to the last lane if each lane has a separate row. Policy.
pub const LEAST_ROWS: u64 = 8;
/// Minimum gain of a remedy that may not be applicable. Policy.
pub const LEAST_UNSURE_GAIN: f64 = 1.1;
