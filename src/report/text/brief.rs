//! Writes one line per kernel for the short report.

use std::fmt::Write as _;

use super::sections::limiter;
use super::sections::more;
use crate::words::figures::{count, hit_rate, memory, percent, ratio, seconds};
use crate::words::names;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::Kernel;

/// Width before the name, and of the share, which narrow terminals omit.
const BEFORE_NAME: usize = 73;
const SHARE: usize = 8;
/// Minimum width for the share column.
const WIDE: usize = 92;

pub(super) fn write(out: &mut String, profile: &Profile, style: Style, top: usize, width: usize) {
    if profile.kernels.is_empty() {
        return;
    }
    let time = |kernel: &Kernel| kernel.estimates.first().map_or(0.0, |estimate| estimate.seconds);
    let all: f64 = profile.kernels.iter().map(time).sum();
    let mut rows: Vec<&Kernel> = profile.kernels.iter().collect();
    let sectors = |kernel: &Kernel| memory(&kernel.metrics).sectors;
    rows.sort_by(|one, other| {
        time(other).total_cmp(&time(one)).then_with(|| (sectors(other), one.id).cmp(&(sectors(one), other.id)))
    });
    let title = if all > 0.0 { "KERNELS by estimated time" } else { "KERNELS by memory traffic" };
    _ = writeln!(out, "{}", style.heading(title));
    let wide = width >= WIDE;
    let share_column = |text: &str| if wide { format!("{text:>7} ") } else { String::new() };
    let room = (width + if wide { 0 } else { SHARE }).saturating_sub(BEFORE_NAME).max(12);
    let head = format!(
        "  {}{:>8} {:<17} {:>9} {:>7} {:>7} {:>8}  {}",
        share_column("share"),
        "time",
        "limited by",
        "coalesced",
        "L1 hit",
        "L2 hit",
        "launches",
        "kernel"
    );
    _ = writeln!(out, "{}", style.faint(&head));
    for kernel in rows.iter().take(top) {
        let sum = memory(&kernel.metrics);
        let estimate = kernel.estimates.first();
        let coalesced = if sum.sectors == 0 { "-".to_owned() } else { percent(ratio(sum.ideal_sectors, sum.sectors)) };
        _ = writeln!(
            out,
            "  {}{:>8} {:<17} {:>9} {:>7} {:>7} {:>8}  {}",
            share_column(
                &estimate.filter(|_| all > 0.0).map_or("-".to_owned(), |estimate| percent(estimate.seconds / all))
            ),
            estimate.map_or("-".to_owned(), |estimate| seconds(estimate.seconds)),
            estimate.map_or("-".to_owned(), limiter),
            coalesced,
            hit_rate(sum.l1_hit_rate()),
            hit_rate(sum.l2_hit_rate()),
            count(kernel.recorded_launches()),
            style.strong(&names::label_within(profile, kernel, room)),
        );
    }
    more(out, rows.len(), top, "kernels", style);
    out.push('\n');
}
