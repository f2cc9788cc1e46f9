//! Writes the limiter of the program, and the most important findings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::sections::limiter;
use crate::finding_text;
use crate::words::figures::{count, percent, seconds};
use crate::words::names;
use crate::words::style::Style;
use crate::words::wrap::{cut, paragraph};
use warpline_profile::model::{Finding, Severity};
use warpline_profile::{Profile, SECONDS_PER_LAUNCH, dominant_starts, seconds_between_launches, seconds_of_copies};

/// Maximum number of findings in a short report. Notes are included only if no finding requires a change.
const MOST: usize = 5;

/// Writes the limiter of the program.
pub(super) fn write_verdict(out: &mut String, profile: &Profile, style: Style, width: usize) {
    out.push_str(&paragraph(&style.heading("VERDICT  "), &verdict(profile), width));
    out.push('\n');
}

/// Summarises in one or two sentences what takes most of the time and how much can be changed.
pub(crate) fn verdict(profile: &Profile) -> String {
    let estimates = profile.kernels.iter().filter_map(|kernel| Some((kernel, kernel.estimates.first()?)));
    let slowest = estimates
        .clone()
        .max_by(|one, other| one.1.seconds.total_cmp(&other.1.seconds).then(other.0.id.cmp(&one.0.id)));
    let all: f64 = estimates.map(|(_, estimate)| estimate.seconds).sum();
    let mut text = String::new();
    if let Some((kernel, estimate)) = slowest.filter(|_| all > 0.0) {
        let name = names::label(profile, kernel);
        let limit = match limiter(estimate).as_str() {
            "not known" => "what limits it is not known".to_owned(),
            limit => format!("limited by {limit}"),
        };
        _ = write!(
            text,
            "{name} takes {} of the estimated {} of all kernels, {limit}.",
            percent(estimate.seconds / all),
            seconds(all),
        );
    }
    let copies = seconds_between_launches(profile);
    if all > 0.0 && copies > all {
        _ = write!(
            text,
            " Copies take about {}, {} of it between launches, by what is assumed of the bus.",
            seconds(seconds_of_copies(profile)),
            seconds(copies)
        );
    }
    if let Some((launches, starts)) = dominant_starts(profile, all) {
        _ = write!(
            text,
            " The starts of {} launches take about {}, at {} each.",
            count(launches),
            seconds(starts),
            seconds(SECONDS_PER_LAUNCH)
        );
    }
    let count = |severity| profile.findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let found = match (errors, warnings) {
        (0, 0) => "Nothing was found that asks for a change.".to_owned(),
        (0, warnings) => format!("{} for a change.", plural(warnings, "finding asks", "findings ask")),
        (errors, warnings) => {
            format!("{} and {}.", plural(errors, "error", "errors"), plural(warnings, "warning", "warnings"))
        }
    };
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(&found);
    text
}

