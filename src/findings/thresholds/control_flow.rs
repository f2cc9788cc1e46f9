//! Branches whose sides lanes of one warp take.

/// Lanes of a warp. Physical.
pub const WARP: u64 = 32;
/// Least share of the kernel's lane slots that a branch leaves idle. Policy.
pub const LEAST_IDLE: f64 = 0.05;
/// The same of a branch that one lane of a warp takes. Policy.
pub const LEAST_IDLE_ALONE: f64 = 0.3;
/// Least share of the time of all kernels. Policy.
pub const LEAST_DIVERGENCE_WASTE: f64 = 0.01;
/// Share of a branch's executions in which lanes diverge, at most, at the border of the data or the end of a loop. Policy.
pub const SELDOM: f64 = 0.25;
/// Gain of full warps there, at least, for more than a note. Policy.
pub const LEAST_SELDOM_GAIN: f64 = 1.25;
/// Share of the executions in which lanes diverge nearly always. Policy.
pub const NEARLY_ALWAYS: f64 = 0.9;
/// Least share of the kernel's idle lane slots for a list to gain what full warps would. Policy: other accesses lose their order.
pub const LEAST_TO_COLLECT: f64 = 0.15;
/// Bytes that a pass over shared memory brings to a full warp. Physical.
pub const PASS_BYTES: u64 = 128;
/// Sides of a switch that are listed, at most. Policy.
pub const MOST_SIDES: usize = 8;
/// Threads of a launch, or lanes of a warp, that are a few. Policy.
pub const FEW_THREADS: u64 = WARP / 4;
pub const FEW_LANES: u64 = 4;
/// Lanes of the smaller side per divergent execution, at most, where one lane takes it. Policy.
pub const ALONE: f64 = 1.5;
/// Warp instructions of one execution of a side, at most, for the side to be little. Calibrated on predicated stores.
pub const LITTLE: u64 = 12;
/// The same of a side that costs less than bringing its lanes together. Calibrated on compaction by ballots.
pub const SHORT: u64 = 40;
/// Times that a side is shorter than another which is waited for. Policy.
pub const MUCH_SHORTER: u64 = 8;
/// Lines from a shuffle to the condition on its result, and from a branch to the atomic operation of what it appends, at most. Policy.
pub const STEP_LINES: u32 = 3;
/// Lines from a branch to a loop that may be one of its sides, at most. Policy.
pub const SIDE_LINES: u32 = 8;
/// Lines from the `do` of a loop to its end, at most. Policy.
pub const DO_LINES: u32 = 20;
/// Lines from the head of a loop to the load that it waits for, at most. Policy.
pub const POLL_LINES: u32 = 3;
