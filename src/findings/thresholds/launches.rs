//! Thresholds for launches: their blocks and warps, their times, and the cost of their starts.

/// Threads per warp. Physical.
pub const WARP: u64 = 32;

/// Minimum share of the SMs without a block. Policy.
pub const LEAST_IDLE: f64 = 0.75;
/// Minimum share of idle SMs if the kernel has grid-stride loops, so that its number of blocks is arbitrary. Policy.
pub const LEAST_IDLE_OF_STEPS: f64 = 0.1;
/// Minimum share of a kernel in the time of all kernels. Policy.
pub const LEAST_KERNEL_SHARE: f64 = 0.1;
/// Minimum seconds of a single launch that justify a change. Policy.
pub const LEAST_LAUNCH_SECONDS: f64 = 20e-6;
/// Minimum ratio of the time of launches to the time of their starts; below it, launches do almost no work. Policy.
pub const LEAST_OF_START: f64 = 0.05;
/// Minimum ratio of loaded to stored bytes of a last step. Policy: a reduction stores less data than it loads.
pub const LEAST_REDUCTION: u64 = 8;
/// Maximum share of a last step in the time of all kernels, if the step is not short. Policy.
pub const MOST_OF_LAST_STEP: f64 = 0.5;
/// Minimum number of launches that are worth merging. Policy.
pub const MANY_LAUNCHES: u64 = 32;
/// Minimum iterations per warp of a grid-stride loop for which more blocks have work. Physical.
pub const LEAST_GRID_ITERATIONS: f64 = 2.0;
/// Weight of idle SMs in the ranking. Policy: a block runs slightly faster if it is alone on an SM.
pub const IDLE_WEIGHT: f64 = 0.9;

/// Minimum seconds of starts for a severity above a note. The verdict of a report uses the same value.
pub use warpline_profile::LEAST_START_SECONDS;
/// Minimum seconds of starts if launches are known to be mergeable. Policy.
pub const LEAST_MERGEABLE_SECONDS: f64 = 1e-4;
/// Minimum share of starts in the time of kernels, copies and starts. Policy.
pub const LEAST_START_SHARE: f64 = 0.1;
/// Minimum share of starts at which starts dominate. Policy.
pub const DOMINANT_START_SHARE: f64 = 0.5;

/// Minimum share of the block slots that remain empty in the last wave. Policy.
pub const LEAST_TAIL: f64 = 0.2;
/// Minimum share of the time in which SMs are idle because another SM has one more block. Policy.
pub const LEAST_LOST: f64 = 0.1;

/// Minimum share of a block's lanes without a thread. Policy.
pub const LEAST_EMPTY_LANES: f64 = 0.15;
/// Minimum share of sectors that longer rows save. Policy.
pub const LEAST_SAVED_SECTORS: f64 = 0.15;
/// Minimum share of requests whose lanes form rows. Policy.
pub const LEAST_ROWS: f64 = 0.5;
/// Minimum share of the time of all kernels that block shapes waste. Policy.
pub const LEAST_SHAPE_WASTE: f64 = 0.005;

/// Minimum ratio of the traffic to that of the best block shape. Calibrated on 36 sets of block shapes
/// (`docs/cases/block-shapes.md`).
pub const LEAST_TRAFFIC_FACTOR: f64 = 1.3;
/// Minimum gain of another block shape in estimated time. Policy.
pub const LEAST_SHAPE_GAIN: f64 = 1.15;
/// Maximum error of the prediction of the recorded launch. Policy.
pub const MOST_PREDICTION_ERROR: f64 = 0.25;
/// Maximum number of shapes that are predicted, and maximum number of additional shapes whose rows fill warps. Policy:
/// predictions are expensive.
pub const MOST_SHAPES: usize = 12;
/// Minimum bytes of traffic for which shapes are predicted. Policy.
pub const LEAST_TRAFFIC_BYTES: f64 = (1 << 20) as f64;

/// Maximum share of its shared memory to which a block stores, if the block reserves too much. Policy.
pub const MOST_USED_SHARED: f64 = 0.5;
/// Minimum increase factor of the blocks per SM without the unused shared memory. Policy.
pub const LEAST_MORE_BLOCKS: u32 = 2;
/// Maximum occupancy at which more warps have a benefit. Policy: in most kernels, half of the warps hide the latencies.
pub const MOST_OCCUPANCY: f64 = 0.5;
/// Weight of lost occupancy in the ranking of findings by time, because the estimate does not contain occupancy.
/// Policy.
pub const OCCUPANCY_WEIGHT: f64 = 0.1;

/// Minimum ratio of the slowest rank's work to the mean. Policy.
pub const LEAST_RANK_FACTOR: f64 = 1.25;
/// Minimum time that the other ranks lose because of the slowest rank, relative to the mean rank's time for all
/// kernels. Policy.
pub const LEAST_RANK_SHARE: f64 = 0.02;
