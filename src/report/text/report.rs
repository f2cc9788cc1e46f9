//! The text report put together.

use super::{annotate, brief, findings, header, sections};
use crate::words::{Style, paragraph};
use warpline_profile::Profile;

/// Narrower terminals get lines of this width.
pub(crate) const LEAST_WIDTH: usize = 60;
/// Lines of a short report of a program with that many kernels.
const LINES: usize = 40;
const KERNELS: usize = 3;

/// How the text looks.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// With colours (ANSI).
    pub color: bool,
    /// Rows per table.
    pub top: usize,
    /// All sections, not only findings and kernels.
    pub all: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// What is shown of the program.
    pub shown: Shown,
}

/// What a report shows of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Findings and kernels.
    #[default]
    Summary,
    /// Source lines with what they cost.
    Source,
}

/// Returns the report.
pub fn text(profile: &Profile, options: &TextOptions) -> String {
    let style = Style { color: options.color };
    let (top, width) = (options.top, options.width.max(LEAST_WIDTH));
    let mut out = String::new();
    header::write_short(&mut out, profile, style, width);
    if options.shown == Shown::Source && !options.all {
        annotate::write(&mut out, profile, style, width);
        return out;
    }
    findings::write_verdict(&mut out, profile, style, width);
    let mut kernels = String::new();
    brief::write(&mut kernels, profile, style, top, width);
    if options.all {
        findings::write(&mut out, profile, style, width, None);
        out.push_str(&kernels);
        header::write(&mut out, profile, style, width);
        sections::write_all(&mut out, profile, style, top);
        header::write_notes(&mut out, profile, style);
        return out;
    }
    header::write_short_trust(&mut out, profile, style, width);
    let mut end = String::new();
    header::write_short_notes(&mut end, profile, style, width);
    let next = "More: --all shows every section, `warpline explain ID` what a finding means, --kernel, --line, --allocation, \
        --finding and --source choose; `warpline explore` walks through all of it.";
    end.push_str(&style.faint(&paragraph("", next, width)));
    // Findings get what the rest leaves. Further kernels make the report longer, not the findings fewer.
    let rest: usize = [&out, &kernels, &end].iter().map(|text| text.lines().count()).sum();
    let further = profile.kernels.len().min(top + 1).saturating_sub(KERNELS);
    findings::write(&mut out, profile, style, width, Some((LINES + further).saturating_sub(rest)));
    out.push_str(&kernels);
    sections::write_requested(&mut out, profile, style, top);
    out.push_str(&end);
    out
}
