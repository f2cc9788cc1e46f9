//! The JSON document of `report --format json`, version 1. `docs/profile-v1.schema.json` is its
//! schema, `docs/report.md` says what each figure means. Fields are only ever added.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use super::addresses::{Addresses, Argument, Parameter, Variable};
pub use super::advice::{BypassAdvice, BypassEquation, PageMetrics, SiteChoice, WarpChoice};
pub use super::conflicts::{Conflict, ConflictParty};
pub use super::estimate::{Bytes, Estimate, IdealEstimate, Limit};
pub use super::finding::{Finding, Gain, Severity};
pub use super::frames::{Frame, is_system, user_frame};
pub use super::launch_group::LaunchGroup;
pub use super::merged::{
    EstimateExact, Exact, FoundBefore, KernelExact, MergedFrom, MergedRanks, NameOverRanks, OverRanks, PathOverRanks,
    Ranges, RankSpread,
};
pub use super::metrics::{
    Beyond, ByOp, CacheMetrics, DistanceBucket, Distances, DramMetrics, InstructionCount, Instructions, LevelMetrics,
    Metrics, OpMetrics, PassMetrics, ReuseMetrics, Spaces, StageMetrics,
};
pub use super::missing::Missing;
pub use super::operand::{Operand, ThreadStep};
pub use super::pattern::{Atomics, BankConflict, HotPlace, Pattern};
pub use super::rank::Rank;
pub use super::spread::{PathSpread, RatioSpread, Spread};
pub use super::whole::{Estimated, WholeRun};
pub use super::wide::Wide;

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_one(count: &u64) -> bool {
    *count == 1
}

/// Value of [`Profile::schema`].
pub const SCHEMA: &str = "warpline.profile";
/// Value of [`Profile::version`] that this release writes.
pub const VERSION: u32 = 1;

/// A whole profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// What was run and how.
    pub run: Run,
    /// In order of first launch.
    pub kernels: Vec<Kernel>,
    /// By kernel, file, line.
    pub lines: Vec<Line>,
    /// By kernel, site, space.
    pub sites: Vec<Site>,
    /// By number.
    pub allocations: Vec<Allocation>,
    /// By number.
    pub host_allocations: Vec<HostAllocation>,
    /// By kernel and place.
    pub branches: Vec<Branch>,
    /// By kernel and place.
    pub blocks: Vec<Block>,
    /// Bad accesses, in order.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Accesses of the same bytes by different warps that nothing orders; what matters most first.
    #[serde(default)]
    pub conflicts: Vec<Conflict>,
    /// What is wrong, why and what to do; rank 1 first.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Memory operations that were executed or may have been, and are not counted.
    #[serde(default)]
    pub not_seen: Vec<NotSeen>,
    /// How the figures of allocations of each name differ from rank to rank, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocation_names: Vec<NameOverRanks>,
    /// Source lines that the rows refer to, by file and line number.
    #[serde(default)]
    pub sources: BTreeMap<String, BTreeMap<u32, String>>,
}

/// Mode of documents from before there were others.
fn default_mode() -> String {
    "trace".to_owned()
}

/// What was run and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `cpu` or `gpu`.
    pub device: String,
    /// GPU models; the first one's scheduler gave the order.
    pub models: Vec<String>,
    /// The program ended by itself, its trace is whole, and no kernel ended early or is missing.
    pub complete: bool,
    /// Architectures that the code which ran was built for, as 75 for `sm_75`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub architectures: Vec<u32>,
    /// Records that the user allowed to drop.
    pub dropped_records: u64,
    /// `trace`, or `counters` where the GPU counted requests by site and kept no trace.
    #[serde(default = "default_mode")]
    pub mode: String,
    /// Only a share of the launches or blocks was recorded.
    pub sampled: bool,
    /// How much was looked at for conflicts between warps: `sampled` or `full`; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race_check: Option<String>,
    /// Exit code of the program (128 + n for a signal); `None` when it is not known.
    pub exit_code: Option<i32>,
    /// What the figures rest on.
    pub assumptions: BTreeMap<String, String>,
    /// Program's executable and arguments, as the program told them.
    #[serde(default)]
    pub program: Vec<String>,
    /// What a reader should know; the same for identical runs.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What did not run, or not to its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
    /// Where a budget recorded some of the launches: figures of all, estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<WholeRun>,
    /// Bytes of a lookup at each level, by model; absent where nothing was simulated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lookup_bytes: BTreeMap<String, LookupBytes>,
    /// Bytes that each cache holds, by model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cache_bytes: BTreeMap<String, CacheBytes>,
    /// Of which profiles it is made, where it is of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Box<MergedFrom>>,
    /// Whatever may differ between identical runs.
    pub environment: Environment,
}

