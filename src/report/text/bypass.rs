//! Who should use level 1, and how many pages are touched.

use std::fmt::Write as _;

use super::figures::{bytes, count, percent, ratio};
use super::kernels::more;
use super::style::Style;
use super::{caches, names, places};
use crate::geometry::SECTOR_BYTES;
use crate::profile::Profile;
use crate::profile::model::{BypassAdvice, DramMetrics, Kernel, LevelMetrics, PageMetrics};

pub(super) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let rows: Vec<(&Kernel, &BypassAdvice)> =
        profile.kernels.iter().filter_map(|kernel| Some((kernel, kernel.bypass.as_ref()?))).collect();
    if rows.is_empty() {
        return;
    }
    let model = profile.run.models.first().map_or("", String::as_str);
    let unit = profile.run.lookup_bytes.get(model).map(|unit| unit.l2);
    let heading = format!("BYPASSING level 1 of {model}: loads of global memory that go past it, simulated");
    _ = writeln!(out, "{}", style.heading(&heading));
    for (kernel, advice) in rows.iter().take(top) {
        _ = writeln!(out, "  {}", style.strong(&names::label(profile, kernel)));
        match &advice.equation {
            Some(equation) => {
                _ = writeln!(
                    out,
                    "      CUDAAdvisor's equation 1: {} of {} warps should use level 1 (reuse distance {:.1} elements, {:.2} \
                     lines\n      of {} per load, {}, {} blocks per SM)",
                    equation.warps,
                    equation.warps_per_block,
                    equation.reuse_distance,
                    equation.divergence_degree,
                    bytes(equation.line_bytes.into()),
                    bytes(equation.l1_bytes),
                    equation.blocks_per_sm
                );
            }
            None => {
                _ = writeln!(out, "      CUDAAdvisor's equation 1 says nothing: no block uses what it loaded again")
            }
        }
        if advice.warps.is_empty() {
            _ = writeln!(out, "      the model does not cache loads of global memory in level 1");
            continue;
        }
        let head = format!("      {:>8} {:>8} {:>10} {:>12}  using level 1", "L1 hits", "L2 hits", "to L2", "DRAM");
        _ = writeln!(out, "{}", style.faint(&head));
        for row in &advice.warps {
            let mark = if Some(row.warps) == advice.best_warps { ", least to L2" } else { "" };
            let all = advice.warps.last().is_some_and(|last| last.warps == row.warps);
            let text = format!("{}{} warps of a block{mark}", if all { "all " } else { "" }, row.warps);
            _ = writeln!(out, "{}  {text}", figures(&row.l1, &row.l2, &row.dram, unit));
        }
        let best = advice.sites.iter().find(|row| row.sites == advice.best_sites && !row.sites.is_empty());
        match best {
            Some(row) => {
                _ = writeln!(out, "{}  all loads but these, least to L2:", figures(&row.l1, &row.l2, &row.dram, unit));
                let loads = places_of(profile, kernel.id, &row.sites).join(", ");
                _ = writeln!(out, "      {:>43}  {loads}", "");
            }
            None if advice.sites.len() > 1 => {
                let text =
                    format!("      (no better: single loads past level 1, {} sets tried)", advice.sites.len() - 1);
                _ = writeln!(out, "{}", style.faint(&text));
            }
            None => {}
        }
    }
    more(out, rows.len(), top, "kernels", style);
    out.push('\n');
}

/// Lines and allocations of sites, each with the number of sites there; three at most.
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
    let rate = |hits, lookups| if lookups == 0 { "-".to_owned() } else { percent(ratio(hits, lookups)) };
    let sectors = dram.read_sectors.saturating_add(dram.write_sectors);
    format!(
        "      {:>8} {:>8} {:>10} {:>12}",
        rate(l1.load_hits, l1.load_lookups),
        rate(l2.hits, l2.lookups),
        caches::lookups(l2.lookups, unit),
        bytes(sectors.saturating_mul(SECTOR_BYTES))
    )
}

/// Pages touched per window of requests.
pub(super) fn write_pages(out: &mut String, profile: &Profile, style: Style, top: usize) {
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
