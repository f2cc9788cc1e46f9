//! Kernels and their launches.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::addresses::{Addresses, Argument};
use super::advice::{BypassAdvice, PageMetrics};
use super::control_flow::{LaneSlots, WarpBlocks};
use super::estimate::Estimate;
use super::frames::Frame;
use super::merged::{KernelExact, OverRanks, PathOverRanks};
use super::metrics::{ByOp, DramMetrics, Instructions, Spaces};
use super::spread::{PathSpread, RatioSpread, Spread, WholeRun};
use super::table::Table;

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Number, from 0 in order of first launch.
    pub id: u32,
    /// Demangled name.
    pub name: String,
    /// Mangled name.
    pub mangled: String,
    /// Main source file of its module.
    pub module: String,
    /// Definition.
    pub file: String,
    /// Definition.
    pub line: u32,
    /// Over all launches.
    pub metrics: Spaces,
    /// Over all launches.
    pub instructions: Instructions,
    /// Over all launches.
    #[serde(default)]
    pub lane_slots: LaneSlots,
    /// Basic blocks by warp, over all launches; absent if the device does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp_blocks: Option<WarpBlocks>,
    /// What of the sectors of `dram` is host memory that the kernel reaches where it is, by model: a GPU moves it over
    /// its bus. Requests that touch several allocations are not in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub host_memory: BTreeMap<String, DramMetrics>,
    /// The first ones of each call path and shape, in order; `run.notes` reports it if there are more.
    pub launches: Vec<Launch>,
    /// Those that are not in `launches`, summed up by call path and shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launch_groups: Vec<LaunchGroup>,
    /// All launches.
    #[serde(default)]
    pub launch_count: u64,
    /// Those of them that were recorded, where some were not: all figures are of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_launches: Option<u64>,
    /// Spread of the launches' figures, by `space.metric`.
    pub over_launches: BTreeMap<String, Spread>,
    /// Spread of the launches' ratios, mean reuse distances and estimated seconds, each over the launches that have it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ratios_over_launches: BTreeMap<String, RatioSpread>,
    /// Spread of the figures of launches from the same call path, for paths with two or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_paths: Vec<PathSpread>,
    /// Bytes per thread that ptxas spills, stores and loads together: traffic to local memory that no record shows.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub spill_bytes: u32,
    /// Bottleneck estimates, one per model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub estimates: Vec<Estimate>,
    /// Advice on which warps should use L1, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<BypassAdvice>,
    /// Pages touched by global and local requests, where a page size is known or was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageMetrics>,
    /// What the listed analyses found, a table each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Where a budget recorded some of the launches: figures of all launches of the kernel, estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<WholeRun>,
    /// Its addresses as expressions, for `predict`; absent where the program was built without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Addresses>,
    /// How its figures differ from rank to rank, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_ranks: OverRanks,
    /// The same of its launches from each host call path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths_over_ranks: Vec<PathOverRanks>,
    /// What merging it again needs.
    #[serde(default, skip_serializing_if = "KernelExact::is_none")]
    pub exact: KernelExact,
}

impl Kernel {
    /// Returns whether it was written in Triton: its source has tiles in the place of threads, and Triton chose the
    /// code for one architecture.
    pub fn is_triton(&self) -> bool {
        self.file.ends_with(".py")
    }

    /// How many launches it had; profiles from before there were groups list them all.
    pub fn launch_count(&self) -> u64 {
        self.launch_count.max(self.launches.len() as u64)
    }

    /// Launches that its figures are of.
    pub fn recorded_launches(&self) -> u64 {
        self.recorded_launches.unwrap_or_else(|| self.launch_count())
    }

    /// Host call paths of its launches, each once.
    pub fn paths(&self) -> BTreeSet<&[Frame]> {
        let groups = self.launch_groups.iter().map(|group| &group.path[..]);
        self.launches.iter().map(|launch| &launch.path[..]).chain(groups).collect()
    }
}

/// A launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Number in the program, from 0.
    pub id: u64,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes.
    pub dynamic_shared_bytes: u32,
    /// Bytes.
    #[serde(default)]
    pub static_shared_bytes: u32,
    /// Registers per thread.
    #[serde(default)]
    pub registers: u32,
    /// Blocks that share an SM in the model.
    #[serde(default)]
    pub resident_blocks: u32,
    /// One block of every `block_share` was recorded; 0: none.
    #[serde(default)]
    pub block_share: u64,
    /// CUDA stream, 0 the default.
    #[serde(default)]
    pub stream: u32,
    /// CUDA error code; `None` when the trace ended before the launch.
    #[serde(default)]
    pub error: Option<i32>,
    /// Host call path.
    pub path: Vec<Frame>,
    /// Sums.
    pub metrics: Spaces,
    /// Sums of loads, stores and atomics apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_op: ByOp,
    /// Rank that made it, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Its number in its own run, in profiles of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_id: Option<u64>,
    /// What expressions of addresses read of its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
}

/// Launches of a kernel that are summed up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchGroup {
    /// How many.
    pub launches: u64,
    /// Number of the first one.
    pub first: u64,
    /// Number of the last one.
    pub last: u64,
    /// Launches among these that ended with an error.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub failed: u64,
    /// Blocks; `None` where they have several shapes.
    pub grid: Option<[u32; 3]>,
    /// Threads per block.
    pub block: Option<[u32; 3]>,
    /// Bytes.
    pub dynamic_shared_bytes: Option<u32>,
    /// Bytes.
    pub static_shared_bytes: u32,
    /// Registers per thread.
    pub registers: u32,
    /// One block of every `block_share` was recorded; 0: none.
    pub block_share: u64,
    /// Host call path; empty where they have several.
    pub path: Vec<Frame>,
    /// Sums over these launches.
    pub metrics: Spaces,
    /// Sums of loads, stores and atomics apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_op: ByOp,
    /// Spread of the counts over these launches.
    pub over_launches: BTreeMap<String, Spread>,
    /// Spread of their ratios.
    pub ratios_over_launches: BTreeMap<String, RatioSpread>,
}
