//! Writes estimates over all launches, if a budget recorded only some.

use std::fmt::Write as _;

use super::kernels::more;
use crate::rows::whole::lines;
use crate::words::estimates::{share, sum, together};
use crate::words::figures::count;
use crate::words::names;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::WholeRun;
use warpline_simulator::geometry::SECTOR_BYTES;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let Some(whole) = &profile.run.whole_run else { return };
    let title = format!(
        "WHOLE RUN, estimated from {} of {} launches (each bound holds in {} of 100 draws of launches; L2 and DRAM as the recorded ones \
         leave them)",
        whole.recorded_launches,
        whole.launches,
        (whole.confidence * 100.0).round()
    );
    _ = writeln!(out, "{}", style.heading(&title));
    let head = format!(
        "  {:>17} {:>17} {:>17} {:>15} {:>15} {:>17}  {}",
        "recorded", "requests", "traffic", "L1 hit", "L2 hit", "DRAM", "kernel"
    );
    _ = writeln!(out, "{}", style.faint(&head));
    let mut kernels: Vec<(String, &WholeRun)> = profile
        .kernels
        .iter()
        .filter_map(|kernel| Some((names::label(profile, kernel), kernel.whole_run.as_ref()?)))
        .collect();
    let sectors = |whole: &WholeRun| whole.total("global.sectors").unwrap_or_default().estimate;
    kernels.sort_by(|one, other| sectors(other.1).total_cmp(&sectors(one.1)));
    let rows = std::iter::once(("all".to_owned(), whole)).chain(kernels.iter().cloned());
    for (name, whole) in rows.take(top.saturating_add(1)) {
        let ratio = |name: &str| whole.ratios.get(name).map_or("-".to_owned(), share);
        let amount = |figures: &[&str], scale: u64| total(whole, figures, scale);
        _ = writeln!(
            out,
            "  {:>17} {:>17} {:>17} {:>15} {:>15} {:>17}  {}",
            format!("{} of {}", count(whole.recorded_launches), count(whole.launches)),
            amount(&["global.requests"], 1),
            amount(&["global.sectors"], SECTOR_BYTES),
            ratio("global.l1.load_hit_rate"),
            ratio("global.l2.hit_rate"),
            amount(&["global.dram.read_sectors", "global.dram.write_sectors"], SECTOR_BYTES),
            style.strong(&name)
        );
    }
    more(out, kernels.len(), top, "kernels", style);
    let lines = lines(profile);
    if !lines.is_empty() {
        let head = format!("  {:>17} {:>17} {:>17}  {}", "requests", "traffic", "passes", "line");
        _ = writeln!(out, "{}", style.faint(&head));
    }
    for line in lines.iter().take(top) {
        let [requests, traffic, passes] = &line.figures;
        _ = writeln!(
            out,
            "  {requests:>17} {traffic:>17} {passes:>17}  {} in {}",
            style.strong(&line.place),
            line.kernel
        );
    }
    more(out, lines.len(), top, "lines", style);
    out.push('\n');
}

/// Formats a sum of totals with its relative bound.
fn total(whole: &WholeRun, figures: &[&str], scale: u64) -> String {
    together(figures.iter().filter_map(|name| whole.total(name))).map_or("-".to_owned(), |all| sum(&all, scale))
}
