//! Writes the differences between ranks.

use std::fmt::Write as _;

use super::kernels::more;
use crate::rows::ranks::over_ranks;
use crate::words::style::Style;
use warpline_profile::Profile;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let Some(rows) = over_ranks(profile) else { return };
    let all = rows.present;
    if rows.kinds().iter().all(|(_, rows)| rows.is_empty()) {
        if all > 1 {
            _ = writeln!(out, "{}\n", style.heading(&format!("RANKS: all {all} did the same work")));
        }
        return;
    }
    let title = format!(
        "RANKS: where the work of {all} differs (over the ranks that have the place; * the lowest rank with it)"
    );
    _ = writeln!(out, "{}", style.heading(&title));
    for (kind, rows) in rows.kinds() {
        if rows.is_empty() {
            continue;
        }
        let head = format!(
            "  {kind:<24} {:>12} {:>10} {:>8} {:>10} {:>10} {:>8} {:>10} {:>9}",
            "ranks", "least", "*", "mean", "greatest", "*", "std. dev.", "max/mean"
        );
        _ = writeln!(out, "{}", style.faint(&head));
        for row in rows.iter().take(top) {
            _ = writeln!(out, "  {}", style.strong(&row.name));
            let ranks = if row.ranks == all { "all".to_owned() } else { format!("{} of {all}", row.ranks) };
            let figures = format!(
                "    {:<24} {ranks:>10} {:>10} {:>8} {:>10} {:>10} {:>8} {:>10} {:>9.2}",
                row.figure,
                row.text(row.min),
                row.min_rank,
                row.text(row.mean),
                row.text(row.max),
                row.max_rank,
                row.text(row.stddev),
                row.factor,
            );
            _ = writeln!(out, "{figures}");
        }
        more(out, rows.len(), top, kind, style);
    }
    out.push('\n');
}
