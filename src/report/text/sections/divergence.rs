//! Writes the memory divergence of the whole program.

use std::fmt::Write as _;

use crate::words::figures::{count, percent, ratio};
use crate::words::style::Style;
use warpline_profile::{ALL, Profile, degree, memory_divergence};

/// Columns: size of a piece, and kind of requests.
const COLUMNS: [(&str, &str); 6] =
    [("32", "load"), ("32", "store"), ("32", ALL), ("128", "load"), ("128", "store"), ("128", ALL)];

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style) {
    let all = memory_divergence(profile);
    let columns =
        COLUMNS.map(|(size, op)| all.get(op).and_then(|sizes| sizes.get(size)).map_or(&[][..], Vec::as_slice));
    if columns.iter().all(|column| column.iter().all(|&requests| requests == 0)) {
        return;
    }
    let heading =
        "MEMORY DIVERGENCE of all kernels: requests to global memory by the distinct pieces that each touches";
    _ = writeln!(out, "{}", style.heading(heading));
    let head = |texts: [&str; 6], last: &str| {
        let cells: String = texts.iter().map(|text| format!("{text:>10} ")).collect();
        format!("  {cells} {last}")
    };
    let sizes = head(["32 bytes", "", "", "128 bytes", "", ""], "");
    _ = writeln!(out, "{}", style.faint(sizes.trim_end()));
    _ = writeln!(out, "{}", style.faint(&head(["loads", "stores", "all", "loads", "stores", "all"], "pieces")));
    let requests = columns.map(|column| column.iter().fold(0u64, |sum, more| sum.saturating_add(*more)));
    let most = columns.iter().map(|column| column.len()).max().unwrap_or(0);
    for pieces in 0..most {
        let here = columns.map(|column| column.get(pieces).copied().unwrap_or(0));
        if here.iter().all(|&requests| requests == 0) {
            continue;
        }
        let mut cells = String::new();
        for (part, whole) in here.into_iter().zip(requests) {
            let text = if part == 0 { "-".to_owned() } else { percent(ratio(part, whole)) };
            _ = write!(cells, "{text:>10} ");
        }
        _ = writeln!(out, "  {cells} {pieces}");
    }
    let row = |texts: Vec<String>, last: &str| {
        let cells: String = texts.iter().map(|text| format!("{text:>10} ")).collect();
        format!("  {cells} {last}\n")
    };
    let means = columns.iter().map(|column| degree(column).map_or("-".to_owned(), |mean| format!("{mean:.2}")));
    out.push_str(&row(means.collect(), "mean (divergence degree)"));
    out.push_str(&row(requests.into_iter().map(count).collect(), "requests"));
    out.push('\n');
}
