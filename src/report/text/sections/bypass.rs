//! Writes advice on the use of L1, and the number of touched pages.

use std::fmt::Write as _;

use super::caches;
use super::kernels::more;
use crate::words::figures::{bytes, count, hit_rate, percent, ratio};
use crate::words::style::Style;
use crate::words::{names, places};
use warpline_analyzer::advice::Best;
use warpline_profile::Profile;
use warpline_profile::model::{
    BypassAdvice, BypassEquation, DramMetrics, Kernel, LevelMetrics, PageMetrics, SiteChoice,
};
use warpline_simulator::geometry::SECTOR_BYTES;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let rows: Vec<(&Kernel, &BypassAdvice)> =
        profile.kernels.iter().filter_map(|kernel| Some((kernel, kernel.bypass.as_ref()?))).collect();
    if rows.is_empty() {
        return;
    }
    let model = profile.run.models.first().map_or("", String::as_str);
    let unit = profile.run.lookup_bytes.get(model).map(|unit| unit.l2);
    let heading = format!("BYPASSING L1 of {model}: loads of global memory that go past it, simulated");
    _ = writeln!(out, "{}", style.heading(&heading));
    for (kernel, advice) in rows.iter().take(top) {
        _ = writeln!(out, "  {}", style.strong(&names::label(profile, kernel)));
        if let Some(verdict) = verdict(advice, unit) {
            _ = writeln!(out, "      {verdict}");
        }
        _ = writeln!(out, "      {}", equation(advice, unit));
        if advice.warps.is_empty() {
            _ = writeln!(out, "      the model does not cache loads of global memory in L1");
            continue;
        }
        let head = format!("      {:>8} {:>8} {:>10} {:>12}  using L1", "L1 hit", "L2 hit", "to L2", "DRAM");
        _ = writeln!(out, "{}", style.faint(&head));
        for row in &advice.warps {
            let all = advice.warps.last().is_some_and(|last| last.warps == row.warps);
            let warps = if row.warps == 1 { "warp" } else { "warps" };
            let text = format!("{}{} {warps} of a block", if all { "all " } else { "" }, row.warps);
            _ = writeln!(out, "{}  {text}", figures(&row.l1, &row.l2, &row.dram, unit));
        }
        if let Some(row) = best_sites(advice) {
            let loads = places_of(profile, kernel.id, &row.sites).join(", ");
            _ = writeln!(out, "{}  all loads but {loads}", figures(&row.l1, &row.l2, &row.dram, unit));
        }
    }
    more(out, rows.len(), top, "kernels", style);
    out.push('\n');
}

/// Compares the best simulated choice with no change.
fn verdict(advice: &BypassAdvice, unit: Option<u64>) -> Option<String> {
    let now = &advice.warps.last()?.l2;
    let best = match advice.best? {
        Best::AsItIs => {
            let tried = advice.warps.len() + advice.sites.len().saturating_sub(1);
            return Some(format!("of {tried} choices none sends less to L2 than all loads using L1"));
        }
        Best::Warps => advice.warps.iter().find(|row| Some(row.warps) == advice.best_warps).map(|row| {
            let most = advice.warps.last().map_or(0, |last| last.warps);
            (format!("{} of {most} warps of a block use L1", row.warps), &row.l2)
        })?,
        Best::Sites => best_sites(advice).map(|row| {
            let loads = if row.sites.len() == 1 { "one load goes" } else { "some loads go" };
            (format!("{loads} past L1"), &row.l2)
        })?,
    };
    let [to, from] = [best.1, now].map(|level| caches::lookups(level.lookups, unit));
    Some(format!("least to L2 if {}: {to} for {from} ({})", best.0, change(best.1, now)))
}

/// Returns the best set of sites, if it is better than none.
fn best_sites(advice: &BypassAdvice) -> Option<&SiteChoice> {
    advice.sites.iter().find(|row| row.sites == advice.best_sites && !row.sites.is_empty())
}

/// Describes the change of the traffic to L2.
fn change(then: &LevelMetrics, now: &LevelMetrics) -> String {
    let (then, now) = (then.lookups as f64, now.lookups as f64);
    if then == now { "no change".to_owned() } else { format!("{:+.1} %", 100.0 * (then / now - 1.0)) }
}

