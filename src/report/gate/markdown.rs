//! Writes verdicts for a pull request: short if all limits hold, with the changes in a collapsed section.

use std::fmt::Write as _;

use super::{baseline, unlike, words};
use crate::DiffOptions;
use crate::comparison;
use crate::comparison::shown::broken;
use crate::markdown::{code, escaped};
use warpline_comparison::gate::{Judged, Verdict};

/// Maximum length. Services truncate longer comments: GitHub at 65 536 characters, its job summaries at 1 MiB.
const MOST: usize = 60_000;

/// Returns the verdicts.
pub fn markdown(judged: &[Judged], options: &DiffOptions) -> String {
    let count = |verdict: Verdict| judged.iter().filter(|one| one.program.verdict == verdict).count();
    let (broken, unlike) = (count(Verdict::Broken), count(Verdict::Unlike));
    let head = match (broken, unlike) {
        (0, 0) if count(Verdict::NoBaseline) > 0 => ":warning: Warpline: no baseline",
        (0, 0) => ":white_check_mark: Warpline: all limits hold",
        (0, _) => ":warning: Warpline: no baseline that was made alike",
        _ => ":x: Warpline: limits are broken",
    };
    let mut out = format!("## {head}\n\n| program | GPU model | verdict | baseline |\n|---|---|---|---|\n");
    for one in judged {
        let program = &one.program;
        _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            escaped(&program.name),
            escaped(&program.models.join(", ")),
            words(program.verdict),
            escaped(&baseline(one))
        );
    }
    out.push('\n');
    for one in judged {
        section(&mut out, one);
    }
    for one in judged {
        let Some((before, diff)) = one.before.as_ref().zip(one.program.comparison.as_ref()) else { continue };
        if diff.is_empty() {
            continue;
        }
        let page = comparison::markdown(diff, before, &one.after, options);
        let name = escaped(&one.program.name);
        if out.len() + page.len() > MOST {
            _ = writeln!(out, "What changed in {name} is too long to be shown here: `warpline diff` shows it.\n");
            continue;
        }
        _ = writeln!(out, "<details><summary>What changed in {name}</summary>\n\n{page}\n</details>\n");
    }
    out
}

/// Writes the data of a program that a reviewer needs.
fn section(out: &mut String, one: &Judged) {
    let program = &one.program;
    let differences = unlike(one);
    let limits = program.comparison.as_ref().and_then(|diff| diff.limits.as_ref());
    let rows = limits.map_or(&[][..], |limits| &limits.broken);
    let unused = limits.map_or(&[][..], |limits| &limits.unmatched);
    if differences.is_empty() && rows.is_empty() && unused.is_empty() {
        return;
    }
    _ = writeln!(out, "### {}\n", escaped(&program.name));
    for row in rows.iter().take(50) {
        _ = writeln!(out, "- :x: {}", escaped(&broken(row)));
    }
    if rows.len() > 50 {
        _ = writeln!(out, "- and {} more", rows.len() - 50);
    }
    for limit in unused {
        _ = writeln!(out, "- unused: {}: nothing in the profiles matches it", code(limit));
    }
    for difference in differences {
        _ = writeln!(out, "- unlike: {}", escaped(&difference));
    }
    out.push('\n');
}
