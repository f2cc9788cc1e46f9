//! Writes the values that accesses transfer, by line and by allocation.

use std::fmt::Write as _;

use super::kernels::more;
use crate::text::name_of;
use crate::words::figures::{count, percent, ratio};
use crate::words::style::Style;
use crate::words::{places, values};
use warpline_profile::Profile;
use warpline_profile::model::{AccessValues, AllocationValues};

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    if profile.access_values.is_empty() {
        return;
    }
    _ = writeln!(out, "{}", style.heading("VALUES of accesses, those that change nothing first"));
    let head = format!("  {:>10} {:>9} {:>9} {:>9}  {:<24} access", "lanes", "unchanged", "uniform", "zeros", "values");
    _ = writeln!(out, "{}", style.faint(&head));
    let mut rows: Vec<&AccessValues> = profile.access_values.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.silent_lanes, row.lanes)));
    for row in rows.iter().take(top) {
        _ = writeln!(out, "{}", access(profile, row));
    }
    more(out, rows.len(), top, "accesses", style);
    let head = format!("  {:>10} {:>9} {:>9}  {:<24} allocation", "values", "zeros", "0 blocks", "values");
    _ = writeln!(out, "{}", style.faint(&head));
    let mut rows: Vec<&AllocationValues> = profile.allocation_values.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.values.count));
    for row in rows.iter().take(top) {
        _ = writeln!(out, "{}", allocation(profile, row));
    }
    more(out, rows.len(), top, "allocations", style);
    out.push('\n');
}

fn access(profile: &Profile, row: &AccessValues) -> String {
    let memory = row.allocation.and_then(|id| profile.allocation(id)).map(name_of);
    let memory = memory.or_else(|| row.variable.clone()).unwrap_or_else(|| row.space.clone());
    let unchanged = if row.op == "load" { "-".to_owned() } else { percent(ratio(row.silent_lanes, row.lanes)) };
    format!(
        "  {:>10} {unchanged:>9} {:>9} {:>9}  {:<24} {} {memory} {}",
        count(row.lanes),
        percent(ratio(row.uniform_requests, row.requests)),
        percent(ratio(row.values.zeros, row.values.count)),
        values::summary(&row.values),
        row.op,
        places::at(&row.frame.file, row.frame.line)
    )
}

fn allocation(profile: &Profile, row: &AllocationValues) -> String {
    format!(
        "  {:>10} {:>9} {:>9}  {:<24} {}",
        count(row.values.count),
        percent(ratio(row.values.zeros, row.values.count)),
        percent(ratio(row.zero_sectors, row.sectors)),
        values::summary(&row.values),
        profile.allocation(row.allocation).map_or_else(|| "unknown".to_owned(), name_of)
    )
}
