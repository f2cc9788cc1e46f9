//! Branches whose lanes part.

use std::fmt::Write as _;

use super::figures::{count, percent, ratio};
use super::kernels::more;
use super::places;
use super::style::{Style, bar};
use crate::profile::Profile;
use crate::profile::model::Branch;

pub(super) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let executed: u64 = profile.branches.iter().map(|branch| branch.executions).sum();
    if executed == 0 {
        return;
    }
    let divergent: u64 = profile.branches.iter().map(|branch| branch.divergent).sum();
    let share = percent(ratio(divergent, executed));
    let title = format!("BRANCHES: {share} of {} executions diverge", count(executed));
    _ = writeln!(out, "{}", style.heading(&title));
    let mut rows: Vec<&Branch> = profile.branches.iter().filter(|branch| branch.divergent > 0).collect();
    rows.sort_by_key(|branch| (std::cmp::Reverse(branch.divergent), branch.kernel, branch.line, branch.column));
    for branch in rows.iter().take(top) {
        let kernel = profile.kernels.iter().find(|kernel| kernel.id == branch.kernel);
        let share = ratio(branch.divergent, branch.executions);
        let lanes: u64 = branch.lanes.iter().sum();
        let sides: Vec<String> = branch.lanes.iter().take(6).map(|&side| percent(ratio(side, lanes))).collect();
        let place = format!(
            "{} in {}",
            places::at(&branch.file, branch.line),
            kernel.map_or("?", |kernel| places::plain_name(&kernel.name))
        );
        let quality = format!("{} {:>7} diverge", bar(share), percent(share));
        _ = writeln!(
            out,
            "  {place:<40} {} of {:>9}, lanes {}",
            style.quality(1.0 - share, &quality),
            count(branch.executions),
            sides.join(" / ")
        );
        if let Some(text) = places::source(profile, &branch.file, branch.line) {
            _ = writeln!(out, "     {:>5} | {}", branch.line, text.trim_start());
        }
    }
    more(out, rows.len(), top, "divergent branches", style);
    out.push('\n');
}
