//! Writes comparisons in several formats for people and programs.

mod estimates;
mod markdown;
pub(super) mod shown;
mod text;

pub use markdown::markdown;
pub(super) use shown::words;
pub use text::{DiffOptions, text};

use warpline_comparison::Diff;

/// Returns the JSON document, indented.
pub fn json(diff: &Diff) -> String {
    let mut text = serde_json::to_string_pretty(diff).expect("a comparison has string keys");
    text.push('\n');
    text
}