/// Bytes of a lookup: what one of a level's own sectors, or its whole line, holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookupBytes {
    /// Level 1.
    pub l1: u64,
    /// Level 2.
    pub l2: u64,
}

/// Sizes of caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheBytes {
    /// Level 1 of an SM, where no shared memory takes of it; 0 unknown.
    pub l1: u64,
    /// Level 2.
    pub l2: u64,
}

/// Whatever may differ between identical runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Command line of `warpline`.
    pub command: Vec<String>,
    /// Releases of the tools.
    pub versions: BTreeMap<String, String>,
    /// Wall-clock seconds: `program`, `analysis`.
    pub seconds: BTreeMap<String, f64>,
    /// Process number of the program.
    pub pid: Option<u32>,
    /// Machine.
    pub host: Option<String>,
    /// Start, as in `2026-11-20T19:00:00Z`.
    pub date: Option<String>,
    /// Threads of the analysis.
    pub threads: Option<u32>,
    /// Which of the job's processes it was; absent where nothing says that it was one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
    /// The ranks of each node, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, Ranges>,
    /// What the user said of the run: `commit`, `branch` and the like.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

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
    /// Basic blocks by warp, over all launches; absent where the device does not tell them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp_blocks: Option<WarpBlocks>,
    /// What of the sectors of `dram` is host memory that the kernel reaches where it is, by model: a GPU moves it over
    /// its bus. Requests that touch several allocations are not in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub host_memory: BTreeMap<String, DramMetrics>,
    /// The first ones of each call path and shape, in order; `run.notes` says so where there are more.
    pub launches: Vec<Launch>,
    /// Those that are not in `launches`, summed up by call path and shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launch_groups: Vec<LaunchGroup>,
    /// All launches.
    #[serde(default)]
    pub launch_count: u64,
    /// Of these, those that were recorded, where some were not: all figures are of them.
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
    #[serde(default, skip_serializing_if = "super::names::is_nothing")]
    pub spill_bytes: u32,
    /// Bottleneck estimates, one per model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub estimates: Vec<Estimate>,
    /// Who should use level 1, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<BypassAdvice>,
    /// Pages touched by global and local requests, where a page size is known or was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageMetrics>,
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

impl Profile {
    /// The row of an allocation.
    pub fn allocation(&self, id: u64) -> Option<&Allocation> {
        let index = self.allocations.binary_search_by_key(&id, |allocation| allocation.id).ok()?;
        self.allocations.get(index)
    }

    /// Puts allocations into the order that [`Self::allocation`] relies on.
    pub(super) fn put_in_order(&mut self) {
        self.allocations.sort_by_key(|allocation| allocation.id);
        self.host_allocations.sort_by_key(|allocation| allocation.id);
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
    /// Of every so many blocks one was recorded; 0: none.
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

/// A source line in a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Inside libdevice or another library function.
    pub library: bool,
    /// The position is the nearest known one.
    pub approximate: bool,
    /// Sums.
    pub metrics: Metrics,
    /// What it accesses, in the words of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operand: Option<Operand>,
    /// How its requests use memory; absent where nothing was simulated or there is nothing to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// A request that spans several allocations counts for each of them.
    pub by_allocation: Vec<ByAllocation>,
    /// Only contexts with calls that survived inlining, and the kernel itself beside them.
    pub contexts: Vec<Context>,
    /// How its figures differ from rank to rank, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_ranks: OverRanks,
}

/// What falls to one allocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ByAllocation {
    /// `None`: no live allocation.
    pub allocation: Option<u64>,
    /// Sums.
    pub metrics: Metrics,
}

