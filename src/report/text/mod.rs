//! The report for people: what limits the program and what to do about it, then its kernels; every figure on demand.

mod allocations;
mod annotate;
mod branches;
mod brief;
mod bypass;
mod caches;
mod conflicts;
mod estimate;
mod faults;
mod figures;
mod findings;
mod header;
mod kernels;
mod launches;
mod lines;
mod models;
mod names;
mod places;
mod reuse;
mod style;
mod whole;
mod wrap;

pub use conflicts::{conflict_line, conflict_place, in_short as conflicts_in_short};
pub use faults::fault_line;

pub(super) use allocations::name_of;
pub(super) use estimate::{limiter, name as limit_name};
pub(super) use figures::{add, bytes, count, memory, percent, ratio, seconds};
pub(super) use findings::verdict;
pub(super) use header::summary;
pub(crate) use names::plain_name;
pub(super) use names::{label, short};
pub(super) use places::{at, frame, host_path, short as short_path, sizes};
pub(super) use style::{Style, bar};
pub(super) use wrap::{cut, paragraph};

use crate::profile::Profile;

/// Narrower terminals get lines of this width.
const LEAST_WIDTH: usize = 60;

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

/// The report.
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
    findings::write(&mut out, profile, style, width, options.all);
    brief::write(&mut out, profile, style, top, width);
    if options.all {
        write_sections(&mut out, profile, style, top);
        header::write_notes(&mut out, profile, style);
    } else {
        // These were asked for when the profile was made.
        whole::write(&mut out, profile, style, top);
        models::write(&mut out, profile, style, top);
        bypass::write(&mut out, profile, style, top);
        bypass::write_pages(&mut out, profile, style, top);
        header::write_short_notes(&mut out, profile, style, width);
        let next = "More: --all shows every section, `warpline explain ID` what a finding means, --kernel, --line, --allocation, \
            --finding and --source choose; `warpline explore` walks through all of it.";
        out.push_str(&style.faint(&wrap::paragraph("", next, width)));
    }
    out
}

/// What was run in short, then everything of the things that were asked for.
pub fn answers(profile: &Profile, views: &[super::views::View], options: &TextOptions) -> String {
    let mut out = String::new();
    let width = options.width.max(LEAST_WIDTH);
    header::write_short(&mut out, profile, Style { color: options.color }, width);
    for view in views {
        out.push_str(&super::views::text(view, options.top, width, options.color));
        out.push('\n');
    }
    out
}

/// Every figure, by section.
fn write_sections(out: &mut String, profile: &Profile, style: Style, top: usize) {
    header::write(out, profile, style);
    faults::write(out, profile, style);
    conflicts::write(out, profile, style);
    kernels::write(out, profile, style, top);
    whole::write(out, profile, style, top);
    launches::write(out, profile, style, top);
    lines::write(out, profile, style, top);
    caches::write(out, profile, style, top);
    reuse::write(out, profile, style, top);
    estimate::write(out, profile, style, top);
    models::write(out, profile, style, top);
    bypass::write(out, profile, style, top);
    bypass::write_pages(out, profile, style, top);
    allocations::write(out, profile, style, top);
    branches::write(out, profile, style, top);
    branches::write_idle(out, profile, style, top);
}
