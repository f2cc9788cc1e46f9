//! Writes findings and kernels as GitHub Markdown, for a pull request or an issue.

use std::fmt::Write as _;

use super::{finding_text, trust};
use crate::rows::ranks::over_ranks;
use crate::rows::whole::{caution, lines};
use crate::words::{count, estimates, hit_rate, label, memory, percent, ratio, seconds};
use warpline_findings::confidence;
use warpline_profile::Profile;
use warpline_profile::model::Kernel;
use warpline_simulator::geometry::SECTOR_BYTES;

/// Returns the document with at most `top` kernels.
pub fn markdown(profile: &Profile, top: usize) -> String {
    let run = &profile.run;
    let program = run.program.first().map_or("an unknown program", |path| path.rsplit('/').next().unwrap_or(path));
    let mut out = format!("## Warpline: {}\n\n", escaped(program));
    let model = run.models.first().map_or("no GPU model", String::as_str);
    let whole = if run.complete { "complete" } else { "**incomplete**, see the notes" };
    _ = writeln!(out, "Device: {}, model: {}, {whole}.\n", escaped(&run.device), escaped(model));
    if let Some(whole) = &run.whole_run {
        _ = writeln!(out, "> **Sampled**: {}.\n", escaped(&caution(whole)));
    }
    findings(&mut out, profile);
    kernels(&mut out, profile, top);
    whole_run(&mut out, profile, top);
    ranks(&mut out, profile, top);
    trusted(&mut out, profile);
    if !run.notes.is_empty() {
        out.push_str("### Notes\n\n");
        for note in &run.notes {
            _ = writeln!(out, "- {}", escaped(note));
        }
        out.push('\n');
    }
    out
}

/// Writes the reliability of the figures.
fn trusted(out: &mut String, profile: &Profile) {
    out.push_str("### Trust\n\n");
    for line in trust::sentences(&warpline_profile::trust::trust(profile)) {
        _ = writeln!(out, "- {}: {}", line.name, escaped(&line.text));
    }
    out.push('\n');
}

fn findings(out: &mut String, profile: &Profile) {
    out.push_str("### Findings\n\n");
    if profile.findings.is_empty() {
        out.push_str("None.\n\n");
        return;
    }
    for finding in &profile.findings {
        let kernel =
            finding_text::kernel(profile, finding).map_or_else(String::new, |kernel| format!(" in {}", code(&kernel)));
        _ = writeln!(
            out,
            "{}. **{}** {} at {}{kernel}",
            finding.rank,
            finding.severity.name(),
            code(&finding.id),
            code(&finding_text::place(finding)),
        );
        if let Some(place) = finding_text::library(finding) {
            _ = writeln!(out, "   - {}", escaped(&place));
        }
        if !finding.cause.is_empty() {
            let confidence = confidence(finding).map_or_else(String::new, |basis| format!(" ({})", basis.name()));
            _ = writeln!(out, "   - Cause and remedy: {}, {}{confidence}", code(&finding.cause), code(&finding.remedy));
        }
        _ = writeln!(out, "   - Why: {}", escaped(&finding.reason));
        _ = writeln!(out, "   - Suggested change: {}", escaped(&finding.cure));
        if let Some(gain) = &finding.gain {
            _ = writeln!(out, "   - Estimated gain: {}", escaped(&finding_text::gain(finding, gain)));
        }
    }
    out.push('\n');
}

fn kernels(out: &mut String, profile: &Profile, top: usize) {
    if profile.kernels.is_empty() {
        return;
    }
    let time = |kernel: &Kernel| kernel.estimates.first().map_or(0.0, |estimate| estimate.seconds);
    let mut rows: Vec<&Kernel> = profile.kernels.iter().collect();
    rows.sort_by(|one, other| time(other).total_cmp(&time(one)).then(one.id.cmp(&other.id)));
    out.push_str("### Kernels\n\n| kernel | launches | estimated time | coalesced | L1 hit | L2 hit |\n|---|--:|--:|--:|--:|--:|\n");
    for kernel in rows.iter().take(top) {
        let sum = memory(&kernel.metrics);
        _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            code(&label(profile, kernel)),
            count(kernel.recorded_launches()),
            kernel.estimates.first().map_or("-".to_owned(), |estimate| seconds(estimate.seconds)),
            if sum.sectors == 0 { "-".to_owned() } else { percent(ratio(sum.ideal_sectors, sum.sectors)) },
            hit_rate(sum.l1_hit_rate()),
            hit_rate(sum.l2_hit_rate()),
        );
    }
    if rows.len() > top {
        _ = writeln!(out, "\n… and {} more kernels.", rows.len() - top);
    }
    out.push('\n');
}

