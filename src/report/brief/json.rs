//! Writes the brief as JSON with one line per field and per row, so that its length is limited like that of the
//! Markdown.

use serde_json::Value;

use super::document::brief;
use warpline_profile::Profile;

/// Returns the brief as JSON.
pub fn brief_json(profile: &Profile) -> String {
    let document = serde_json::to_value(brief(profile)).expect("only strings as keys");
    let fields = document.as_object().into_iter().flatten();
    let lines: Vec<String> =
        fields.map(|(name, value)| format!(" {}: {}", Value::from(&name[..]), rows(value))).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// Returns a list of objects with one line per object, and any other value in one line.
fn rows(value: &Value) -> String {
    match value.as_array().filter(|rows| rows.iter().any(Value::is_object)) {
        Some(rows) => {
            let lines: Vec<String> = rows.iter().map(|row| format!("  {row}")).collect();
            format!("[\n{}\n ]", lines.join(",\n"))
        }
        None => value.to_string(),
    }
}
