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
    /// Number, counted from 0 in the order of first launches.
    pub id: u32,
    /// Demangled name.
    pub name: String,
    /// Mangled name.
    pub mangled: String,
    /// Main source file of its module.
    pub module: String,
    /// File of the definition.
    pub file: String,
    /// Line of the definition.
    pub line: u32,
    /// Sums over all launches.
    pub metrics: Spaces,
    /// Sums over all launches.
    pub instructions: Instructions,
    /// Sums over all launches.
    #[serde(default)]
    pub lane_slots: LaneSlots,
    /// Counts over pairs of a warp and a basic block in all launches; absent if the device does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp_blocks: Option<WarpBlocks>,
    /// The part of the `dram` sectors, by model, that belongs to host memory which the kernel accesses directly and a
    /// GPU transfers over its bus. Requests that touch several allocations are not included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub host_memory: BTreeMap<String, DramMetrics>,
    /// The first launches of each call path and shape, in order. `run.notes` reports if there are more.
    pub launches: Vec<Launch>,
    /// The launches that are not in `launches`, summed by call path and shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launch_groups: Vec<LaunchGroup>,
    /// Number of all launches.
    #[serde(default)]
    pub launch_count: u64,
    /// Number of recorded launches, if some were not recorded. All figures include only these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_launches: Option<u64>,
    /// Spread of the counts over launches, by `space.metric`.
    pub over_launches: BTreeMap<String, Spread>,
    /// Spread of ratios, mean reuse distances and estimated seconds over the launches that have them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ratios_over_launches: BTreeMap<String, RatioSpread>,
    /// Spread over launches from the same call path, for paths with two or more launches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_paths: Vec<PathSpread>,
    /// Bytes per thread that ptxas spills, stores and loads together. No record shows this traffic to local memory.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub spill_bytes: u32,
    /// Bottleneck estimates, one per model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub estimates: Vec<Estimate>,
    /// Advice on which warps should use L1, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<BypassAdvice>,
    /// Pages touched by global and local requests, if a page size is known or given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageMetrics>,
    /// Tables of the listed analyses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Estimated figures of all launches of the kernel, if a budget recorded only some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<WholeRun>,
    /// Address expressions for `predict`; absent if the program was built without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Addresses>,
    /// Spread of its figures over ranks, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_ranks: OverRanks,
    /// Spread over ranks of its launches from each host call path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths_over_ranks: Vec<PathOverRanks>,
    /// Exact sums for further merging.
    #[serde(default, skip_serializing_if = "KernelExact::is_none")]
    pub exact: KernelExact,
}

impl Kernel {
    /// Returns whether the kernel was written in Triton. The source of such a kernel has tiles instead of threads, and
    /// Triton chose the code for one architecture.
    pub fn is_triton(&self) -> bool {
        self.file.ends_with(".py")
    }

    /// Returns the number of launches. Profiles without groups list all of them.
    pub fn launch_count(&self) -> u64 {
        self.launch_count.max(self.launches.len() as u64)
    }

    /// Returns the number of launches that its figures include.
    pub fn recorded_launches(&self) -> u64 {
        self.recorded_launches.unwrap_or_else(|| self.launch_count())
    }

    /// Returns the distinct host call paths of its launches.
    pub fn paths(&self) -> BTreeSet<&[Frame]> {
        let groups = self.launch_groups.iter().map(|group| &group.path[..]);
        self.launches.iter().map(|launch| &launch.path[..]).chain(groups).collect()
    }
}

/// A launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Number of the launch in the program, counted from 0.
    pub id: u64,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
    /// Bytes of static shared memory.
    #[serde(default)]
    pub static_shared_bytes: u32,
    /// Registers per thread.
    #[serde(default)]
    pub registers: u32,
    /// Number of resident blocks per SM on the model.
    #[serde(default)]
    pub resident_blocks: u32,
    /// One of `block_share` blocks was recorded; 0 if none.
    #[serde(default)]
    pub block_share: u64,
    /// CUDA stream; 0 is the default stream.
    #[serde(default)]
    pub stream: u32,
    /// CUDA error code; `None` if the trace ended before the launch.
    #[serde(default)]
    pub error: Option<i32>,
    /// Host call path.
    pub path: Vec<Frame>,
    /// Sums by space.
    pub metrics: Spaces,
    /// Separate sums of loads, stores and atomics.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_op: ByOp,
    /// Rank that made the launch, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Number of the launch in its own run, in profiles of several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_id: Option<u64>,
    /// Arguments that address expressions use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
}

/// Launches of a kernel whose figures are added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchGroup {
    /// Number of launches.
    pub launches: u64,
    /// Number of the first launch.
    pub first: u64,
    /// Number of the last launch.
    pub last: u64,
    /// Number of launches that ended with an error.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub failed: u64,
    /// Blocks of the grid; `None` if the shapes differ.
    pub grid: Option<[u32; 3]>,
    /// Threads per block; `None` if the shapes differ.
    pub block: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory; `None` if they differ.
    pub dynamic_shared_bytes: Option<u32>,
    /// Bytes of static shared memory.
    pub static_shared_bytes: u32,
    /// Registers per thread.
    pub registers: u32,
    /// One of `block_share` blocks was recorded; 0 if none.
    pub block_share: u64,
    /// Host call path; empty if the paths differ.
    pub path: Vec<Frame>,
    /// Sums over these launches.
    pub metrics: Spaces,
    /// Separate sums of loads, stores and atomics.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_op: ByOp,
    /// Spread of the counts over these launches.
    pub over_launches: BTreeMap<String, Spread>,
    /// Spread of the ratios over these launches.
    pub ratios_over_launches: BTreeMap<String, RatioSpread>,
}
