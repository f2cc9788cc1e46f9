//! Messages of the runtime to the user, on standard error.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use warpline_format::visible;

/// One line or more, marked as ours. Written in one piece, and silently dropped where standard error is closed.
pub fn note(text: &str) {
    let _ = std::io::stderr().write_all(format!("warpline: {}\n", visible::message(text)).as_bytes());
}

/// The same, for what is worth saying once in a program.
pub fn note_once(text: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone());
    if is_new {
        note(&text);
    }
}

/// Text as it is, for messages whose form is CUDA's.
pub fn raw(text: &str) {
    let _ = std::io::stderr().write_all(visible::message(text).as_bytes());
}
