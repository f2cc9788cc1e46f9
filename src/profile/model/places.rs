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
    /// Metrics by space.
    pub metrics: Spaces,
    /// Executed instructions.
    pub instructions: Instructions,
    /// Estimated sums over all launches, by `space.metric`, if a budget recorded only some launches.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole_run: BTreeMap<String, Estimated>,
    /// Spread of its figures over ranks, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_ranks: OverRanks,
}

/// A memory instruction in a kernel and space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Number of the site in its module.
    pub id: u32,
    /// Kernel.
    pub kernel: u32,
    /// File of the user frame.
    pub file: String,
    /// Line of the user frame.
    pub line: u32,
    /// Column of the user frame.
    pub column: u32,
    /// Function of the user frame.
    pub function: String,
    /// The innermost frame, which may be in a library.
    pub leaf: Frame,
    /// Frames from the user frame outwards.
    pub inlined_at: Vec<Frame>,
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// `global`, `shared`, `local` or `constant`.
    pub space: String,
    /// Bytes per lane.
    pub bytes: u32,
    /// Whether a load of global memory bypasses L1 by its cache operator (`ld.cg`, volatile, `cp.async.cg`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past_l1: bool,
    /// Whether the code uses the value that an atomic operation returns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub result_used: bool,
    /// Operation of an atomic instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic: Option<AtomicKind>,
    /// Whether it is inside libdevice or another library function.
    pub library: bool,
    /// Whether the position is only the nearest known one.
    pub approximate: bool,
    /// Metrics of its requests.
    pub metrics: Metrics,
    /// The accessed operand, with names from the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operand: Option<Operand>,
    /// Access patterns of its requests; absent if nothing was simulated or the pattern would be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Metrics by allocation. A request that spans several allocations counts for each of them.
    pub by_allocation: Vec<ByAllocation>,
    /// Metrics by device call context: the kernel itself, and contexts with calls that were not inlined.
    pub contexts: Vec<Context>,
    /// Spread of its figures over ranks, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_ranks: OverRanks,
}

/// The figures of one allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByAllocation {
    /// Number of the allocation; `None` for no live allocation.
    pub allocation: Option<u64>,
    /// Metrics of the requests.
    pub metrics: Metrics,
}

/// The figures of one device call context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Calls, outermost first.
    pub calls: Vec<Frame>,
    /// Metrics of the requests.
    pub metrics: Metrics,
}
