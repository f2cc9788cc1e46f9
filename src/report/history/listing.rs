//! Writes the list of recordings as a table, as CSV and as JSON.

use crate::formats::quoted;
use warpline_comparison::history::{Recording, Recordings};

/// Returns one line per recording, in columns.
pub fn listing_text(recordings: &Recordings) -> String {
    let row = |one: &Recording| {
        let commit = one.commit.as_deref().unwrap_or(&one.record);
        let incomplete = if one.complete { "" } else { " (incomplete)" };
        [
            one.date.get(..10).unwrap_or_default().to_owned(),
            commit.get(..10).unwrap_or(commit).to_owned(),
            one.branch.clone().unwrap_or_default(),
            one.models.join(","),
            format!("{}{incomplete}", one.name),
        ]
    };
    let head = ["date", "commit", "branch", "models", "name"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(recordings.recordings.iter().map(row)).collect();
    let mut out = String::new();
    for row in &rows {
        let cell = |(column, text): (usize, &String)| {
            let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
            format!("{text:width$}")
        };
        let line: Vec<String> = row.iter().enumerate().map(cell).collect();
        out.push_str(line.join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// Returns the table with all data.
pub fn listing_csv(recordings: &Recordings) -> String {
    let mut out = String::from("record,name,commit,date,branch,models,compiler,complete,file\n");
    for one in &recordings.recordings {
        let models = one.models.join(",");
        let cells = [
            one.record.as_str(),
            &one.name,
            one.commit.as_deref().unwrap_or_default(),
            &one.date,
            one.branch.as_deref().unwrap_or_default(),
            &models,
            one.compiler.as_deref().unwrap_or_default(),
            if one.complete { "yes" } else { "no" },
            one.file.as_deref().unwrap_or_default(),
        ];
        out.push_str(&cells.map(quoted).join(","));
        out.push('\n');
    }
    out
}

/// Returns the document, indented.
pub fn listing_json(recordings: &Recordings) -> String {
    let mut text = serde_json::to_string_pretty(recordings).expect("a listing has string keys");
    text.push('\n');
    text
}
