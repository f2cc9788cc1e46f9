//! Source lines and memory instructions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpline_format::condition::AtomicKind;

use super::frames::Frame;
use super::merged::OverRanks;
use super::metrics::{Instructions, Metrics, Spaces};
use super::operand::Operand;
use super::pattern::Pattern;
use super::spread::Estimated;

/// A source line in a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// File.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Kernel.
    pub kernel: u32,
    /// Sums.
    pub metrics: Spaces,
    /// Sums.
    pub instructions: Instructions,
    /// Where a budget recorded some of the launches: sums over all launches, estimated, by `space.metric`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole_run: BTreeMap<String, Estimated>,
    /// How its figures differ from rank to rank, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_ranks: OverRanks,
}

/// A memory instruction in a kernel and space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Number in its module.
    pub id: u32,
    /// Kernel.
    pub kernel: u32,
    /// User frame.
    pub file: String,
    /// User frame.
    pub line: u32,
    /// User frame.
    pub column: u32,
    /// User frame.
    pub function: String,
    /// True innermost frame.
    pub leaf: Frame,
    /// From the user frame outwards.
    pub inlined_at: Vec<Frame>,
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// `global`, `shared`, `local` or `constant`.
    pub space: String,
    /// Per lane.
    pub bytes: u32,
    /// Whether a load of global memory bypasses L1 by its cache operator (`ld.cg`, volatile, `cp.async.cg`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past_l1: bool,
    /// Whether the code uses the value that an atomic operation returns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub result_used: bool,
    /// What an atomic operation does with what is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic: Option<AtomicKind>,
    /// Inside libdevice or another library function.
    pub library: bool,
    /// The position is the nearest known one.
    pub approximate: bool,
    /// Sums.
    pub metrics: Metrics,
    /// What it accesses, in the words of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operand: Option<Operand>,
    /// How its requests use memory; absent if nothing was simulated or it would be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// A request that spans several allocations counts for each of them.
    pub by_allocation: Vec<ByAllocation>,
    /// Only contexts with calls that survived inlining, and the kernel itself.
    pub contexts: Vec<Context>,
    /// How its figures differ from rank to rank, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_ranks: OverRanks,
}

/// What falls to one allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByAllocation {
    /// `None`: no live allocation.
    pub allocation: Option<u64>,
    /// Sums.
    pub metrics: Metrics,
}

/// What falls to one device call context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Outermost first.
    pub calls: Vec<Frame>,
    /// Sums.
    pub metrics: Metrics,
}
