//! What was run, how far it can be trusted, and the notes.

use std::fmt::Write as _;

use super::names;
use super::places;
use super::style::Style;
use crate::profile::Profile;

pub(super) fn write(out: &mut String, profile: &Profile, style: Style) {
    let run = &profile.run;
    let program = match &run.program[..] {
        [] => "an unknown program".to_owned(),
        [executable, arguments @ ..] => {
            let mut text = places::short(executable).to_owned();
            for argument in arguments {
                _ = write!(text, " {argument}");
            }
            text
        }
    };
    _ = writeln!(out, "{}", style.heading(&format!("Warpline: memory profile of {program}")));
    let mut line = |name: &str, text: String| _ = writeln!(out, "  {name:<10} {text}");
    let model = run.assumptions.get("model").or(run.models.first()).map_or("no GPU model", String::as_str);
    let device = if run.device == "cpu" { "CPU device (no GPU was used)" } else { "GPU" };
    if run.mode == "counters" {
        line("device", format!("{device}, counters mode: no trace was kept"));
    } else {
        line("device", format!("{device}, blocks placed as on {model}"));
    }
    let mut status = if run.complete { "complete".to_owned() } else { style.warning("INCOMPLETE, see the notes") };
    match run.exit_code {
        Some(0) => {}
        Some(code) => _ = write!(status, ", {}", style.warning(&format!("program ended with exit code {code}"))),
        None => status.push_str(", exit code of the program unknown"),
    }
    if run.sampled {
        _ = write!(status, ", {}", style.warning("SAMPLED"));
    }
    if run.dropped_records > 0 {
        let text = format!("{} records dropped", run.dropped_records);
        _ = write!(status, ", {}", style.warning(&text));
    }
    line("status", status);
    line("counted", "requests, lanes, bytes, sectors, branches and blocks: exact, from the executed code".to_owned());
    if run.mode == "counters" {
        out.push('\n');
        return;
    }
    let mut modelled = "order of warps and blocks; bank conflicts (32 banks of 4 bytes)".to_owned();
    match run.assumptions.get("occupancy").map(String::as_str) {
        Some("ptxas") => modelled.push_str("; occupancy from ptxas registers"),
        Some(_) => modelled.push_str("; occupancy with assumed registers"),
        None => {}
    }
    line("modelled", modelled);
    if let Some(waves) = run.assumptions.get("wave_lanes") {
        line("waves", format!("of {waves}"));
    }
    if run.assumptions.contains_key("l2_copies") {
        line("simulated", "level 1, level 2 and DRAM of the model; docs/design/hierarchy.md says how".to_owned());
    }
    if let Some(figures) = run.assumptions.get("model_figures_assumed") {
        line("assumed", format!("of the model: {figures}"));
    }
    out.push('\n');
}

pub(super) fn write_notes(out: &mut String, profile: &Profile, style: Style) {
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
