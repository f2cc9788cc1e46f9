//! Reports: the same profile, for people and for programs.

mod branch_rows;
mod callgrind;
mod comparison;
mod csv;
mod filter;
mod finding_text;
mod folded;
mod gate;
mod hatchet;
mod history;
mod html;
mod live;
mod markdown;
mod perfetto;
mod pprof;
mod prediction;
mod question;
mod reuse;
mod sarif;
mod speedscope;
mod stacks;
mod stop;
mod text;
pub mod views;
mod worst;

pub use callgrind::callgrind;
pub use comparison::{DiffOptions, json as diff_json, markdown as diff_markdown, text as diff_text};
pub use csv::csv;
pub use filter::{Filter, allocations_named, apply};
pub use folded::folded;
pub use gate::{
    benchmark as gate_benchmark, json as gate_json, markdown as gate_markdown, sarif as gate_sarif, text as gate_text,
};
pub use hatchet::hatchet;
pub use history::{
    csv as history_csv, html as history_html, json as history_json, svg as history_svg, text as history_text,
};
pub use html::{diff_html, html};
pub use live::live_text;
pub use markdown::markdown;
pub use perfetto::perfetto;
pub use pprof::pprof;
pub use prediction::{
    csv as prediction_csv, html as prediction_html, json as prediction_json, text as prediction_text,
};
pub use question::{FindingChoice, LinePlace, PlaceError, answers};
pub use sarif::sarif;
pub use speedscope::speedscope;
pub use stacks::COSTS;
pub use stop::stop_view;
pub(crate) use text::plain_name;
pub use text::{
    Shown, TextOptions, answers as answers_text, conflict_line, conflict_place, conflicts_in_short, fault_line, text,
};

use crate::profile::Profile;

/// The contract's JSON document, indented.
pub fn json(profile: &Profile) -> String {
    let mut text = serde_json::to_string_pretty(profile).expect("a profile has string keys and finite numbers");
    text.push('\n');
    text
}
