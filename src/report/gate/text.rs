//! Writes verdicts for people.

use std::fmt::Write as _;

use super::{baseline, unlike, words};
use crate::comparison;
use crate::comparison::shown::broken;
use crate::{DiffOptions, plain_name};
use warpline_comparison::gate::{Judged, Verdict};

/// Returns the verdicts, and the changes if there are any.
pub fn text(judged: &[Judged], options: &DiffOptions) -> String {
    let mut out = String::new();
    for one in judged {
        let program = &one.program;
        let state = match program.verdict {
            Verdict::Held => "held",
            Verdict::Broken => "BROKEN",
            Verdict::NoBaseline => "no baseline",
            Verdict::Unlike => "UNLIKE",
        };
        let code = match program.verdict {
            Verdict::Held => "32",
            Verdict::Broken | Verdict::Unlike => "31",
            Verdict::NoBaseline => "33",
        };
        let painted = if options.color { format!("\x1b[{code}m{state}\x1b[0m") } else { state.to_owned() };
        _ = writeln!(out, "GATE {}: {painted} ({})", plain_name(&program.name), words(program.verdict));
        _ = writeln!(out, "  baseline  {}", baseline(one));
        for difference in unlike(one) {
            _ = writeln!(out, "  unlike    {difference}");
        }
        let limits = program.comparison.iter().flat_map(|diff| &diff.limits);
        for limits in limits {
            for row in &limits.broken {
                _ = writeln!(out, "  broken    {}", broken(row));
            }
            for limit in &limits.unmatched {
                _ = writeln!(out, "  unused    {limit}: nothing in the profiles matches it");
            }
        }
        match (&one.before, &program.comparison) {
            (Some(_), Some(diff)) if diff.is_empty() => out.push_str("  nothing changed\n"),
            (Some(before), Some(diff)) => out.push_str(&comparison::text(diff, before, &one.after, options)),
            _ => {}
        }
        out.push('\n');
    }
    out
}
