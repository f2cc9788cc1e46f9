//! Writes divergent branches.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::kernels::more;
use crate::rows::branch_rows;
use crate::words::figures::{count, percent, ratio};
use crate::words::names;
use crate::words::places;
use crate::words::style::{Style, bar};
use warpline_profile::model::Block;
use warpline_profile::{Profile, idle_in_part};

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let executed: u64 = profile.branches.iter().map(|branch| branch.executions).sum();
    if executed == 0 {
        return;
    }
    let divergent: u64 = profile.branches.iter().map(|branch| branch.divergent).sum();
    let share = percent(ratio(divergent, executed));
    let title = format!("BRANCHES: {share} of {} executions diverge", count(executed));
    _ = writeln!(out, "{}", style.heading(&title));
    if let Some((count, divergent)) = by_warp(profile) {
        let text = format!(
            "  {} of {} pairs of a warp and a basic block are divergent as CUDAAdvisor counts ({})",
            crate::words::figures::count(divergent),
            crate::words::figures::count(count),
            percent(ratio(divergent, count))
        );
        _ = writeln!(out, "{}", style.faint(&text));
    }
    let rows = branch_rows(profile);
    for row in rows.iter().take(top) {
        let kernel = profile.kernels.iter().find(|other| other.id == row.kernel);
        let share = row.share();
        // Two branches of a line are distinguished by their columns.
        let several = rows
            .iter()
            .filter(|other| (other.kernel, other.file, other.line) == (row.kernel, row.file, row.line))
            .count()
            > 1;
        let column = if several && row.column != 0 { format!(":{}", row.column) } else { String::new() };
        let place = format!(
            "{}{column} in {}",
            places::at(row.file, row.line),
            kernel.map_or("?".to_owned(), |kernel| names::label(profile, kernel))
        );
        let quality = format!("{} {:>7} diverge", bar(share), percent(share));
        _ = writeln!(
            out,
            "  {place:<40} {} of {:>9}, {}",
            style.quality(1.0 - share, &quality),
            count(row.executions),
            row.sides()
        );
        if let Some(text) = places::source(profile, row.file, row.line) {
            _ = writeln!(out, "     {:>5} | {}", row.line, text.trim_start());
        }
    }
    more(out, rows.len(), top, "divergent branches", style);
    out.push('\n');
}

/// Returns the number of pairs of a warp and a basic block, and of the divergent ones, over all kernels; `None` if a
/// kernel lacks them.
fn by_warp(profile: &Profile) -> Option<(u64, u64)> {
    let ran = profile.kernels.iter().filter(|kernel| kernel.lane_slots.issued > 0);
    let sums = ran.map(|kernel| kernel.warp_blocks.map(|pairs| (pairs.count, pairs.divergent)));
    let sums: Option<Vec<(u64, u64)>> = sums.collect();
    let add = |sum: (u64, u64), more: &(u64, u64)| (sum.0.saturating_add(more.0), sum.1.saturating_add(more.1));
    sums.map(|sums| sums.iter().fold((0, 0), add)).filter(|sum| sum.0 > 0)
}

/// Writes the cost of idle lanes, and the branches that cause them.
pub(crate) fn write_idle(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let sum = |pick: fn(&warpline_profile::model::LaneSlots) -> u64| {
        profile.kernels.iter().fold(0u64, |sum, kernel| sum.saturating_add(pick(&kernel.lane_slots)))
    };
    let (issued, active, partial) =
        (sum(|slots| slots.issued), sum(|slots| slots.active), sum(|slots| slots.lost_partial));
    if partial == 0 {
        return;
    }
    let title = format!(
        "IDLE LANES: {} of all lane slots of issued instructions; at most {} by divergence",
        percent(ratio(issued.saturating_sub(active), issued)),
        percent(ratio(partial, issued))
    );
    _ = writeln!(out, "{}", style.heading(&title));
    _ = writeln!(
        out,
        "{}",
        style.faint("      lost   in warps   lanes run  where blocks begin that part of a warp ran")
    );
    let mut lines: BTreeMap<(&str, u32), (u64, u64, u64, u64)> = BTreeMap::new();
    for block in profile.blocks.iter().filter(|block: &&Block| block.partial > 0) {
        let (lost, partial, executions, lanes) = lines.entry((&block.file, block.line)).or_default();
        let most = idle_in_part(block.lanes_lost, block.partial);
        *lost = lost.saturating_add(most.saturating_mul(block.instructions));
        *partial = partial.saturating_add(block.partial);
        *executions = executions.saturating_add(block.executions);
        *lanes = lanes.saturating_add(block.lanes);
    }
    let mut rows: Vec<_> = lines.into_iter().collect();
    rows.sort_by_key(|(place, (lost, ..))| (std::cmp::Reverse(*lost), *place));
    for ((file, line), (lost, partial, executions, lanes)) in rows.iter().take(top) {
        _ = writeln!(
            out,
            "  {:>8} {:>10} {:>11.1}  {}",
            percent(ratio(*lost, issued)),
            percent(ratio(*partial, *executions)),
            ratio(*lanes, *executions),
            places::at(file, *line)
        );
        if let Some(text) = places::source(profile, file, *line) {
            _ = writeln!(out, "     {line:>5} | {}", text.trim_start());
        }
    }
    more(out, rows.len(), top, "lines", style);
    out.push('\n');
}
