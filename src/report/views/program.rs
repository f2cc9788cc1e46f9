//! View of the program: run, reliability, and findings.

use super::lists::findings;
use super::model::{Block, Fact, View};
use crate::text::{summary, verdict};
use crate::words::{Style, at, plain_name, short};
use warpline_profile::Profile;

/// Returns the view of the whole program: summary, findings and notes.
pub fn program(profile: &Profile) -> View {
    let fact = |label, text| Fact { label, text, target: None };
    let facts = vec![fact("program", summary(profile, Style { color: false })), fact("verdict", verdict(profile))];
    let mut blocks = vec![Block::Facts(facts)];
    let table = findings(profile);
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    let missing = profile.run.missing.iter().map(|row| fact("missing", row.reason.clone()));
    let notes = profile.run.notes.iter().map(|note| fact("note", note.clone()));
    let not_seen = profile.not_seen.iter().map(|entry| {
        let function = short(plain_name(&entry.function));
        fact("not seen", format!("{} in {function} at {}", entry.what, at(&entry.file, entry.line)))
    });
    let notes: Vec<Fact> = missing.chain(notes).chain(not_seen).collect();
    if !notes.is_empty() {
        blocks.push(Block::Facts(notes));
    }
    View { title: "FINDINGS".to_owned(), place: None, blocks }
}
