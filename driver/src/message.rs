//! What the driver says.

use std::fmt::Display;
use std::io::Write;

/// Writes a line to standard error. Where that is closed nobody is left to tell, and no compilation fails for it.
pub fn line(text: impl Display) {
    _ = writeln!(std::io::stderr(), "{text}");
}
