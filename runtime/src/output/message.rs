//! Messages of the runtime to the user, on standard error.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use warpline_format::visible;

/// Writes one or more lines, marked as messages of Warpline. They are written in one call, and silently dropped if
/// standard error is closed.
pub fn note(text: &str) {
    let _ = std::io::stderr().write_all(format!("warpline: {}\n", visible::message(text)).as_bytes());
}

/// Writes a message only once per program.
pub fn note_once(text: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone());
    if is_new {
        note(&text);
    }
}

/// Writes text unchanged, for messages that have CUDA's form.
pub fn raw(text: &str) {
    let _ = std::io::stderr().write_all(visible::message(text).as_bytes());
}
