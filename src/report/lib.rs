//! Reports of a profile: text, brief, Markdown, HTML, other tools' formats, and the terminal session [`explore`].

mod answers;
mod brief;
mod comparison;
pub mod explore;
mod filter;
mod finding_text;
mod formats;
mod gate;
mod history;
mod html;
mod live;
mod markdown;
mod prediction;
mod question;
mod rows;
mod stop;
mod text;
mod trust;
mod unmatched;
pub mod views;
mod words;

pub use answers::answers as answers_text;
pub use brief::{
    Brief, BriefFinding, BriefGain, BriefKernel, Value, brief, brief_findings, brief_json, brief_markdown,
};
pub use comparison::{DiffOptions, json as diff_json, markdown as diff_markdown, text as diff_text};
pub use filter::{Filter, Named, allocations_named, apply};
pub use formats::{COSTS, callgrind, csv, folded, hatchet, perfetto, pprof, sarif, speedscope, tables};
pub use gate::{
    benchmark as gate_benchmark, json as gate_json, markdown as gate_markdown, sarif as gate_sarif, text as gate_text,
};
pub use history::{
    csv as history_csv, html as history_html, json as history_json, listing_csv, listing_json, listing_text,
    svg as history_svg, text as history_text,
};
pub use html::{diff_html, html};
pub use live::live_text;
pub use markdown::markdown;
pub use prediction::{
    csv as prediction_csv, html as prediction_html, json as prediction_json, text as prediction_text,
};
pub use question::{FindingChoice, LinePlace, PlaceError, answers};
pub use stop::stop_view;
pub use text::{Shown, TextOptions, conflict_line, conflict_place, conflicts_in_short, fault_line, text};
pub use unmatched::unmatched;
pub(crate) use words::plain_name;

use serde::Serialize;
use warpline_profile::Profile;
use warpline_profile::trust::Trust;

/// The profile together with derived data.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    profile: &'a Profile,
    trust: Trust,
}

/// Returns the JSON document, indented.
pub fn json(profile: &Profile) -> String {
    let document = Document { profile, trust: warpline_profile::trust::trust(profile) };
    let mut text = serde_json::to_string_pretty(&document).expect("a profile has string keys and finite numbers");
    text.push('\n');
    text
}
