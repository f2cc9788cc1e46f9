//! Converts bypassing advice and TLB reach to the profile's form.

use super::rows::caches::caches;
use crate::model::{
    BypassAdvice, BypassEquation, DramMetrics, LevelMetrics, PageMetrics, SiteChoice, WarpChoice, nine_digits,
};
use warpline_analyzer::advice::{Advice, Choice};
use warpline_analyzer::analyses::pages::{PageCounts, PageSettings};
use warpline_simulator::hierarchy::Traffic;

fn levels(traffic: &Traffic) -> (LevelMetrics, LevelMetrics, DramMetrics) {
    let caches = caches(traffic);
    (caches.l1, caches.l2, caches.dram)
}

/// Converts bypassing advice to the profile's form.
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
        without_reuse: advice.without_reuse,
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

/// Converts page counts to the profile's form.
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