fn plural(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Writes all findings, or the most important ones in this many lines. The first finding is complete; of others that do
/// not fit, only the position is shown.
pub(super) fn write(out: &mut String, profile: &Profile, style: Style, width: usize, lines: Option<usize>) {
    if profile.findings.is_empty() {
        return;
    }
    _ = writeln!(out, "{}", style.heading("FINDINGS, what matters most first"));
    let only_notes = profile.findings.iter().all(|finding| finding.severity == Severity::Note);
    let groups = alike(&profile.findings);
    let fit = |group: &&Vec<&Finding>| only_notes || group[0].severity != Severity::Note;
    let shown = match lines {
        None => groups.len(),
        Some(_) => groups.iter().take_while(fit).take(MOST).count(),
    };
    let (groups, others) = groups.split_at(shown);
    let rest = others.iter().map(Vec::len).sum::<usize>();
    // Lines are reserved for the title, the blank line at the end, and the line about omitted findings.
    let mut left = lines.map_or(usize::MAX, |lines| lines.saturating_sub(2 + usize::from(rest > 0)));
    let mut in_full = true;
    for (at, group) in groups.iter().enumerate() {
        let finding = group[0];
        // An identical suggested change, as for other accesses to the same array, is not repeated.
        let before = groups[..at]
            .iter()
            .map(|other| other[0])
            .find(|other| (&other.id, &other.cure) == (&finding.id, &finding.cure));
        let mut text = one(profile, finding, style, width, before.filter(|_| lines.is_some()));
        if let Some(places) = elsewhere(profile, &group[1..]) {
            text.push_str(&paragraph("    also  ", &places, width));
        }
        let (needs, further) = (text.lines().count(), shown - at - 1);
        in_full = in_full && (at == 0 || needs.saturating_add(further) <= left);
        if in_full {
            out.push_str(&text);
            left = left.saturating_sub(needs);
        } else {
            _ = writeln!(out, "{}", head(profile, finding, style, width));
        }
    }
    if rest > 0 {
        let notes = others.iter().all(|group| group[0].severity == Severity::Note);
        let rest = if notes { plural(rest, "note", "notes") } else { format!("{rest} more") };
        let text = format!("  … and {rest} (--all shows them)");
        _ = writeln!(out, "{}", style.faint(&text));
    }
    out.push('\n');
}

/// Maximum number of listed positions of findings with the same text.
const MOST_PLACES: usize = 8;

/// Groups findings in their order. Notes that differ only in position and figures are shown once.
fn alike(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    let mut places: BTreeMap<(&str, &str, String), usize> = BTreeMap::new();
    for finding in findings {
        if finding.severity != Severity::Note {
            groups.push(vec![finding]);
            continue;
        }
        let words = without_figures(&finding.reason);
        let at = *places.entry((&finding.id, &finding.cure, words)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

/// Returns a sentence without its figures. Names in backquotes are kept, because notes about different arrays are
/// different.
fn without_figures(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let words = |(at, part): (usize, &str)| match at % 2 {
        0 => part.chars().filter(|letter| !letter.is_ascii_digit()).collect(),
        _ => format!("`{part}`"),
    };
    parts.map(words).collect()
}

/// Returns "3 more like this: 4. a.cu:12 in first, …"; `None` if there are no others.
fn elsewhere(profile: &Profile, others: &[&Finding]) -> Option<String> {
    let place = |finding: &&Finding| {
        let kernel = finding_text::kernel(profile, finding).map_or_else(String::new, |kernel| format!(" in {kernel}"));
        format!("{}. {}{kernel}", finding.rank, finding_text::place(finding))
    };
    let listed: Vec<String> = others.iter().take(MOST_PLACES).map(place).collect();
    let more = if others.len() > MOST_PLACES { ", …" } else { "" };
    (!listed.is_empty()).then(|| format!("{} more like this: {}{more}", others.len(), listed.join(", ")))
}

/// Returns the title and the position of a finding in one line.
fn head(profile: &Profile, finding: &Finding, style: Style, width: usize) -> String {
    let severity = finding.severity.name();
    let place = finding_text::place(finding);
    let before =
        [severity, &finding.id, &place].iter().map(|text| text.chars().count()).sum::<usize>() + "12.   ".len() + 1;
    let kernel = finding_text::kernel(profile, finding)
        .map_or_else(String::new, |kernel| cut(&format!(" in {kernel}"), width.saturating_sub(before)));
    let severity = if finding.severity == Severity::Note { style.faint(severity) } else { style.warning(severity) };
    format!("{:>2}. {severity} {}  {}{kernel}", finding.rank, style.strong(&finding.id), style.strong(&place))
}

/// Returns one finding. `before` has the same suggested change.
fn one(profile: &Profile, finding: &Finding, style: Style, width: usize, before: Option<&Finding>) -> String {
    let mut out = String::new();
    _ = writeln!(out, "{}", head(profile, finding, style, width));
    if let Some(source) = finding_text::source(profile, finding) {
        _ = writeln!(
            out,
            "    {}",
            style.faint(&cut(&format!("{} | {source}", finding.line), width.saturating_sub(4)))
        );
    }
    if let Some(place) = finding_text::library(finding) {
        _ = writeln!(out, "    {}", style.faint(&cut(&place, width.saturating_sub(4))));
    }
    if !finding.title.is_empty() {
        _ = writeln!(out, "    {}", style.strong(&cut(&finding.title, width.saturating_sub(4))));
    }
    out.push_str(&paragraph("    why   ", &finding.reason, width));
    match before {
        Some(before) => _ = writeln!(out, "    cure  as for {}", before.rank),
        None => out.push_str(&paragraph("    cure  ", &finding.cure, width)),
    }
    if let Some(gain) = &finding.gain {
        out.push_str(&paragraph("    gain  ", &finding_text::gain(finding, gain), width));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(rank: u32, line: u32, kernel: u32, reason: &str) -> Finding {
        Finding {
            id: "small-launch".to_owned(),
            rank,
            severity: Severity::Note,
            kernel: Some(kernel),
            file: "/src/a.cu".to_owned(),
            line,
            reason: reason.to_owned(),
            cure: "launch more blocks".to_owned(),
            ..Finding::default()
        }
    }

    #[test]
    fn notes_that_say_the_same_are_shown_once() {
        let warning = Finding { severity: Severity::Warning, ..note(1, 5, 1, "1 block uses 1 SM") };
        let findings = vec![
            warning,
            note(2, 10, 1, "1 block uses 1 of 108 SMs for 4.5 %"),
            note(3, 20, 2, "`a` is read apart"),
            note(4, 30, 3, "1 block uses 1 of 108 SMs for 2.25 %"),
            note(5, 40, 4, "1 block uses 1 of 108 SMs for 1.0 %"),
            note(6, 50, 5, "`a2` is read apart"),
        ];
        let ranks: Vec<Vec<u32>> =
            alike(&findings).iter().map(|group| group.iter().map(|one| one.rank).collect()).collect();
        assert_eq!(ranks, [vec![1], vec![2, 4, 5], vec![3], vec![6]]);
        let profile = Profile { findings, ..Profile::default() };
        let mut out = String::new();
        write(&mut out, &profile, Style { color: false }, 100, None);
        assert!(out.contains("    also  2 more like this: 4. a.cu:30, 5. a.cu:40\n"), "{out}");
        assert!(!out.contains(" 4. note") && out.contains(" 6. note"), "{out}");
        let mut out = String::new();
        write(&mut out, &profile, Style { color: false }, 100, Some(40));
        assert!(out.contains("… and 5 notes"), "{out}");
    }
}
