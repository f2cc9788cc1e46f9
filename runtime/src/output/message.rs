//! What the runtime says to the user, on standard error.

use std::io::Write;
use warpline_format::visible;

/// One line or more, marked as ours. Written in one piece, and silently dropped where standard error is closed.
pub fn note(text: &str) {
    let _ = std::io::stderr().write_all(format!("warpline: {}\n", visible::message(text)).as_bytes());
}

/// Text as it is, for messages whose form is CUDA's.
pub fn raw(text: &str) {
    let _ = std::io::stderr().write_all(visible::message(text).as_bytes());
}
