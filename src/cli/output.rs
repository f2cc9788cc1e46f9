//! Writes to standard output, files and terminals.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::OnceLock;

use warpline_format::visible;

use crate::cli::Failure;
use crate::cli::args::ColorChoice;
use crate::exit_code;

/// Whether to use colours.
#[derive(Clone, Copy, Debug)]
pub struct Color {
    /// Whether to use colours on standard output.
    pub stdout: bool,
}

impl Color {
    /// Creates a `Color` from the option and the environment (`NO_COLOR`, `CLICOLOR_FORCE`, `TERM=dumb`).
    pub fn new(choice: ColorChoice) -> Color {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match choice {
            ColorChoice::Always => Color { stdout: true },
            ColorChoice::Never => Color { stdout: false },
            ColorChoice::Auto if set("NO_COLOR") => Color { stdout: false },
            ColorChoice::Auto if set("CLICOLOR_FORCE") => Color { stdout: true },
            ColorChoice::Auto => {
                let able = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
                Color { stdout: able && std::io::stdout().is_terminal() }
            }
        }
    }
}

/// The rank of this process, if it belongs to a job. Messages contain it.
static RANK: OnceLock<u32> = OnceLock::new();

/// Adds a rank to all further messages, because launchers mix the output of their processes.
pub(super) fn speak_for_rank(index: u32) {
    RANK.get_or_init(|| index);
}

/// Escapes line ends in the parts of a message that the user typed, such as names of files.
pub(super) fn written_out(text: &str) -> String {
    let folder = std::env::current_dir().ok().map(OsString::from);
    let typed: Vec<String> =
        std::env::args_os().chain(folder).map(|word| word.to_string_lossy().into_owned()).collect();
    // Values in `--option=NAME` are included.
    let values = typed.iter().filter_map(|word| word.split_once('=')).map(|(_, value)| value);
    visible::message_with(text, typed.iter().map(String::as_str).chain(values))
}

/// Prints a message on standard error.
pub(super) fn say(text: impl std::fmt::Display) {
    let text = text.to_string();
    let text = written_out(&text);
    match RANK.get() {
        // The message is written with one call, so that lines of several ranks are not mixed.
        Some(rank) => {
            let lines: String = text.lines().map(|line| format!("warpline: rank {rank}: {line}\n")).collect();
            _ = std::io::stderr().lock().write_all(lines.as_bytes());
        }
        // If standard error is closed, the message is lost.
        None => _ = writeln!(std::io::stderr(), "warpline: {text}"),
    }
}

/// Writes to standard output. A closed output is not an error.
pub(super) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(exit_code::UNEXPECTED, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Refuses to overwrite an input file, also if it is given by another path.
pub(super) fn refuse_same(needed: &Path, output: &Path) -> Result<(), Failure> {
    let same = match (needed.canonicalize(), output.canonicalize()) {
        (Ok(one), Ok(other)) => one == other && one.is_file(),
        // A file that does not exist yet has no other relevant paths.
        _ => needed == output,
    };
    if !same {
        return Ok(());
    }
    let message = format!("{}: would be written over; give --output another name", needed.display());
    Err(Failure::new(exit_code::USAGE, message))
}

/// Refuses to write a page or binary data to a terminal, unless the output's name is `-`. `input` determines the file
/// name that the message proposes.
pub(super) fn refuse_terminal(output: Option<&Path>, input: &Path, extension: &str) -> Result<(), Failure> {
    if output.is_some() || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    let name = input.with_extension(extension);
    let name = name.file_name().map(Path::new).unwrap_or(&name).display();
    let message =
        format!("this format is not for a terminal; write it to a file: -o {name} (or -o - to show it all the same)");
    Err(Failure::new(exit_code::USAGE, message))
}

/// Writes to a file (under a temporary name that is then renamed), or to standard output for `-` or no name.
pub(super) fn write(bytes: &[u8], to: Option<&Path>) -> Result<(), Failure> {
    match to {
        None => print(bytes),
        Some(path) if path.as_os_str() == "-" => print(bytes),
        Some(path) => warpline_profile::file::write_bytes(bytes, path)
            .map_err(|error| Failure::new(exit_code::UNEXPECTED, format!("{}: cannot write: {error}", path.display()))),
    }
}
