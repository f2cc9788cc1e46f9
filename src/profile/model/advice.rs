//! Who should use L1, and which pages are touched.

use serde::{Deserialize, Serialize};

use super::metrics::{DramMetrics, LevelMetrics};
use super::number::Wide;
use warpline_analyzer::advice::Best;

/// Who should use L1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BypassAdvice {
    /// CUDAAdvisor's equation 1; absent where nothing is used twice, or where reuse distances were not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equation: Option<BypassEquation>,
    /// Reuse distances were not computed (`--reuse off`): the equation is unknown, and sites were tried in the order of the code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_reuse: bool,
    /// Simulated: only the first warps of each block use L1. The last row is all warps. Empty where the model
    /// does not cache loads of global memory.
    pub warps: Vec<WarpChoice>,
    /// The number of warps with the least traffic to L2.
    pub best_warps: Option<u32>,
    /// Simulated: the loads of some sites go past L1. The first row is none.
    pub sites: Vec<SiteChoice>,
    /// The sites with the least traffic to L2.
    pub best_sites: Vec<u32>,
    /// Which of the two sends less to L2, if any sends less than no bypassing; absent where nothing was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
}

/// Equation 1 of Shen et al., CUDAAdvisor, CGO 2018: `warps` = ⌊`l1_bytes` / (`reuse_distance` × `line_bytes` ×
/// `divergence_degree` × `blocks_per_sm`)⌋, at most all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BypassEquation {
    /// Warps of each block that should use L1.
    pub warps: u32,
    /// Warps of a block.
    pub warps_per_block: u32,
    /// Mean finite reuse distance of loads, in elements.
    pub reuse_distance: f64,
    /// Mean number of lines that a load touches.
    pub divergence_degree: f64,
    /// Bytes of such a line.
    pub line_bytes: u32,
    /// Bytes of L1.
    pub l1_bytes: u64,
    /// Blocks that share an SM.
    pub blocks_per_sm: u32,
}

/// What a number of warps gives, for all requests to global memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpChoice {
    /// Warps of each block that use L1.
    pub warps: u32,
    /// L1; loads that go past it are not lookups.
    pub l1: LevelMetrics,
    /// L2.
    pub l2: LevelMetrics,
    /// Device memory.
    pub dram: DramMetrics,
}

/// What a set of sites gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteChoice {
    /// Sites of the kernel whose loads go past L1.
    pub sites: Vec<u32>,
    /// L1.
    pub l1: LevelMetrics,
    /// L2.
    pub l2: LevelMetrics,
    /// Device memory.
    pub dram: DramMetrics,
}

/// Pages that SMs touched within windows of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageMetrics {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Requests of one SM in a window.
    pub window_requests: u32,
    /// Windows.
    pub windows: u64,
    /// Mean number of distinct pages in a window.
    pub mean: f64,
    /// Their sum over windows, in profiles of several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<Wide>,
    /// Most distinct pages in a window.
    pub most: u64,
    /// Distinct pages of all SMs and launches.
    pub distinct: u64,
    /// Bytes that the TLB reaches, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach_bytes: Option<u64>,
    /// Windows that touched more than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond_reach: Option<u64>,
}
