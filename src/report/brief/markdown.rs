//! Writes the brief as Markdown of at most [`MOST_LINES`] lines.

use std::fmt::Write as _;

use super::document::{Brief, BriefFinding, BriefKernel, Value, brief};
use crate::markdown::{code, escaped};
use crate::trust;
use crate::words::{bytes, count, percent, seconds};
use warpline_profile::Profile;

/// Maximum number of lines of the document.
const MOST_LINES: usize = 60;
/// Number of kernels in the table.
const KERNELS: usize = 3;
/// Maximum number of findings that are shown in one line each after the full ones.
const IN_A_LINE: usize = 6;

/// Returns the brief as Markdown.
pub fn brief_markdown(profile: &Profile) -> String {
    let brief = brief(profile);
    let (head, kernels) = (head(&brief, profile), kernels(&brief));
    let left = MOST_LINES.saturating_sub(head.lines().count() + kernels.lines().count());
    format!("{head}{}{kernels}", findings(&brief, left))
}

fn head(brief: &Brief, profile: &Profile) -> String {
    let mut out = format!("# Warpline brief: {}\n\n", escaped(&brief.program));
    _ = writeln!(out, "- **Verdict**: {}", escaped(&brief.verdict));
    let model = brief.models.first().map_or("no GPU model", String::as_str);
    let whole = if brief.complete { "complete" } else { "**incomplete**" };
    _ = writeln!(out, "- **Run**: device {}, model {}, {whole}", escaped(&brief.device), escaped(model));
    for line in trust::sentences(&warpline_profile::trust::trust(profile)) {
        _ = writeln!(out, "- **{}**: {}", line.name, escaped(&line.text));
    }
    for note in &brief.notes {
        _ = writeln!(out, "- **Note**: {}", escaped(note));
    }
    if brief.notes_total > brief.notes.len() {
        _ = writeln!(out, "- … and {} more notes", brief.notes_total - brief.notes.len());
    }
    out.push('\n');
    out
}

/// Returns findings in at most this many lines: first full ones, then as many others as fit in one line each.
fn findings(brief: &Brief, lines: usize) -> String {
    let mut out = format!("## Findings ({})\n\n", brief.findings_total);
    if brief.findings.is_empty() {
        out.push_str("None.\n\n");
        return out;
    }
    // Four lines are reserved for the heading, the blank lines after it and at the end, and the number of omitted
    // findings.
    let mut left = lines.saturating_sub(4);
    let mut in_full = true;
    let mut shown = 0;
    for (at, finding) in brief.findings.iter().enumerate() {
        let others = (brief.findings.len() - at - 1).min(IN_A_LINE);
        let text = full(finding);
        let needs = text.lines().count();
        in_full = in_full && (needs + others <= left || at == 0);
        if in_full {
            out.push_str(&text);
            left = left.saturating_sub(needs);
        } else if left > 0 {
            out.push_str(&in_a_line(finding));
            left -= 1;
        } else {
            break;
        }
        shown += 1;
    }
    match brief.findings_total - shown {
        0 => {}
        rest => _ = writeln!(out, "- … and {rest} more: `warpline report --all`"),
    }
    out.push('\n');
    out
}

/// Returns the position, the kernel and the confidence of a finding.
fn heading(finding: &BriefFinding) -> String {
    let place = match (finding.file.is_empty(), finding.line) {
        (true, _) => String::new(),
        (false, 0) => format!(" at {}", code(&finding.file)),
        (false, line) => format!(" at {}", code(&format!("{}:{line}", finding.file))),
    };
    let kernel = finding.kernel.as_ref().map_or_else(String::new, |kernel| format!(" in {}", code(kernel)));
    format!("{}. **{}** {}{place}{kernel}\n", finding.rank, finding.severity.name(), code(&finding.id))
}

/// Returns the cause, the remedy and the confidence of a finding.
fn diagnosis(finding: &BriefFinding) -> String {
    let mut parts = Vec::new();
    if !finding.cause.is_empty() {
        parts.push(format!("cause {}, remedy {}", code(&finding.cause), code(&finding.remedy)));
    }
    parts.extend(finding.confidence.map(|basis| format!("confidence: {}", basis.name())));
    if finding.verified {
        parts.push("the remedy was counted on the recorded addresses".to_owned());
    }
    parts.join("; ")
}

fn full(finding: &BriefFinding) -> String {
    let mut out = heading(finding);
    let mut line = |text: String| _ = writeln!(out, "   - {text}");
    if let Some(source) = &finding.code {
        line(format!("Code: {}", code(source)));
    }
    let diagnosis = diagnosis(finding);
    if !diagnosis.is_empty() {
        line(diagnosis);
    }
    line(format!("Why: {}", escaped(&finding.reason)));
    line(format!("Change: {}", escaped(&finding.change)));
    if let Some(gain) = &finding.gain {
        line(format!("Gain ({}): {}", gain.basis.name(), escaped(&gain.text)));
    }
    if !finding.numbers.is_empty() {
        let numbers = finding.numbers.iter().map(|(name, value)| format!("{} {}", escaped(name), number(*value)));
        line(format!("Numbers: {}", numbers.collect::<Vec<_>>().join(", ")));
    }
    out
}

fn in_a_line(finding: &BriefFinding) -> String {
    let heading = heading(finding);
    match diagnosis(finding) {
        diagnosis if diagnosis.is_empty() => heading,
        diagnosis => format!("{}: {diagnosis}\n", heading.trim_end()),
    }
}

/// Formats a number with as many digits as a reader needs.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value}");
    }
    match value.abs() {
        size if (1e-3..1e6).contains(&size) => format!("{value:.3}"),
        _ => format!("{value:.3e}"),
    }
}

fn kernels(brief: &Brief) -> String {
    if brief.kernels.is_empty() {
        return "## Kernels (0)\n".to_owned();
    }
    let mut out = format!(
        "## Kernels ({})\n\n| kernel | launches | time (estimated) | limited by | coalesced | L1 hit (modelled) | L2 hit (modelled) |\n\
         |---|--:|--:|---|--:|--:|--:|\n",
        brief.kernels_total
    );
    for kernel in brief.kernels.iter().take(KERNELS) {
        _ = writeln!(out, "{}", row(kernel));
    }
    out
}

fn row(kernel: &BriefKernel) -> String {
    let share = |value: Option<Value>| value.map_or("-".to_owned(), |value| percent(value.value));
    format!(
        "| {} | {} | {} | {} | {} of {} | {} | {} |",
        code(&kernel.name),
        count(kernel.launches.value as u64),
        kernel.seconds.map_or("-".to_owned(), |value| seconds(value.value)),
        kernel.limiter.as_deref().unwrap_or("-"),
        share(kernel.coalescing_efficiency),
        bytes(kernel.traffic_bytes.value as u64),
        share(kernel.l1_hit_rate),
        share(kernel.l2_hit_rate),
    )
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short() {
        assert_eq!([number(768.0), number(0.875), number(1.25e-7)], ["768", "0.875", "1.250e-7"]);
        assert_eq!(number(f64::INFINITY), "inf");
    }
}
