//! What the driver says.

use crate::error::DriverError;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Writes a line to standard error. Where that is closed nobody is left to tell, and no compilation fails for it.
pub fn line(text: impl Display) {
    _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes what was asked for to standard output. Who has read enough of it may close the pipe.
pub fn answer(text: impl Display) -> Result<(), DriverError> {
    let mut output = std::io::stdout().lock();
    match write!(output, "{text}").and_then(|()| output.flush()) {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe => Err(DriverError::writing("standard output")(cause)),
        _ => Ok(()),
    }
}
