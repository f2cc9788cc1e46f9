//! Writes predictions as a table, CSV, JSON or a page.

mod csv;
mod html;
mod text;

pub use csv::csv;
pub use html::html;
pub use text::text;

use warpline_prediction::document::Document;

/// Returns the document as JSON.
pub fn json(document: &Document) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("plain data always encodes");
    text.push('\n');
    text
}
