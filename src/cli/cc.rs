//! `warpline cc`: runs `warpline-cc`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::cli::Failure;
use crate::cli::args::CcArguments;
use crate::exit_code;

/// Name of the compiler's executable.
pub(super) const COMPILER: &str = "warpline-cc";

/// Finds the compiler in the folder of this executable, or on the search path.
pub(super) fn compiler() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|here| {
        let here = here.canonicalize().unwrap_or(here);
        Some(here.parent()?.join(COMPILER))
    });
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(COMPILER))
}

pub(super) fn missing(error: &std::io::Error) -> Failure {
    let what = "cannot start warpline-cc, which has to be in the folder of `warpline` or on the search path";
    Failure::new(exit_code::TOOLCHAIN, format!("{what}: {error}"))
}

/// Replaces this process by the compiler, so that its messages and exit code are returned unchanged.
pub(super) fn execute(arguments: &CcArguments) -> Result<u8, Failure> {
    let all: &[OsString] = &arguments.arguments;
    Err(missing(&Command::new(compiler()).args(all).exec()))
}
