//! The report for people, about a hundred columns wide.

mod allocations;
mod branches;
mod bypass;
mod caches;
mod conflicts;
mod estimate;
mod faults;
mod figures;
mod header;
mod kernels;
mod launches;
mod lines;
mod models;
mod names;
mod places;
mod reuse;
mod style;

pub use conflicts::{conflict_line, conflict_place, in_short as conflicts_in_short};
pub use faults::fault_line;

pub(super) use allocations::name_of;
pub(super) use figures::{add, bytes, count, percent, ratio};
pub(super) use names::{label, plain_name, short};

use self::style::Style;
use crate::profile::Profile;

/// How the text looks.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// With colours (ANSI).
    pub color: bool,
    /// Rows per table.
    pub top: usize,
}

/// What was run and how far it can be trusted, in lines.
pub(super) fn facts(profile: &Profile) -> String {
    let mut out = String::new();
    header::write(&mut out, profile, Style { color: false });
    out.trim_end().to_owned()
}

/// Tables that look alike everywhere: caches, estimates, models side by side, advice, statistics, idle lanes.
pub(super) fn tables(profile: &Profile, top: usize) -> String {
    let (mut out, style) = (String::new(), Style { color: false });
    caches::write(&mut out, profile, style, top);
    estimate::write(&mut out, profile, style, top);
    models::write(&mut out, profile, style, top);
    bypass::write(&mut out, profile, style, top);
    bypass::write_pages(&mut out, profile, style, top);
    launches::write(&mut out, profile, style, top);
    branches::write_idle(&mut out, profile, style, top);
    out.trim_end().to_owned()
}

/// What a reader should know, in lines; empty where there is nothing.
pub(super) fn notes(profile: &Profile) -> String {
    let mut out = String::new();
    header::write_notes(&mut out, profile, Style { color: false });
    out.trim_end().to_owned()
}

/// The report.
pub fn text(profile: &Profile, options: &TextOptions) -> String {
    let style = Style { color: options.color };
    let mut out = String::new();
    header::write(&mut out, profile, style);
    faults::write(&mut out, profile, style);
    conflicts::write(&mut out, profile, style);
    kernels::write(&mut out, profile, style, options.top);
    launches::write(&mut out, profile, style, options.top);
    lines::write(&mut out, profile, style, options.top);
    caches::write(&mut out, profile, style, options.top);
    reuse::write(&mut out, profile, style, options.top);
    estimate::write(&mut out, profile, style, options.top);
    models::write(&mut out, profile, style, options.top);
    bypass::write(&mut out, profile, style, options.top);
    bypass::write_pages(&mut out, profile, style, options.top);
    allocations::write(&mut out, profile, style, options.top);
    branches::write(&mut out, profile, style, options.top);
    branches::write_idle(&mut out, profile, style, options.top);
    header::write_notes(&mut out, profile, style);
    out
}