/// Describes the equation's result and its effect.
fn equation(advice: &BypassAdvice, unit: Option<u64>) -> String {
    let Some(equation) = &advice.equation else {
        if advice.without_reuse {
            return "CUDAAdvisor's equation 1: not computed, as reuse distances were off (--reuse off);\n      \
                    loads were tried in the order of the code"
                .to_owned();
        }
        return "CUDAAdvisor's equation 1 does not apply: no block uses what it loaded again".to_owned();
    };
    let BypassEquation { warps, warps_per_block, reuse_distance, divergence_degree, blocks_per_sm, .. } = *equation;
    let tried = advice.warps.iter().find(|row| row.warps == warps).zip(advice.warps.last());
    let tried = tried.map(|(row, now)| {
        format!("; simulated: {} to L2, {}", caches::lookups(row.l2.lookups, unit), change(&row.l2, &now.l2))
    });
    format!(
        "CUDAAdvisor's equation 1 gives {warps} of {warps_per_block} warps{}\n      (reuse distance {reuse_distance:.1} elements, \
         {divergence_degree:.2} lines of {} per load, {}, {blocks_per_sm} blocks per SM)",
        tried.unwrap_or_default(),
        bytes(equation.line_bytes.into()),
        bytes(equation.l1_bytes),
    )
}

/// Returns the lines and allocations of sites, each with the number of sites; at most three.
fn places_of(profile: &Profile, kernel: u32, sites: &[u32]) -> Vec<String> {
    let mut counts: Vec<(String, u32)> = Vec::new();
    for &site in sites {
        let row = profile.sites.iter().find(|row| row.kernel == kernel && row.id == site && row.space == "global");
        let Some(row) = row else { continue };
        let touched = row.by_allocation.iter().max_by_key(|part| part.metrics.sectors).and_then(|part| part.allocation);
        let name = touched.and_then(|id| profile.allocation(id)?.name.as_deref());
        let place = match name {
            Some(name) => format!("{name} at {}", places::at(&row.file, row.line)),
            None => places::at(&row.file, row.line),
        };
        match counts.iter_mut().find(|(other, _)| *other == place) {
            Some((_, count)) => *count += 1,
            None => counts.push((place, 1)),
        }
    }
    let more = counts.len().saturating_sub(3);
    let mut texts: Vec<String> = counts
        .into_iter()
        .take(3)
        .map(|(place, count)| if count > 1 { format!("{place} ({count} instructions)") } else { place })
        .collect();
    if more > 0 {
        texts.push(format!("{more} more places"));
    }
    texts
}

fn figures(l1: &LevelMetrics, l2: &LevelMetrics, dram: &DramMetrics, unit: Option<u64>) -> String {
    let sectors = dram.read_sectors.saturating_add(dram.write_sectors);
    format!(
        "      {:>8} {:>8} {:>10} {:>12}",
        hit_rate(l1.as_l1_rate()),
        hit_rate(l2.as_l2_rate()),
        caches::lookups(l2.lookups, unit),
        bytes(sectors.saturating_mul(SECTOR_BYTES))
    )
}

/// Writes the pages touched per window of requests.
pub(crate) fn write_pages(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let mut rows: Vec<(&Kernel, &PageMetrics)> =
        profile.kernels.iter().filter_map(|kernel| Some((kernel, kernel.pages.as_ref()?))).collect();
    let Some((_, first)) = rows.first() else { return };
    let heading = format!(
        "PAGES of {} touched by an SM within {} requests",
        bytes(first.page_bytes),
        count(first.window_requests.into())
    );
    _ = writeln!(out, "{}", style.heading(&heading));
    let head = format!("  {:>9} {:>9} {:>10} {:>16}  kernel", "mean", "most", "in all", "beyond the reach");
    _ = writeln!(out, "{}", style.faint(&head));
    rows.sort_by(|one, other| other.1.mean.total_cmp(&one.1.mean).then(one.0.id.cmp(&other.0.id)));
    for (kernel, pages) in rows.iter().take(top) {
        let beyond = pages.beyond_reach.map_or("not known".to_owned(), |beyond| percent(ratio(beyond, pages.windows)));
        _ = writeln!(
            out,
            "  {:>9.1} {:>9} {:>10} {beyond:>16}  {}",
            pages.mean,
            count(pages.most),
            count(pages.distinct),
            style.strong(&names::label(profile, kernel))
        );
    }
    more(out, rows.len(), top, "kernels", style);
    out.push('\n');
}
