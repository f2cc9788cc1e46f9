//! `warpline doctor`.

use crate::cli::{Failure, output};
use crate::exit_code;

pub(super) fn execute() -> Result<u8, Failure> {
    let report = warpline_toolchain::doctor::examine();
    output::print(report.to_string().as_bytes())?;
    Ok(if report.can_compile() { exit_code::OK } else { exit_code::TOOLCHAIN })
}
