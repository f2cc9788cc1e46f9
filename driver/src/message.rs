//! Messages of the driver.

use crate::error::DriverError;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Writes a line to standard error. If that is closed, the line is lost and the compilation does not fail.
pub fn line(text: impl Display) {
    _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes a requested text to standard output. The reader may close the pipe early.
pub fn answer(text: impl Display) -> Result<(), DriverError> {
    let mut output = std::io::stdout().lock();
    match write!(output, "{text}").and_then(|()| output.flush()) {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe => Err(DriverError::writing("standard output")(cause)),
        _ => Ok(()),
    }
}
