//! Writes a description of the run, its reliability, and the notes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::trust::{assumptions, deviations, sentences};
use crate::words::names;
use crate::words::places;
use crate::words::style::Style;
use crate::words::wrap::paragraph;
use warpline_profile::Profile;
use warpline_profile::trust::trust;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, width: usize) {
    let run = &profile.run;
    _ = writeln!(out, "{}", style.heading(&format!("Warpline: memory profile of {}", program(profile))));
    let mut line = |name: &str, text: String| _ = writeln!(out, "  {name:<11} {text}");
    let model = run.assumptions.get("model").or(run.models.first()).map_or("no GPU model", String::as_str);
    let device = if run.device == "cpu" { "CPU device (no GPU was used)" } else { "GPU" };
    if run.mode == "counters" {
        line("device", format!("{device}, counters mode: no trace was kept"));
    } else {
        line("device", format!("{device}, blocks placed as on {model}"));
    }
    let status = status(profile, style);
    line("status", status);
    let trust = trust(profile);
    for sentence in sentences(&trust) {
        let text = paragraph(&format!("  {:<12}", sentence.name.to_lowercase()), &sentence.text, width);
        out.push_str(&text);
    }
    if let Some(text) = assumptions(&trust) {
        out.push_str(&paragraph("  assumed     ", &text, width));
    }
    out.push('\n');
}

fn program(profile: &Profile) -> String {
    match &profile.run.program[..] {
        [] => "an unknown program".to_owned(),
        [executable, arguments @ ..] => {
            let mut text = places::short(executable).to_owned();
            for argument in arguments {
                _ = write!(text, " {argument}");
            }
            text
        }
    }
}

/// Describes kernels whose counts are incomplete.
fn inexact(profile: &Profile) -> Option<String> {
    let run = &profile.run;
    let cut: BTreeSet<u32> = run.missing.iter().filter(|row| row.ended_early()).filter_map(|row| row.kernel).collect();
    let cut: Vec<String> = profile
        .kernels
        .iter()
        .filter(|kernel| cut.contains(&kernel.id))
        .map(|kernel| names::label(profile, kernel))
        .collect();
    match &cut[..] {
        [] => None,
        [first, second, third, rest @ ..] if !rest.is_empty() => Some(format!(
            "not exact for {first}, {second}, {third} and {} other kernels, which ended early",
            rest.len()
        )),
        _ => Some(format!("not exact for {}: ended early", cut.join(", "))),
    }
}

/// Describes whether the run was complete.
fn status(profile: &Profile, style: Style) -> String {
    let run = &profile.run;
    let mut status = if run.complete { "complete".to_owned() } else { style.warning("INCOMPLETE, see the notes") };
    for (what, one, several) in [
        ("ended_early", "launch ended early", "launches ended early"),
        ("after_stop", "launch after that was refused", "launches after that were refused"),
        ("refused", "launch was refused", "launches were refused"),
        ("not_instrumented", "launch of foreign code was not possible", "launches of foreign code were not possible"),
    ] {
        match run.missing.iter().filter(|row| row.what == what).map(|row| row.launches).sum() {
            0 => {}
            1 => _ = write!(status, ", {}", style.warning(&format!("1 {one}"))),
            sum => _ = write!(status, ", {}", style.warning(&format!("{sum} {several}"))),
        }
    }
    match profile.failed_calls.iter().map(|call| call.calls).fold(0, u64::saturating_add) {
        0 => {}
        1 => _ = write!(status, ", {}", style.warning("1 call of CUDA's API failed")),
        calls => _ = write!(status, ", {}", style.warning(&format!("{calls} calls of CUDA's API failed"))),
    }
    match run.exit_code {
        Some(0) => {}
        Some(code) => _ = write!(status, ", {}", style.warning(&format!("program ended with exit code {code}"))),
        None => status.push_str(", exit code of the program unknown"),
    }
    if run.sampled {
        let launches = run.whole_run.as_ref().map_or_else(String::new, |whole| {
            format!(" ({} of {} launches recorded)", whole.recorded_launches, whole.launches)
        });
        _ = write!(status, ", {}", style.warning(&format!("SAMPLED{launches}")));
    }
    if run.dropped_records > 0 {
        let text = format!("{} records dropped", run.dropped_records);
        _ = write!(status, ", {}", style.warning(&text));
    }
    status
}

/// Writes one line with the program, the model, and whether the run was complete.
pub(crate) fn write_short(out: &mut String, profile: &Profile, style: Style, width: usize) {
    out.push_str(&paragraph(&style.heading("WARPLINE "), &summary(profile, style), width));
}

/// Writes the data that counts lack, if they are not exact.
pub(crate) fn write_short_trust(out: &mut String, profile: &Profile, style: Style, width: usize) {
    if let Some(text) = deviations(&trust(profile)) {
        out.push_str(&paragraph(&style.heading("TRUST    "), &format!("{text}."), width));
        out.push('\n');
    }
}

/// Returns a sentence with the program, the model, and the reliability of the figures.
pub(crate) fn summary(profile: &Profile, style: Style) -> String {
    let run = &profile.run;
    let model = run.assumptions.get("model").or(run.models.first()).map_or("no GPU model", String::as_str);
    let device = match (&run.device[..], &run.mode[..]) {
        (_, "counters") => "counters mode, no trace was kept".to_owned(),
        ("cpu", _) => format!("modelled as {model}, run without a GPU"),
        _ => format!("run on a GPU, caches modelled as {model}"),
    };
    let mut text = format!("{}: {device}; {}", program(profile), status(profile, style));
    if let Some(inexact) = inexact(profile) {
        _ = write!(text, "; {}", style.warning(&inexact));
    }
    text
}

/// Maximum number of notes in the short report.
const MOST_NOTES: usize = 4;

/// Writes the first notes.
pub(crate) fn write_short_notes(out: &mut String, profile: &Profile, style: Style, width: usize) {
    let notes = &profile.run.notes;
    let all = notes.len() + profile.not_seen.len();
    if all == 0 {
        return;
    }
    _ = writeln!(out, "{}", style.heading("NOTES"));
    for note in notes.iter().take(MOST_NOTES) {
        out.push_str(&paragraph("  - ", note, width));
    }
    if all > notes.len().min(MOST_NOTES) {
        let rest = all - notes.len().min(MOST_NOTES);
        _ = writeln!(out, "{}", style.faint(&format!("  … and {rest} more (--all shows them)")));
    }
    out.push('\n');
}

pub(crate) fn write_notes(out: &mut String, profile: &Profile, style: Style) {
    let run = &profile.run;
    if run.notes.is_empty() && profile.not_seen.is_empty() {
        return;
    }
    _ = writeln!(out, "{}", style.heading("NOTES"));
    for note in &run.notes {
        _ = writeln!(out, "  - {note}");
    }
    for entry in &profile.not_seen {
        let place = places::at(&entry.file, entry.line);
        let function = names::short(names::plain_name(&entry.function));
        _ = writeln!(out, "  - not seen: {} in {function} at {place}", entry.what);
    }
    out.push('\n');
}
