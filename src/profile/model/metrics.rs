//! The figures of a set of requests or instructions, as the document has them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::number::{Wide, is_zero};

/// Metrics by memory space: `global`, `shared`, `local`, `constant`; only those that occur.
pub type Spaces = BTreeMap<String, Metrics>;

/// Metrics of a set of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Executions of a memory instruction by a warp with an active lane.
    pub requests: u64,
    /// Active lanes, summed.
    pub lanes: u64,
    /// Useful bytes of the active lanes.
    pub bytes: u64,
    /// Distinct 32-byte sectors per request, summed.
    pub sectors: u64,
    /// Sectors that the distinct bytes would fill.
    pub ideal_sectors: u64,
    /// Requests with 0, 1, 2, … pieces, by size of a piece in bytes: `32`, `128`.
    pub lines_touched: BTreeMap<String, Vec<u64>>,
    /// Shared space only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<PassMetrics>,
    /// Constant space only: a pass serves one address, ideal is one pass per request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<PassMetrics>,
    /// Passes through the stages of L1; global and local space, where the model has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1_wavefronts: Option<StageMetrics>,
    /// Level-1 cache of the first model; global and local space, where caches were simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1: Option<LevelMetrics>,
    /// Level-2 cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2: Option<LevelMetrics>,
    /// Device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram: Option<DramMetrics>,
    /// The further requested models, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_models: BTreeMap<String, CacheMetrics>,
    /// Reuse distances within thread blocks; global space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<ReuseMetrics>,
}

impl Metrics {
    /// Nothing was counted, not even that there was nothing: what is counted has its distributions.
    pub fn is_unreported(&self) -> bool {
        self.lines_touched.is_empty()
    }
}

/// Requests of launches by what their instructions do: `load`, `store`, `atomic`, within each space.
pub type ByOp = BTreeMap<String, BTreeMap<String, OpMetrics>>;

/// Metrics of the loads, stores or atomics of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpMetrics {
    /// See [`Metrics`].
    pub requests: u64,
    /// See [`Metrics`].
    pub lanes: u64,
    /// See [`Metrics`].
    pub bytes: u64,
    /// See [`Metrics`].
    pub sectors: u64,
    /// See [`Metrics`].
    pub ideal_sectors: u64,
    /// See [`Metrics`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1: Option<LevelMetrics>,
    /// See [`Metrics`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2: Option<LevelMetrics>,
    /// See [`Metrics`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram: Option<DramMetrics>,
}

/// Lookups of one cache level, each of one of the level's own sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelMetrics {
    /// All.
    pub lookups: u64,
    /// Found present.
    pub hits: u64,
    /// Lookups of loads.
    pub load_lookups: u64,
    /// Those of them found present.
    pub load_hits: u64,
    /// Store lookups that allocated (L2). Hardware counters have them as hits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub store_allocations: u64,
    /// Lookups passed on to the far partition (L2 of two parts).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub far: u64,
}

/// Traffic of device memory in sectors of 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DramMetrics {
    /// Read.
    pub read_sectors: u64,
    /// Written, now or when the level-2 cache gives them up.
    pub write_sectors: u64,
}

/// What requests cost on a GPU model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheMetrics {
    /// L1.
    pub l1: LevelMetrics,
    /// L2.
    pub l2: LevelMetrics,
    /// Device memory.
    pub dram: DramMetrics,
    /// Passes through the stages of L1, where the model has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1_wavefronts: Option<StageMetrics>,
}

/// Reuse distances by granularity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReuseMetrics {
    /// Address and width of the access.
    pub element: Distances,
    /// 32 bytes.
    pub sector: Distances,
    /// 128 bytes.
    pub line: Distances,
    /// Uses of elements that their thread block uses once only.
    pub streaming: u64,
}

/// A histogram of reuse distances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// Up to the last that is not empty.
    pub buckets: Vec<DistanceBucket>,
    /// Uses of what was not used before, or not since it was stored to.
    pub infinite: u64,
    /// Mean of the finite distances.
    pub mean: Option<f64>,
    /// Their sum, where several profiles or rows were put together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<Wide>,
    /// Finite distances that are at least the size of a cache: of sectors and lines, where caches were simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Beyond>,
}

/// Uses at finite distances that an LRU cache of the model's size would miss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// The level-1 cache of the launch.
    pub l1: u64,
    /// The level-2 cache.
    pub l2: u64,
}

/// Uses at distances above the last bucket's and up to this one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistanceBucket {
    /// Highest distance.
    pub upto: u64,
    /// Uses.
    pub count: u64,
}

/// Passes of shared- or constant-memory requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassMetrics {
    /// Passes made.
    pub wavefronts: u64,
    /// Passes without bank conflicts, or with one address per request.
    pub ideal_wavefronts: u64,
}

/// Passes of requests through the stages of L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageMetrics {
    /// Data stage.
    pub data: u64,
    /// Data stage, if the same words lay in different banks.
    pub ideal_data: u64,
    /// Tag stage.
    pub tag: u64,
    /// Words of 4 bytes per lane that the load/store units move.
    pub words: u64,
}

/// Executed instructions of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCount {
    /// Executions by a warp.
    pub warps: u64,
    /// Executions by a lane.
    pub lanes: u64,
}

/// Keyed by class: `fp16`, `fp32`, `fp64`, `int`, `special`, `conversion`, `control`, `memory`, `barrier`,
/// `tensor`; only those that occur.
pub type Instructions = BTreeMap<String, InstructionCount>;
