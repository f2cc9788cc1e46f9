//! Writes reuse distances.

use std::fmt::Write as _;

use super::kernels::more;
use crate::rows::reuse::{Row, by_kernel, by_line, heading};
use crate::words::figures::{count, percent, ratio};
use crate::words::places;
use crate::words::style::Style;
use warpline_profile::Profile;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let kernels = by_kernel(profile);
    if kernels.is_empty() {
        return;
    }
    _ = writeln!(out, "{}", style.heading(&heading(profile)));
    _ = writeln!(out, "{}", style.faint(&head("kernel")));
    for (name, row) in kernels.iter().take(top) {
        _ = writeln!(out, "{}{}", figures(row), style.strong(name));
    }
    more(out, kernels.len(), top, "kernels", style);
    let lines = by_line(profile);
    _ = writeln!(out, "{}", style.faint(&head("line, by reuse beyond L1")));
    for ((file, line), row) in lines.iter().take(top) {
        _ = writeln!(out, "{}{}", figures(row), places::at(file, *line));
    }
    more(out, lines.len(), top, "lines", style);
    out.push('\n');
}

fn head(what: &str) -> String {
    format!(
        "  {:>10} {:>9} {:>9} {:>9} {:>10} {:>10} {:>10}  {what}",
        "uses", "first", "half in", "90 % in", "beyond L1", "beyond L2", "used once"
    )
}

fn figures(row: &Row) -> String {
    let within = |share| row.within(share).map_or("-".to_owned(), count);
    format!(
        "  {:>10} {:>9} {:>9} {:>9} {:>10} {:>10} {:>10}  ",
        count(row.uses),
        percent(ratio(row.first, row.uses)),
        within(0.5),
        within(0.9),
        percent(ratio(row.beyond[0], row.uses)),
        percent(ratio(row.beyond[1], row.uses)),
        percent(ratio(row.streaming, row.elements)),
    )
}
