//! Assembles the text report.

use super::{annotate, brief, findings, header, sections};
use crate::words::{Style, paragraph};
use warpline_profile::Profile;

/// Minimum width of lines, also for narrower terminals.
pub(crate) const LEAST_WIDTH: usize = 60;
/// Number of lines of a short report for a program with few kernels.
const LINES: usize = 40;
const KERNELS: usize = 3;

/// Options of the text.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// Whether to use colours (ANSI).
    pub color: bool,
    /// Maximum number of rows per table.
    pub top: usize,
    /// Whether to show all sections instead of only findings and kernels.
    pub all: bool,
    /// Width of the terminal in columns.
    pub width: usize,
    /// The content of the report.
    pub shown: Shown,
}

/// The content of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Findings and kernels.
    #[default]
    Summary,
    /// Source lines with their costs.
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
    // Findings get the remaining lines. More kernels make the report longer and do not reduce the findings.
    let rest: usize = [&out, &kernels, &end].iter().map(|text| text.lines().count()).sum();
    let further = profile.kernels.len().min(top + 1).saturating_sub(KERNELS);
    findings::write(&mut out, profile, style, width, Some((LINES + further).saturating_sub(rest)));
    out.push_str(&kernels);
    sections::write_requested(&mut out, profile, style, top);
    out.push_str(&end);
    out
}
