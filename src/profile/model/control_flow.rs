//! Branches, basic blocks, and idle lanes.

use serde::{Deserialize, Serialize};
use warpline_format::condition::Decider;

/// A conditional branch or switch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// Kernel.
    pub kernel: u32,
    /// User frame.
    pub file: String,
    /// User frame.
    pub line: u32,
    /// User frame.
    pub column: u32,
    /// Number of times that a warp reached it.
    pub executions: u64,
    /// Executions whose lanes leave by two or more sides.
    pub divergent: u64,
    /// Lanes that leave by each side. The first side is the one for a true condition, or a switch's default.
    pub lanes: Vec<u64>,
    /// Warp instructions issued in blocks that run because of each side; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<u64>,
    /// Upper bound of the idle lane slots in partial executions of blocks for which this is the innermost divergent
    /// branch that controls them. Lanes that did not reach this branch are attributed to an outer one.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub idle_lane_slots: u64,
    /// Line in the kernel itself that contains the branch, or that calls the function with the branch; 0 if unknown.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub kernel_line: u32,
    /// Values that make its condition differ between lanes; empty if the compiler found none or did not analyse it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided_by: Vec<Decider>,
    /// Whether one of its sides leaves a loop and another stays in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_loop: bool,
    /// Whether lanes of a warp waited in its loop while others continued in an assumed order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub order_assumed: bool,
}

/// Lane slots: an instruction occupies 32 lane slots, regardless of the active lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSlots {
    /// 32 times the issued warp instructions.
    pub issued: u64,
    /// Lane slots with an active lane.
    pub active: u64,
    /// Upper bound of the idle lane slots in executions with fewer lanes than the warp had live. It is the maximum cost
    /// of divergence.
    pub lost_partial: u64,
}

/// Counts over pairs of a warp and a basic block that it executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpBlocks {
    /// Number of pairs.
    pub count: u64,
    /// Number of pairs whose lanes, summed over all executions, are not a multiple of 32. These are CUDAAdvisor's
    /// divergent blocks.
    pub divergent: u64,
    /// Number of pairs with an execution by fewer lanes than the warp had live.
    pub partial: u64,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Kernel.
    pub kernel: u32,
    /// User frame.
    pub file: String,
    /// User frame.
    pub line: u32,
    /// Number of executions by warps.
    pub executions: u64,
    /// Active lanes, summed over executions.
    pub lanes: u64,
    /// Executions with fewer lanes than the warp had live.
    pub partial: u64,
    /// Counts over pairs of a warp and the block; absent if the device does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp_blocks: Option<WarpBlocks>,
    /// Number of instructions per execution.
    #[serde(default)]
    pub instructions: u64,
    /// Lanes that did not execute the block, summed over executions (of 32 lanes each): they diverged, had finished, or
    /// never existed.
    #[serde(default)]
    pub lanes_lost: u64,
    /// Line in the kernel itself that contains the block, or that calls the function with the block; 0 if unknown.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub kernel_line: u32,
    /// Its instructions by source line; empty if all of them belong to `line`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<BlockPart>,
}

/// The instructions of a basic block that belong to one line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockPart {
    /// User frame.
    pub file: String,
    /// User frame.
    pub line: u32,
    /// Line in the kernel itself that contains the instructions, or that calls the function with them; 0 if unknown.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub kernel_line: u32,
    /// Number of instructions per execution.
    pub instructions: u64,
}
