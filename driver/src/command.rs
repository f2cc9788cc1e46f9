//! Programs that the driver starts.

use crate::options::response::quote;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::OnceLock;
use warpline_format::visible;
use warpline_toolchain::interrupt;

/// The folder for the temporary files of the programs.
static TEMPORARY: OnceLock<PathBuf> = OnceLock::new();

/// Makes the programs put their temporary files into a folder that is removed when the driver ends, for any reason.
pub fn keep_temporary_files_in(folder: &Path) {
    _ = TEMPORARY.set(folder.to_owned());
}

/// A program with its arguments.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// A program could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {}: {cause}", .program.display())]
pub struct StartError {
    program: PathBuf,
    cause: std::io::Error,
}

/// The result of a program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; 128 + n for a signal.
    pub code: i32,
    /// Its standard error, unchanged.
    pub diagnostics: Vec<u8>,
}

impl Finished {
    /// Prints the diagnostics.
    pub fn report(&self) {
        self.report_of("");
    }

    /// The variant of [`Self::report`] for a source, whose name is escaped if it would control a terminal.
    pub fn report_of(&self, source: &str) {
        let text = String::from_utf8_lossy(&self.diagnostics);
        let shown = visible::with_names(&text, [source]);
        // If standard error is closed, the message cannot be reported.
        let _ = std::io::stderr().write_all(if shown == text { &self.diagnostics } else { shown.as_bytes() });
    }
}

impl Command {
    /// Creates a command without arguments.
    pub fn new(program: impl AsRef<Path>) -> Command {
        Command { program: program.as_ref().into(), arguments: Vec::new() }
    }

    /// Adds arguments.
    pub fn args<I: IntoIterator<Item: Into<String>>>(mut self, arguments: I) -> Command {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Adds a path.
    pub fn path(mut self, path: &Path) -> Command {
        self.arguments.push(path.display().to_string());
        self
    }

    /// Returns the command as a line for a shell.
    pub fn line(&self) -> String {
        let program = quote(&self.program.display().to_string());
        std::iter::once(program).chain(self.arguments.iter().map(|word| quote(word))).collect::<Vec<_>>().join(" ")
    }

    fn build(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(self.arguments.iter().map(OsString::from));
        TEMPORARY.get().into_iter().for_each(|folder| _ = command.env("TMPDIR", folder));
        interrupt::ends_with_us(&mut command);
        command
    }

    /// Runs the command with the driver's own streams. Returns the exit code.
    pub fn run(&self) -> Result<i32, StartError> {
        let status = self.build().status().map_err(|cause| self.failed(cause))?;
        Ok(code(status))
    }

    /// Runs the command and keeps its diagnostics, with the colours of output to the driver's own standard error.
    pub fn capture(&self) -> Result<Finished, StartError> {
        let mut command = self.build();
        if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
            command.arg("-fcolor-diagnostics");
        }
        let output = command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::piped());
        let Output { status, stderr, .. } =
            output.spawn().and_then(|child| child.wait_with_output()).map_err(|cause| self.failed(cause))?;
        Ok(Finished { code: code(status), diagnostics: stderr })
    }

    fn failed(&self, cause: std::io::Error) -> StartError {
        StartError { program: self.program.clone(), cause }
    }
}

fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
