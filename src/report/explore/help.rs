//! The help page of the keys.

use crate::views::{Block, Fact, View};

/// Keys with their descriptions, in the order of the help page.
pub(super) const KEYS: [(&str, &str); 14] = [
    ("up, down", "move; also k and j, Page Up and Page Down, Home and End"),
    ("Enter", "go to what the row is about: a kernel, a line, an allocation, a finding, a call path"),
    ("Backspace", "go back; also Esc"),
    ("Tab", "next list; 1, 2, … choose one, Shift+Tab goes to the one before"),
    ("left, right", "choose a column; what its figures are stands at the bottom"),
    ("s", "sort by that column, highest first; again: lowest first"),
    ("r", "reverse the order"),
    ("/", "show only rows that have these words; an empty filter shows all"),
    ("Space", "open or close a node of the call paths"),
    ("*", "open or close all of them"),
    ("e", "open the editor ($VISUAL, or $EDITOR) at the line"),
    ("c", "what changed here, where two profiles were given"),
    ("?", "this page"),
    ("q", "leave; also Ctrl+C"),
];

/// Returns the page of the keys.
pub(super) fn view() -> View {
    let facts = KEYS.iter().map(|&(label, text)| Fact { label, text: text.to_owned(), target: None }).collect();
    View { title: "KEYS".to_owned(), place: None, blocks: vec![Block::Facts(facts)] }
}
