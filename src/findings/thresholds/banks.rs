//! Banks of shared memory, and the addresses of constant memory.

/// Passes of a request to constant memory against those that it needs, at least. Policy.
pub const LEAST_CONSTANT_PASSES: f64 = 1.5;
/// Least share of the kernel's requests that divergent reads of constant memory are. Policy.
pub const LEAST_CONSTANT_SHARE: f64 = 0.02;
/// Bytes of a bank's word. Physical.
pub const WORD_BYTES: u32 = 4;
/// Threads of a warp. Physical.
pub const WARP: u32 = 32;
/// Least share of an access's passes that conflicts cause. Policy.
pub const LEAST_EXCESS: f64 = 0.2;
/// Passes of all requests against those of the worst, at most, where the distance between lanes changes. Calibrated on reductions
/// and transforms.
pub const MOST_ALIKE: f64 = 0.9;
/// The same of each active lane. Calibrated likewise.
pub const MOST_ALIKE_BY_LANE: f64 = 0.75;
/// Elements of padding that are tried. Policy: more cost too much shared memory.
pub const MOST_PADDING: u64 = 4;
/// The same for rows of the block that share banks. Physical: half a warp's row may have to move by half the banks.
pub const MOST_ROW_PADDING: u64 = 16;
/// Part of the passes that padded rows may leave. Policy.
pub const LEFT_OF_ROWS: u32 = 8;
/// Part of the passes that padding after all banks may leave. Policy.
pub const LEFT_OF_CYCLES: u32 = 4;
/// Elements from lane to lane, at most, that are a thread's own; more are a row. Policy.
pub const MOST_ITEMS: u64 = 4;
/// Lanes from the first to the last, at least, for each to have a row of its own. Policy.
pub const LEAST_ROWS: u64 = 8;
/// Gain of a remedy that may not exist, at least. Policy.
pub const LEAST_UNSURE_GAIN: f64 = 1.1;
