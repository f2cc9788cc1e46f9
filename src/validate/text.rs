//! Text output of validations.

use std::fmt::Write as _;

use super::comparison::{Comparison, Summary, summarize};
use super::outcome::{Level, Validation};

/// Returns the text of chases and figures.
pub fn validation_text(validation: &Validation) -> String {
    let mut text = format!("CACHES OF {} BY POINTER CHASES ({})\n\n", validation.model, place(&validation.device));
    _ = writeln!(
        text,
        "{:>11} {:>7} {:>9}  {:<31} {:<31}",
        "array", "stride", "loads", "misses of L1: form, simulated", "misses of L2: form, simulated"
    );
    for case in &validation.cases {
        let chase = &case.chase;
        _ = writeln!(
            text,
            "{:>11} {:>7} {:>9}  {:<31} {:<31} {}",
            chase.bytes,
            chase.stride,
            chase.loads(),
            if chase.past_level_1 { past(&case.l1) } else { misses(&case.l1) },
            misses(&case.l2),
            case.what
        );
    }
    let wrong = validation.wrong();
    let all = validation.cases.len();
    _ = match wrong {
        0 => writeln!(text, "\nall {all} chases miss as their closed forms predict"),
        _ => writeln!(text, "\n{wrong} of {all} chases do NOT miss as their closed forms predict (marked !)"),
    };
    if !validation.figures.is_empty() {
        let from = if validation.measured { "measured on this GPU" } else { "from the curves of the model's file" };
        _ = writeln!(text, "\n{:<44} {:>14} {:>14}  ({from})", "FIGURE", "model", "measured");
        for row in &validation.figures {
            let number = |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.0}"));
            _ = writeln!(text, "{:<44} {:>14} {:>14}  {}", row.what, number(row.model), number(row.measured), row.unit);
        }
    }
    for note in &validation.notes {
        _ = writeln!(text, "\nnote: {note}");
    }
    text
}

fn place(device: &str) -> &'static str {
    if device == "gpu" { "run on a GPU" } else { "run on the CPU device" }
}

/// Returns the figures of loads that bypass a level: none, or an unexpected number.
fn past(level: &Level) -> String {
    if level.closed_form.is_none() && level.simulated == 0 && level.counted.is_none_or(|misses| misses == 0.0) {
        "past L1".to_owned()
    } else {
        misses(level)
    }
}

fn misses(level: &Level) -> String {
    let form = level.closed_form.map_or("-".to_owned(), |misses| misses.to_string());
    let mark = match level.closed_form {
        Some(misses) if misses != level.simulated => " !",
        _ => "",
    };
    let counted = level.counted.map_or_else(String::new, |counted| format!(", counted {counted:.0}"));
    format!("{form}, {}{mark}{counted}", level.simulated)
}

/// Returns the text of a comparison of profiles with counters.
pub fn comparison_text(programs: &[(String, Comparison)]) -> String {
    let mut text = String::from("FIGURES AGAINST THE COUNTERS OF NSIGHT COMPUTE\n");
    for (program, comparison) in programs {
        _ = writeln!(text, "\n{program}");
        for kernel in &comparison.kernels {
            let launches = if kernel.launches == 1 { "launch" } else { "launches" };
            _ = writeln!(text, "  {}, {} {launches}", kernel.kernel, kernel.launches);
            for figure in &kernel.figures {
                let unit = unit(figure.points);
                _ = writeln!(
                    text,
                    "    {:<34} {:>16} {:>16} {:>+10.3} {unit}",
                    figure.metric,
                    short(figure.ours),
                    short(figure.counted),
                    figure.error
                );
            }
        }
        for note in &comparison.notes {
            _ = writeln!(text, "  note: {note}");
        }
    }
    let comparisons: Vec<Comparison> = programs.iter().map(|(_, comparison)| comparison.clone()).collect();
    let summary = summarize(&comparisons);
    if !summary.is_empty() {
        _ = writeln!(
            text,
            "\n{:<36} {:>7} {:>10} {:>10} {:>10}  worst kernel",
            "ERRORS, WITHOUT SIGN", "kernels", "median", "mean", "worst"
        );
    }
    for Summary { metric, kernels, mean, median, worst, worst_kernel, points } in &summary {
        let unit = unit(*points);
        _ = writeln!(
            text,
            "{metric:<36} {kernels:>7} {median:>10.3} {mean:>10.3} {worst:>10.3}  {unit}, {worst_kernel}"
        );
    }
    text
}

fn unit(points: bool) -> &'static str {
    if points { "points" } else { "%" }
}

/// Formats counts as integers, and rates and means with three decimal places.
fn short(number: f64) -> String {
    if number.fract() == 0.0 { format!("{number:.0}") } else { format!("{number:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::chase::Chase;
    use crate::validate::outcome::CaseRow;

    #[test]
    fn loads_past_level_1_do_not_look_like_hits() {
        let case = |past_level_1, l1| CaseRow {
            what: "of a test".to_owned(),
            chase: Chase::passes(4096, 128, 2, past_level_1),
            l1,
            l2: Level { closed_form: Some(32), simulated: 32, counted: None },
        };
        let none = Level::default();
        let shown = Validation {
            device: "cpu".to_owned(),
            model: "mine".to_owned(),
            cases: vec![
                case(true, none),
                case(true, Level { simulated: 7, ..none }),
                case(true, Level { counted: Some(5.0), ..none }),
                case(false, Level { simulated: 7, ..none }),
            ],
            figures: Vec::new(),
            curves: Vec::new(),
            measured: false,
            notes: Vec::new(),
        };
        let shown = validation_text(&shown);
        let rows: Vec<&str> = shown.lines().filter(|line| line.ends_with("of a test")).collect();
        for (row, want) in rows.iter().zip(["  past L1  ", "  -, 7  ", "  -, 0, counted 5  ", "  -, 7  "]) {
            assert!(row.contains(want), "{row}");
        }
    }
}
