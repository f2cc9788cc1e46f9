//! Advice on the use of L1, and counts of touched pages.

use serde::{Deserialize, Serialize};

use super::metrics::{DramMetrics, LevelMetrics};
use super::number::Wide;
use warpline_analyzer::advice::Best;

/// Advice on which loads should use L1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BypassAdvice {
    /// CUDAAdvisor's equation 1; absent if no element is used twice, or if reuse distances were not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equation: Option<BypassEquation>,
    /// Whether reuse distances were not computed (`--reuse off`). The equation is then unknown, and sites were
    /// simulated in program order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_reuse: bool,
    /// Simulated results if only the first warps of each block use L1. The last row is all warps. Empty if the model
    /// does not cache loads of global memory.
    pub warps: Vec<WarpChoice>,
    /// Number of warps with the least traffic to L2.
    pub best_warps: Option<u32>,
    /// Simulated results if the loads of some sites bypass L1. The first row is no site.
    pub sites: Vec<SiteChoice>,
    /// The sites with the least traffic to L2.
    pub best_sites: Vec<u32>,
    /// The kind of choice with the least traffic to L2, if it reduces the traffic; absent if nothing was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
}

/// Equation 1 of Shen et al., CUDAAdvisor, CGO 2018: `warps` = ⌊`l1_bytes` / (`reuse_distance` × `line_bytes` ×
/// `divergence_degree` × `blocks_per_sm`)⌋, at most all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BypassEquation {
    /// Number of warps per block that should use L1.
    pub warps: u32,
    /// Number of warps per block.
    pub warps_per_block: u32,
    /// Mean finite reuse distance of loads, in elements.
    pub reuse_distance: f64,
    /// Mean number of lines that a load touches.
    pub divergence_degree: f64,
    /// Bytes of such a cache line.
    pub line_bytes: u32,
    /// Bytes of L1.
    pub l1_bytes: u64,
    /// Number of resident blocks per SM.
    pub blocks_per_sm: u32,
}

/// Traffic of all requests to global memory for a number of warps that use L1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpChoice {
    /// Number of warps per block that use L1.
    pub warps: u32,
    /// Lookups of L1. Loads that bypass it are not lookups.
    pub l1: LevelMetrics,
    /// Lookups of L2.
    pub l2: LevelMetrics,
    /// Traffic of device memory.
    pub dram: DramMetrics,
}

/// Traffic of all requests to global memory if some sites bypass L1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteChoice {
    /// Sites of the kernel whose loads bypass L1.
    pub sites: Vec<u32>,
    /// Lookups of L1.
    pub l1: LevelMetrics,
    /// Lookups of L2.
    pub l2: LevelMetrics,
    /// Traffic of device memory.
    pub dram: DramMetrics,
}

/// Counts of the pages that SMs touched within windows of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageMetrics {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Number of requests of one SM per window.
    pub window_requests: u32,
    /// Number of windows.
    pub windows: u64,
    /// Mean number of distinct pages in a window.
    pub mean: f64,
    /// Sum of the distinct pages over windows, in profiles of several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<Wide>,
    /// Largest number of distinct pages in a window.
    pub most: u64,
    /// Number of distinct pages over all SMs and launches.
    pub distinct: u64,
    /// Bytes that the TLB covers, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach_bytes: Option<u64>,
    /// Number of windows that touched more than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond_reach: Option<u64>,
}
