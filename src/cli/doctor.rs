//! `warpline doctor` and `warpline setup`.

use warpline_toolchain::{cuda, fetch};

use crate::cli::args::SetupArguments;
use crate::cli::{Failure, output};
use crate::exit_code;

pub(super) fn execute() -> Result<u8, Failure> {
    let report = warpline_toolchain::doctor::examine();
    output::print(report.to_string().as_bytes())?;
    Ok(if report.can_compile() { exit_code::OK } else { exit_code::TOOLCHAIN })
}

/// Fetches the toolkit parts unless there is a toolkit, then reports what is installed.
pub(super) fn setup(arguments: &SetupArguments) -> Result<u8, Failure> {
    if cuda::find(None).is_err() {
        fetch::fetch(arguments.wheels.as_deref(), |text| output::say(format_args!("{text}")))
            .map_err(|error| Failure::new(exit_code::TOOLCHAIN, error))?;
    }
    execute()
}
