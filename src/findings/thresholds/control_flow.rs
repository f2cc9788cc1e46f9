//! Thresholds for branches at which lanes of a warp diverge.

/// Lanes per warp. Physical.
pub const WARP: u64 = 32;
/// Minimum share of the kernel's lane slots that a branch leaves idle. Policy.
pub const LEAST_IDLE: f64 = 0.05;
/// Minimum idle share of a branch that one lane of a warp takes. Policy.
pub const LEAST_IDLE_ALONE: f64 = 0.3;
/// Minimum share of the time of all kernels. Policy.
pub const LEAST_DIVERGENCE_WASTE: f64 = 0.01;
/// Maximum share of a branch's executions in which lanes diverge, at the border of the data or the end of a loop.
/// Policy.
pub const SELDOM: f64 = 0.25;
/// Minimum gain of full warps at such a branch, for a severity above a note. Policy.
pub const LEAST_SELDOM_GAIN: f64 = 1.25;
/// Minimum share of the executions in which lanes diverge for a branch that nearly always diverges. Policy.
pub const NEARLY_ALWAYS: f64 = 0.9;
/// Minimum share of idle lane slots for which a list gains as much as full warps. Policy: a list changes the order of
/// other accesses.
pub const LEAST_TO_COLLECT: f64 = 0.15;
/// Bytes that a pass over shared memory transfers to a full warp. Physical.
pub const PASS_BYTES: u64 = 128;
/// Maximum number of sides of a switch that are listed. Policy.
pub const MOST_SIDES: usize = 8;
/// Number of threads of a launch, or of lanes of a warp, that counts as few. Policy.
pub const FEW_THREADS: u64 = WARP / 4;
pub const FEW_LANES: u64 = 4;
/// Maximum mean number of lanes on the smaller side per divergent execution, if a single lane takes this side. Policy.
pub const ALONE: f64 = 1.5;
/// Maximum number of warp instructions per execution of a side with little work. Calibrated on predicated stores.
pub const LITTLE: u64 = 12;
/// Maximum number of warp instructions per execution of a side that costs less than compacting its lanes. Calibrated on
/// compaction with ballots.
pub const SHORT: u64 = 40;
/// Maximum ratio of the longest side to another side if both sides count as long. Policy.
pub const MUCH_SHORTER: u64 = 8;
/// Maximum number of lines from a shuffle to the condition on its result, and from a branch to the atomic operation of
/// its append. Policy.
pub const STEP_LINES: u32 = 3;
/// Maximum number of lines from a branch to a loop that may be one of its sides. Policy.
pub const SIDE_LINES: u32 = 8;
/// Maximum number of lines from the `do` of a loop to its end. Policy.
pub const DO_LINES: u32 = 20;
/// Maximum number of lines from the head of a loop to the load for which it waits. Policy.
pub const POLL_LINES: u32 = 3;
