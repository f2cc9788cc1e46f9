//! Writes kernels by traffic.

use std::fmt::Write as _;

use crate::words::figures::{bytes, count, memory, percent, ratio};
use crate::words::names;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::{Kernel, Metrics};
use warpline_simulator::geometry::SECTOR_BYTES;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    if profile.kernels.is_empty() {
        return;
    }
    let mut rows: Vec<(&Kernel, Metrics)> =
        profile.kernels.iter().map(|kernel| (kernel, memory(&kernel.metrics))).collect();
    rows.sort_by_key(|(kernel, sum)| (std::cmp::Reverse(sum.sectors), kernel.id));
    let total: u64 = rows.iter().map(|(_, sum)| sum.sectors).sum();
    _ = writeln!(out, "{}", style.heading("KERNELS by memory traffic (sectors of 32 bytes, before any cache; bytes that several lanes of a warp use count for each)"));
    let head = format!(
        "  {:>7} {:>10} {:>10} {:>9} {:>9} {:>9} {:>7} {:>10} {:>8}  {}",
        "share", "traffic", "useful", "requests", "lanes/req", "sect./req", "ideal", "efficiency", "launches", "kernel"
    );
    _ = writeln!(out, "{}", style.faint(&head));
    for (kernel, sum) in rows.iter().take(top) {
        let efficiency = ratio(sum.ideal_sectors, sum.sectors);
        let (rate, efficiency_text) = if sum.sectors == 0 {
            (1.0, format!("{:>10}", "-"))
        } else {
            (efficiency, format!("{:>10}", percent(efficiency)))
        };
        _ = writeln!(
            out,
            "  {:>7} {:>10} {:>10} {:>9} {:>9.1} {:>9.2} {:>7.2} {} {:>8}  {}",
            percent(ratio(sum.sectors, total)),
            bytes(sum.sectors.saturating_mul(SECTOR_BYTES)),
            bytes(sum.bytes),
            count(sum.requests),
            ratio(sum.lanes, sum.requests),
            ratio(sum.sectors, sum.requests),
            ratio(sum.ideal_sectors, sum.requests),
            style.quality(rate, &efficiency_text),
            count(kernel.recorded_launches()),
            style.strong(&names::label(profile, kernel)),
        );
        let early = profile.run.missing.iter().filter(|row| row.ended_early() && row.kernel == Some(kernel.id));
        match early.map(|row| row.launches).sum::<u64>() {
            0 => {}
            1 => {
                _ = writeln!(out, "    {}", style.warning("1 launch ended early: the row is what was done until then"))
            }
            sum => {
                let text = format!("{sum} launches ended early: the row is what was done until then");
                _ = writeln!(out, "    {}", style.warning(&text));
            }
        }
    }
    more(out, rows.len(), top, "kernels", style);
    for (kernel, _) in rows.iter().take(top) {
        let whole = names::plain_name(&kernel.name);
        if names::is_long(whole) {
            _ = writeln!(out, "{}", style.faint(&format!("  {} is {whole}", names::label(profile, kernel))));
        }
    }
    out.push('\n');
}

/// Writes the number of rows that are not shown; `what` is their plural noun.
pub(crate) fn more(out: &mut String, all: usize, top: usize, what: &str, style: Style) {
    if all > top {
        let rest = all - top;
        let what = match rest {
            1 => what
                .strip_suffix("ches")
                .map_or_else(|| what.trim_end_matches('s').to_owned(), |stem| format!("{stem}ch")),
            _ => what.to_owned(),
        };
        _ = writeln!(out, "{}", style.faint(&format!("  … and {rest} more {what} (--top {all} shows all)")));
    }
}