/// Writes estimates over all launches, if a budget recorded only some.
fn whole_run(out: &mut String, profile: &Profile, top: usize) {
    if profile.run.whole_run.is_none() {
        return;
    }
    out.push_str("### Whole run, estimated\n\n| kernel | recorded | requests | traffic |\n|---|--:|--:|--:|\n");
    let all = profile.run.whole_run.iter().map(|whole| ("all".to_owned(), whole));
    let kernels =
        profile.kernels.iter().filter_map(|kernel| Some((code(&label(profile, kernel)), kernel.whole_run.as_ref()?)));
    for (name, whole) in all.chain(kernels).take(top.saturating_add(1)) {
        let total =
            |name: &str, scale: u64| whole.total(name).map_or("-".to_owned(), |one| estimates::sum(&one, scale));
        _ = writeln!(
            out,
            "| {name} | {} of {} | {} | {} |",
            count(whole.recorded_launches),
            count(whole.launches),
            total("global.requests", 1),
            total("global.sectors", SECTOR_BYTES),
        );
    }
    let lines = lines(profile);
    if !lines.is_empty() {
        out.push_str("\n| line | kernel | requests | traffic | passes |\n|---|---|--:|--:|--:|\n");
    }
    for line in lines.iter().take(top) {
        let [requests, traffic, passes] = &line.figures;
        _ = writeln!(out, "| {} | {} | {requests} | {traffic} | {passes} |", code(&line.place), code(&line.kernel));
    }
    out.push('\n');
}

/// Writes the differences between ranks.
fn ranks(out: &mut String, profile: &Profile, top: usize) {
    let Some(rows) = over_ranks(profile) else { return };
    let all = rows.present;
    if rows.kinds().iter().all(|(_, rows)| rows.is_empty()) {
        if all > 1 {
            _ = writeln!(out, "### Ranks\n\nAll {all} ranks did the same work.\n");
        }
        return;
    }
    _ = writeln!(out, "### Ranks\n\nWhere the work of {all} ranks differs; over the ranks that have the place.\n");
    for (kind, rows) in rows.kinds() {
        if rows.is_empty() {
            continue;
        }
        _ = writeln!(
            out,
            "| {kind} | figure | ranks | least (rank) | mean | greatest (rank) | std. dev. | max/mean |\n\
            |---|---|--:|--:|--:|--:|--:|--:|"
        );
        for row in rows.iter().take(top) {
            _ = writeln!(
                out,
                "| {} | {} | {} of {all} | {} ({}) | {} | {} ({}) | {} | {:.2} |",
                code(&row.name),
                row.figure,
                row.ranks,
                row.text(row.min),
                row.min_rank,
                row.text(row.mean),
                row.text(row.max),
                row.max_rank,
                row.text(row.stddev),
                row.factor,
            );
        }
        if rows.len() > top {
            _ = writeln!(out, "\n… and {} more {kind}.", rows.len() - top);
        }
        out.push('\n');
    }
}

/// Escapes text of the program so that no renderer interprets it as markup. Code spans of findings are kept, because
/// their backquotes are paired.
pub(super) fn escaped(text: &str) -> String {
    let paired = text.matches('`').count().is_multiple_of(2);
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for character in text.chars() {
        match character {
            '`' if paired => {
                inside = !inside;
                out.push(character);
            }
            '\n' | '\r' => out.push(' '),
            '|' => out.push_str("\\|"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '@' if !inside => {
                out.push('\\');
                out.push(character);
            }
            '<' if !inside => out.push_str("&lt;"),
            '>' if !inside => out.push_str("&gt;"),
            '&' if !inside => out.push_str("&amp;"),
            other => out.push(other),
        }
    }
    out
}

/// Returns text as a code span. Its fences are longer than any run of backquotes in the text.
pub(super) fn code(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace(['\n', '\r'], " ").replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("a*b_c <x> | d"), "a\\*b\\_c &lt;x&gt; \\| d");
        assert_eq!(escaped("`a_b` is *"), "`a_b` is \\*");
        assert_eq!((code("a`b"), code("`a")), ("``a`b``".to_owned(), "`` `a ``".to_owned()));
    }
}
