//! Launches: how many blocks and warps they have, how long they take, and what their starts cost.

/// Threads of a warp. Physical.
pub const WARP: u64 = 32;

/// Least share of the SMs that have no block. Policy.
pub const LEAST_IDLE: f64 = 0.75;
/// The same where the kernel steps by the grid's size, so that its number of blocks is free. Policy.
pub const LEAST_IDLE_OF_STEPS: f64 = 0.1;
/// Least share of a kernel in the time of all. Policy.
pub const LEAST_KERNEL_SHARE: f64 = 0.1;
/// Least seconds of a launch that alone is worth a change. Policy.
pub const LEAST_LAUNCH_SECONDS: f64 = 20e-6;
/// Least time of launches over that of their starts, below which they do next to nothing. Policy.
pub const LEAST_OF_START: f64 = 0.05;
/// Bytes that a last step loads over those that it stores, at least. Policy: a sum is less than what it is made of.
pub const LEAST_REDUCTION: u64 = 8;
/// Most of the time of all kernels that a last step takes, where it is not short. Policy.
pub const MOST_OF_LAST_STEP: f64 = 0.5;
/// Least launches that are worth merging. Policy.
pub const MANY_LAUNCHES: u64 = 32;
/// Least iterations per warp of a loop that steps by the grid's size, from which on more blocks have work. Physical.
pub const LEAST_GRID_ITERATIONS: f64 = 2.0;
/// Weight of idle SMs in the ranking: blocks that are alone on an SM run a little faster. Policy.
pub const IDLE_WEIGHT: f64 = 0.9;

/// Least seconds of starts for more than a note; the verdict of a report has it, too.
pub use warpline_profile::LEAST_START_SECONDS;
/// The same where launches are known to be mergeable. Policy.
pub const LEAST_MERGEABLE_SECONDS: f64 = 1e-4;
/// Least share of starts in the time of kernels, copies and starts. Policy.
pub const LEAST_START_SHARE: f64 = 0.1;
/// The same from which on starts dominate. Policy.
pub const DOMINANT_START_SHARE: f64 = 0.5;

/// Least share of the places for blocks that stay empty in the last wave. Policy.
pub const LEAST_TAIL: f64 = 0.2;
/// Least share of the time in which SMs are idle since another has a block more. Policy.
pub const LEAST_LOST: f64 = 0.1;

/// Least share of a block's lanes that have no thread. Policy.
pub const LEAST_EMPTY_LANES: f64 = 0.15;
/// Least share of sectors that longer rows save. Policy.
pub const LEAST_SAVED_SECTORS: f64 = 0.15;
/// Least share of requests whose lanes form rows. Policy.
pub const LEAST_ROWS: f64 = 0.5;
/// Least share of the time of all kernels that block shapes waste. Policy.
pub const LEAST_SHAPE_WASTE: f64 = 0.005;

/// Least traffic over that of the best block shape. Calibrated on 36 sets of block shapes
/// (`docs/cases/block-shapes.md`).
pub const LEAST_TRAFFIC_FACTOR: f64 = 1.3;
/// Least gain of estimated time of another block shape. Policy.
pub const LEAST_SHAPE_GAIN: f64 = 1.15;
/// Most error of the prediction of the recorded launch. Policy.
pub const MOST_PREDICTION_ERROR: f64 = 0.25;
/// Most shapes that are predicted, and as many whose rows fill warps. Policy: predictions take their time.
pub const MOST_SHAPES: usize = 12;
/// Least bytes of traffic for which shapes are predicted. Policy.
pub const LEAST_TRAFFIC_BYTES: f64 = (1 << 20) as f64;

/// Most of its shared memory that a block stores to, where it takes too much. Policy.
pub const MOST_USED_SHARED: f64 = 0.5;
/// Least increase of the blocks per SM without the unused shared memory. Policy.
pub const LEAST_MORE_BLOCKS: u32 = 2;
/// Most occupancy at which more warps matter. Policy: latencies are hidden by half of the warps in most kernels.
pub const MOST_OCCUPANCY: f64 = 0.5;
/// Weight of lost occupancy in the ranking of findings by time, which the estimate does not contain. Policy.
pub const OCCUPANCY_WEIGHT: f64 = 0.1;

/// Least work of the slowest rank over the mean. Policy.
pub const LEAST_RANK_FACTOR: f64 = 1.25;
/// Least time that the slowest rank loses the others, over the mean rank's time for all kernels. Policy.
pub const LEAST_RANK_SHARE: f64 = 0.02;
