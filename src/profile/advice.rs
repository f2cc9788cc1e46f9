//! Bypassing advice and TLB reach in the profile's form.

use serde::{Deserialize, Serialize};

use super::caches::caches;
use super::estimate::nine_digits;
use super::metrics::{DramMetrics, LevelMetrics};
use super::wide::Wide;
use crate::advice::{Advice, Best, Choice};
use crate::hierarchy::Traffic;
use crate::simulation::{PageCounts, PageSettings};

/// Who should use L1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BypassAdvice {
    /// CUDAAdvisor's equation 1; absent where nothing is used twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equation: Option<BypassEquation>,
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
    /// L1; loads that go past it are no lookups.
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

fn levels(traffic: &Traffic) -> (LevelMetrics, LevelMetrics, DramMetrics) {
    let caches = caches(traffic);
    (caches.l1, caches.l2, caches.dram)
}

/// In the profile's form.
pub(super) fn bypass(advice: &Advice) -> BypassAdvice {
    BypassAdvice {
        equation: advice.equation.map(|equation| BypassEquation {
            warps: equation.warps,
            warps_per_block: equation.warps_per_block,
            reuse_distance: nine_digits(equation.reuse_distance),
            divergence_degree: nine_digits(equation.divergence_degree),
            line_bytes: equation.line_bytes,
            l1_bytes: equation.l1_bytes,
            blocks_per_sm: equation.blocks_per_sm,
        }),
        warps: advice
            .warps
            .iter()
            .map(|Choice { what, traffic }| {
                let (l1, l2, dram) = levels(traffic);
                WarpChoice { warps: *what, l1, l2, dram }
            })
            .collect(),
        best_warps: advice.best_warps(),
        sites: advice
            .sites
            .iter()
            .map(|Choice { what, traffic }| {
                let (l1, l2, dram) = levels(traffic);
                SiteChoice { sites: what.clone(), l1, l2, dram }
            })
            .collect(),
        best_sites: advice.best_sites().unwrap_or_default().to_vec(),
        best: advice.best(),
    }
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

/// In the profile's form.
pub(super) fn pages(settings: &PageSettings, counts: &PageCounts) -> PageMetrics {
    PageMetrics {
        page_bytes: settings.page_bytes,
        window_requests: settings.window,
        windows: counts.windows,
        sum: None,
        mean: nine_digits(counts.pages as f64 / counts.windows.max(1) as f64),
        most: counts.most,
        distinct: counts.all.len() as u64,
        reach_bytes: settings.reach_bytes,
        beyond_reach: settings.reach_bytes.map(|_| counts.beyond),
    }
}
