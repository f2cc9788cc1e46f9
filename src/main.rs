//! The `warpline` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpline::cli::main()
}