/// What falls to one device call context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Outermost first.
    pub calls: Vec<Frame>,
    /// Sums.
    pub metrics: Metrics,
}

/// A device allocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// Number.
    pub id: u64,
    /// Variable's name.
    pub name: Option<String>,
    /// `cudaMalloc`, …, `device_global`, `constant`, `compiler`.
    pub kind: String,
    /// Size.
    pub bytes: u64,
    /// Where it was made; for a device variable its declaration.
    pub path: Vec<Frame>,
    /// Freed before the end; all of them.
    pub freed: bool,
    /// How many allocations share this row, as they have its name, kind, path and size; `bytes` and all other figures are
    /// sums over them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u64,
    /// How many of these were freed before the end.
    #[serde(default, skip_serializing_if = "super::metrics::is_zero")]
    pub freed_count: u64,
    /// Most allocations from its call path that were live at the same time; 0 where its path is not known.
    #[serde(default, skip_serializing_if = "super::metrics::is_zero")]
    pub live_at_once: u64,
    /// Bytes of the 32-byte sectors that kernels touched, each once; 0 where nothing was simulated.
    #[serde(default, skip_serializing_if = "super::metrics::is_zero")]
    pub touched_bytes: u64,
    /// The same by part of the allocation; absent where several share the row, or nothing was touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touched_map: Option<TouchedMap>,
    /// Among the launches of the program; absent where runs were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Lifetime>,
    /// Copies and fills.
    pub copies: Vec<CopyRow>,
    /// Over all spaces; absent where requests were counted without their addresses.
    #[serde(default, skip_serializing_if = "Metrics::is_untold")]
    pub metrics: Metrics,
    /// By kernel.
    pub by_kernel: Vec<ByKernel>,
}

/// How much kernels touched of each part of an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedMap {
    /// Bytes of a part; the last one may be shorter.
    pub part_bytes: u64,
    /// Bytes of the 32-byte sectors of each part that were touched, from the allocation's first byte on.
    pub touched: Vec<u64>,
}

/// When an allocation was there, by numbers of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetime {
    /// The launch that follows its begin; where several share the row, the first one's.
    pub first_launch: u64,
    /// The launch that follows its end, the last one's; `None` where not all were freed.
    pub last_launch: Option<u64>,
}

/// Copies of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyRow {
    /// `host_to_device`, `device_to_host`, `device_to_device`, `host_to_host`, `set`.
    pub direction: String,
    /// All of them.
    pub bytes: u64,
    /// Copies.
    pub count: u64,
    /// Of these, whose bytes were at the destination already, although no kernel had stored there since the copy before.
    #[serde(default, skip_serializing_if = "super::metrics::is_zero")]
    pub unchanged_count: u64,
    /// Number of the launch that follows the first of them; absent where runs were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_launch: Option<u64>,
    /// Number of the launch that follows the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_launch: Option<u64>,
    /// Host allocation on the other side, when known.
    pub host: Option<u64>,
    /// Where.
    pub path: Vec<Frame>,
}

/// What falls to one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ByKernel {
    /// Kernel.
    pub kernel: u32,
    /// Sums.
    pub metrics: Metrics,
}

/// A host allocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostAllocation {
    /// Number.
    pub id: u64,
    /// Variable's name.
    pub name: Option<String>,
    /// `malloc`, `new`, ….
    pub kind: String,
    /// Size; of all of them.
    pub bytes: u64,
    /// Where.
    pub path: Vec<Frame>,
    /// How many allocations share this row.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u64,
}

