//! Writes the errors of elements that the run rounded to a smaller type.

use std::fmt::Write as _;

use super::kernels::more;
use crate::text::name_of;
use crate::words::figures::count;
use crate::words::places;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::{
    ComparedResult, RoundedAllocation, RoundedElement, RoundedWrites, RoundingErrors, user_frame,
};

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    if profile.rounded_allocations.is_empty() {
        return;
    }
    _ = writeln!(out, "{}", style.heading("ROUNDED ELEMENTS (--what-if-type), relative errors"));
    let head = format!(
        "  {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}  allocation and what wrote it",
        "elements", "inexact", "largest", "mean", "overflow", "underflow"
    );
    _ = writeln!(out, "{}", style.faint(&head));
    for row in &profile.rounded_allocations {
        allocation(out, profile, row, style, top);
    }
    out.push('\n');
    results(out, profile, style, top);
}

fn results(out: &mut String, profile: &Profile, style: Style, top: usize) {
    if profile.compared_results.is_empty() {
        return;
    }
    let heading = "RESULTS copied to the host, compared with a run without rounding";
    _ = writeln!(out, "{}", style.heading(heading));
    let head = format!(
        "  {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}  copies",
        "elements", "different", "largest", "mean", "not finite", "from 0"
    );
    _ = writeln!(out, "{}", style.faint(&head));
    let mut rows: Vec<&ComparedResult> = profile.compared_results.iter().collect();
    rows.sort_by(|one, other| other.largest_difference.total_cmp(&one.largest_difference));
    for row in rows.iter().take(top) {
        let place = user_frame(&row.path).map_or_else(String::new, |frame| places::at(&frame.file, frame.line));
        _ = writeln!(
            out,
            "  {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}  {} of {} ({}) {place}",
            count(row.elements),
            count(row.different),
            error(row.largest_difference),
            error(row.mean_difference),
            count(row.not_finite),
            count(row.from_zero),
            count(row.copies),
            profile.allocation(row.allocation).map_or_else(|| "unknown".to_owned(), name_of),
            row.element,
        );
        if let Some(worst) = &row.worst {
            _ = writeln!(out, "    largest difference: {}", element(worst));
        }
    }
    more(out, rows.len(), top, "copies", style);
    out.push('\n');
}

fn allocation(out: &mut String, profile: &Profile, row: &RoundedAllocation, style: Style, top: usize) {
    let name = profile.allocation(row.allocation).map_or_else(|| "unknown".to_owned(), name_of);
    let types = match (row.from.as_str(), row.to.as_str()) {
        ("", _) | (_, "") => "not rounded".to_owned(),
        (from, to) => format!("{from} as {to}"),
    };
    _ = writeln!(out, "{}", style.strong(&format!("{}  {name} ({types})", figures(&row.errors))));
    for writes in row.writes.iter().take(top) {
        _ = writeln!(out, "{}    {}", figures(&writes.errors), writer(profile, writes));
    }
    more(out, row.writes.len(), top, "writers", style);
    for (what, example) in [
        ("largest error", &row.errors.worst),
        ("first overflow", &row.errors.first_overflow),
        ("first underflow", &row.errors.first_underflow),
    ] {
        if let Some(example) = example {
            _ = writeln!(out, "    {what}: {}", element(example));
        }
    }
    for other in row.other_accesses.iter().take(top) {
        let element = if other.element.is_empty() { "other elements" } else { other.element.as_str() };
        let place = places::at(&other.frame.file, other.frame.line);
        _ = writeln!(out, "    not rounded: {} of {element} {place}", other.op);
    }
}

fn figures(errors: &RoundingErrors) -> String {
    format!(
        "  {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}",
        count(errors.elements),
        count(errors.inexact),
        error(errors.largest_error),
        error(errors.mean_error),
        count(errors.overflows),
        count(errors.zeros.saturating_add(errors.subnormals))
    )
}

fn error(error: f64) -> String {
    if error == 0.0 { "0".to_owned() } else { format!("{error:.2e}") }
}

fn writer(profile: &Profile, row: &RoundedWrites) -> String {
    let kernel = || {
        let name = row.kernel.and_then(|id| profile.kernels.iter().find(|kernel| kernel.id == id));
        name.map_or("a kernel", |kernel| kernel.name.split('(').next().unwrap_or(&kernel.name))
    };
    match row.writer.as_str() {
        "store" => format!("{} {}", kernel(), places::at(&row.frame.file, row.frame.line)),
        "kernel" => format!("{}, stores without hooks", kernel()),
        "host" => "the host, or initial values".to_owned(),
        writer => {
            let place = user_frame(&row.path).map(|frame| places::at(&frame.file, frame.line));
            place.map_or_else(|| writer.to_owned(), |place| format!("{writer} {place}"))
        }
    }
}

fn element(example: &RoundedElement) -> String {
    let by = example.launch.map_or_else(String::new, |launch| format!(" in launch {launch}"));
    let value = match example.value {
        value if value == 0.0 || (1e-4..1e7).contains(&value.abs()) => format!("{value}"),
        value => format!("{value:e}"),
    };
    format!("element {} with value {value}{by}", example.element)
}
