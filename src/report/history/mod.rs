//! Writes figures over commits as a chart for terminals, a table, a picture and a page.

mod csv;
mod listing;
mod picture;
mod text;

pub use csv::csv;
pub use listing::{listing_csv, listing_json, listing_text};
pub use picture::{html, svg};
pub use text::text;

use crate::plain_name;
use warpline_comparison::document::Value;
use warpline_comparison::history::{History, Point, Series};
use warpline_comparison::{Better, better};

/// Returns the document, indented.
pub fn json(history: &History) -> String {
    let mut text = serde_json::to_string_pretty(history).expect("a history has string keys");
    text.push('\n');
    text
}

/// Returns the title of a series.
fn title(history: &History, series: &Series) -> String {
    let what = series.kernel.as_deref().map_or("the program", plain_name);
    format!("{} of {what} in {} ({})", history.metric, series.name, series.model)
}

/// Returns the abbreviated commit of a point.
fn commit(point: &Point) -> &str {
    let text = point.commit.as_deref().unwrap_or(&point.record);
    text.get(..10).unwrap_or(text)
}

/// Describes a change, and returns whether it is an improvement.
fn change(metric: &str, before: Option<Value>, after: Option<Value>) -> (String, Option<bool>) {
    let (Some(one), Some(other)) = (before.map(Value::number), after.map(Value::number)) else {
        return (if after.is_some() { "new" } else { "gone" }.to_owned(), None);
    };
    let good = match better(metric) {
        Better::Less => Some(other < one),
        Better::More => Some(other > one),
        Better::Neither => None,
    };
    let text = if one == 0.0 { "from none".to_owned() } else { format!("{:+.1} %", 100.0 * (other - one) / one) };
    (text, good)
}