/// A conditional branch or switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Of these, with lanes leaving by two or more sides.
    pub divergent: u64,
    /// Per side; the first is the one taken when the condition holds, or a switch's default.
    pub lanes: Vec<u64>,
    /// Per side, warp instructions issued in blocks that run because of it; empty where nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<u64>,
    /// Lane slots that stay idle, at most, in blocks that part of a warp's live lanes run, where this is the innermost branch
    /// that diverged among those that decide over the block.
    #[serde(default, skip_serializing_if = "super::metrics::is_zero")]
    pub idle_lane_slots: u64,
    /// Line of the kernel itself that it stands on, or that calls what it stands in; 0 unknown.
    #[serde(default, skip_serializing_if = "super::names::is_nothing")]
    pub kernel_line: u32,
    /// Lanes waited in its loop for others of their warp, which went on ahead in an order that is assumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub order_assumed: bool,
}

/// What idle lanes cost: an instruction takes 32 lane slots, whoever runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSlots {
    /// 32 times the issued warp instructions.
    pub issued: u64,
    /// Of these, with an active lane.
    pub active: u64,
    /// Idle ones in executions of blocks with fewer lanes than the warp had live, at most: what divergence costs at most.
    pub lost_partial: u64,
}

/// Pairs of a warp and a basic block that it ran, however often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpBlocks {
    /// Pairs.
    pub count: u64,
    /// Pairs whose lanes, summed over all executions, are no multiple of 32: CUDAAdvisor's divergent blocks.
    pub divergent: u64,
    /// Pairs with an execution by fewer lanes than the warp had live.
    pub partial: u64,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// By warp; absent where the device does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp_blocks: Option<WarpBlocks>,
    /// Instructions of one execution.
    #[serde(default)]
    pub instructions: u64,
    /// Lanes of the 32 of each execution that did not run it, summed: diverged, finished, or never there.
    #[serde(default)]
    pub lanes_lost: u64,
    /// Line of the kernel itself that it stands on, or that calls what it stands in; 0 unknown.
    #[serde(default, skip_serializing_if = "super::names::is_nothing")]
    pub kernel_line: u32,
    /// Its instructions by the source line they belong to; empty where that is `line` for all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<BlockPart>,
}

/// The instructions of a basic block that belong to one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockPart {
    /// User frame.
    pub file: String,
    /// User frame.
    pub line: u32,
    /// Line of the kernel itself that they stand on, or that calls what they stand in; 0 unknown.
    #[serde(default, skip_serializing_if = "super::names::is_nothing")]
    pub kernel_line: u32,
    /// Instructions of one execution.
    pub instructions: u64,
}

/// A bad access.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// `out_of_bounds`, `misaligned`, `freed`, `shared_out_of_bounds`, `local_out_of_bounds`, `hardware`, or `divergent_barrier`
    /// or `different_barriers` (which are no accesses and have no address).
    pub kind: String,
    /// Kernel; `None` when unknown.
    pub kernel: Option<u32>,
    /// Launch.
    pub launch: u64,
    /// User frame; unknown fields are empty.
    pub frame: Frame,
    /// The other of two barriers, at which warps of the block waited already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Frame>,
    /// `load`, `store`, `atomic`; empty when unknown.
    pub op: String,
    /// Per lane; 0 unknown.
    pub bytes: u32,
    /// Linear block.
    pub block: u64,
    /// Linear thread in the block.
    pub thread: u32,
    /// Device address, hexadecimal; `host` for ordinary host memory, whose addresses differ from run to run.
    pub address: String,
    /// Nearest allocation.
    pub allocation: Option<u64>,
    /// Bytes from its start; negative before it.
    pub offset: Option<i64>,
    /// The kernel was stopped.
    pub stopped: bool,
    /// Host call path of the launch.
    pub path: Vec<Frame>,
    /// Rank that made it, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

/// A memory operation that no record shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotSeen {
    /// Function that holds it.
    pub function: String,
    /// User frame.
    pub file: String,
    /// User frame.
    pub line: u32,
    /// What it is.
    pub what: String,
}
