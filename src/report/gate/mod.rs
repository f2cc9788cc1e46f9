//! Writes verdicts of a gate for pull requests, people, code scanning, and services that chart figures over commits.

mod benchmark;
mod markdown;
mod text;

pub use benchmark::benchmark;
pub use markdown::markdown;
pub use text::text;

use crate::formats::{Scanned, of_findings};
use warpline_comparison::gate::{Gate, Judged, Verdict};
use warpline_profile::model::Finding;

/// Returns the document, indented.
pub fn json(gate: &Gate) -> String {
    let mut text = serde_json::to_string_pretty(gate).expect("a gate's document has string keys");
    text.push('\n');
    text
}

/// Returns the new findings as SARIF 2.1.0. Paths of files below `root` are relative to it.
pub fn sarif(judged: &[Judged], root: Option<&str>) -> String {
    let scanned: Vec<Scanned<'_>> =
        judged.iter().map(|one| Scanned { profile: &one.after, findings: new(one) }).collect();
    of_findings(&scanned, root)
}

/// Returns the findings that the baseline does not have. Without a baseline, no finding is new.
fn new(judged: &Judged) -> &[Finding] {
    match (&judged.before, &judged.program.comparison) {
        (Some(_), Some(diff)) => &diff.findings.new,
        _ => &[],
    }
}

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "all limits hold",
        Verdict::Broken => "limits are broken",
        Verdict::NoBaseline => "no baseline",
        Verdict::Unlike => "no baseline that was made alike",
    }
}

/// Describes the baseline of a program.
fn baseline(judged: &Judged) -> String {
    let program = &judged.program;
    let on = |branch: &Option<String>| branch.as_ref().map_or(String::new(), |branch| format!(" of {branch}"));
    let short = |commit: &Option<String>| {
        commit
            .as_deref()
            .map_or("a recording without commit".to_owned(), |commit| commit.get(..10).unwrap_or(commit).to_owned())
    };
    match &program.baseline {
        Some(baseline) => format!("{}{}: {}", short(&baseline.commit), on(&baseline.branch), baseline.why),
        None => match program.passed.first() {
            None => "nothing is recorded there yet; limits of worst values alone were checked".to_owned(),
            Some(passed) => format!("{} was not made alike", short(&passed.commit)),
        },
    }
}

/// Describes the differences of the nearest recording that was unsuitable.
fn unlike(judged: &Judged) -> Vec<String> {
    let Some(passed) = judged.program.passed.first() else { return Vec::new() };
    let side = |text: &str| if text.is_empty() { "not reported".to_owned() } else { text.to_owned() };
    let each = passed.differences.iter().map(|difference| {
        format!("{}: {} in the baseline, {} now", difference.what, side(&difference.before), side(&difference.after))
    });
    each.collect()
}
