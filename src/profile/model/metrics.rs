//! The figures of a set of requests or instructions.

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
    /// Minimum number of sectors that can hold the distinct bytes.
    pub ideal_sectors: u64,
    /// Number of requests with 0, 1, 2, … pieces, by size of a piece in bytes: `32`, `128`.
    pub lines_touched: BTreeMap<String, Vec<u64>>,
    /// Passes through banks; shared space only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<PassMetrics>,
    /// Passes; constant space only. A pass serves one address, and ideal is one pass per request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<PassMetrics>,
    /// Passes through the stages of L1; global and local space, if the model has these stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1_wavefronts: Option<StageMetrics>,
    /// Lookups of L1 on the first model; global and local space, if caches were simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1: Option<LevelMetrics>,
    /// Lookups of L2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2: Option<LevelMetrics>,
    /// Traffic of device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram: Option<DramMetrics>,
    /// Figures of the further models, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_models: BTreeMap<String, CacheMetrics>,
    /// Reuse distances within thread blocks; global space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<ReuseMetrics>,
}

impl Metrics {
    /// Returns whether nothing was counted. Even without requests, counted metrics have distributions.
    pub fn is_unreported(&self) -> bool {
        self.lines_touched.is_empty()
    }
}

/// Metrics of launches by space and then by operation: `load`, `store`, `atomic`.
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

/// Lookups of one cache level; each lookup is of one sector of the level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelMetrics {
    /// Number of all lookups.
    pub lookups: u64,
    /// Hits among all lookups.
    pub hits: u64,
    /// Lookups of loads.
    pub load_lookups: u64,
    /// Hits among the lookups of loads.
    pub load_hits: u64,
    /// Store lookups of L2 that allocated a line or sector. Hardware counters count them as hits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub store_allocations: u64,
    /// Lookups that were forwarded to the far partition of an L2 with two partitions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub far: u64,
}

/// Traffic of device memory in sectors of 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DramMetrics {
    /// Sectors read.
    pub read_sectors: u64,
    /// Sectors written immediately or later, when L2 evicts them.
    pub write_sectors: u64,
}

/// Traffic of requests on a GPU model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheMetrics {
    /// Lookups of L1.
    pub l1: LevelMetrics,
    /// Lookups of L2.
    pub l2: LevelMetrics,
    /// Traffic of device memory.
    pub dram: DramMetrics,
    /// Passes through the stages of L1, if the model has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1_wavefronts: Option<StageMetrics>,
}

/// Reuse distances by granularity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReuseMetrics {
    /// Distances of elements, identified by address and width of the access.
    pub element: Distances,
    /// Distances of 32-byte sectors.
    pub sector: Distances,
    /// Distances of 128-byte lines.
    pub line: Distances,
    /// Number of uses of elements that their thread block uses only once.
    pub streaming: u64,
}

/// A histogram of reuse distances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// Buckets up to the last that is not empty.
    pub buckets: Vec<DistanceBucket>,
    /// Number of first uses, and of first uses after a store.
    pub infinite: u64,
    /// Mean of the finite distances.
    pub mean: Option<f64>,
    /// Sum of the finite distances, if several profiles or rows were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<Wide>,
    /// Number of finite distances that are at least the size of a cache, for sectors and lines; present if caches were
    /// simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Beyond>,
}

/// Number of uses with finite distances that an LRU cache of the model's size would miss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// Misses for the launch's L1 size.
    pub l1: u64,
    /// Misses for the size of L2.
    pub l2: u64,
}

/// Number of uses with distances above the previous bucket's limit and up to this one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistanceBucket {
    /// Highest distance.
    pub upto: u64,
    /// Number of uses.
    pub count: u64,
}

/// Passes of shared- or constant-memory requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassMetrics {
    /// Number of passes.
    pub wavefronts: u64,
    /// Number of passes without bank conflicts, or with one address per request.
    pub ideal_wavefronts: u64,
}

/// Passes of requests through the stages of L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageMetrics {
    /// Passes through the data stage.
    pub data: u64,
    /// Passes through the data stage if all words were in different banks.
    pub ideal_data: u64,
    /// Passes through the tag stage.
    pub tag: u64,
    /// Words of 4 bytes per lane that the load/store units move.
    pub words: u64,
}

/// Executed instructions of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCount {
    /// Executions by warps.
    pub warps: u64,
    /// Executions by lanes.
    pub lanes: u64,
}

/// Counts by class: `fp16`, `fp32`, `fp64`, `int`, `special`, `conversion`, `control`, `memory`, `barrier`, `tensor`.
/// Only classes that occur are present.
pub type Instructions = BTreeMap<String, InstructionCount>;
