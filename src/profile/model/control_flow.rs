//! Branches, basic blocks, and lanes that do nothing in them.

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
    /// Times a warp reached it.
    pub executions: u64,
    /// Those of them with lanes leaving by two or more sides.
    pub divergent: u64,
    /// Per side; the first is the one taken when the condition holds, or a switch's default.
    pub lanes: Vec<u64>,
    /// Per side, warp instructions issued in blocks that run because of it; empty where nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<u64>,
    /// Lane slots that stay idle, at most, in blocks that part of a warp's live lanes run, where this is the innermost
    /// branch that diverged among those that decide over the block; lanes that did not reach it are an outer one's.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub idle_lane_slots: u64,
    /// Line of the kernel itself that it is on, or that calls what it is in; 0 unknown.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub kernel_line: u32,
    /// What makes its condition differ from lane to lane; empty where the compiler sees nothing that does, or did not
    /// look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided_by: Vec<Decider>,
    /// One of its sides leaves a loop, and another stays in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_loop: bool,
    /// Lanes waited in its loop for others of their warp, which continued ahead in an order that is assumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub order_assumed: bool,
}

/// What idle lanes cost: an instruction takes 32 lane slots, whoever runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSlots {
    /// 32 times the issued warp instructions.
    pub issued: u64,
    /// Those of them with an active lane.
    pub active: u64,
    /// Idle ones in executions of blocks with fewer lanes than the warp had live, at most: what divergence costs at
    /// most.
    pub lost_partial: u64,
}

/// Pairs of a warp and a basic block that it ran, however often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpBlocks {
    /// Pairs.
    pub count: u64,
    /// Pairs whose lanes, summed over all executions, are not a multiple of 32: CUDAAdvisor's divergent blocks.
    pub divergent: u64,
    /// Pairs with an execution by fewer lanes than the warp had live.
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
    /// Times a warp ran it.
    pub executions: u64,
    /// Summed.
    pub lanes: u64,
    /// Executions with fewer lanes than the warp had live.
    pub partial: u64,
    /// By warp; absent if the device does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp_blocks: Option<WarpBlocks>,
    /// Instructions of one execution.
    #[serde(default)]
    pub instructions: u64,
    /// Lanes of the 32 of each execution that did not run it, summed: diverged, finished, or never there.
    #[serde(default)]
    pub lanes_lost: u64,
    /// Line of the kernel itself that it is on, or that calls what it is in; 0 unknown.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub kernel_line: u32,
    /// Its instructions by the source line they belong to; empty where that is `line` for all of them.
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
    /// Line of the kernel itself that they are on, or that calls what they are in; 0 unknown.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub kernel_line: u32,
    /// Instructions of one execution.
    pub instructions: u64,
}
