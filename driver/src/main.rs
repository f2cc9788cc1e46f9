//! `warpline-cc`: compiles CUDA programs as nvcc or clang++ would, with Warpline's hooks. See `docs/` and
//! `warpline-cc --help`.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap_or_default();
    match arguments.map(OsString::into_string).collect::<Result<Vec<_>, _>>() {
        Ok(arguments) => warpline_driver::main(&program.to_string_lossy(), &arguments),
        // clang writes names to debug information and site tables, which are text.
        Err(name) => {
            warpline_driver::message::line(format_args!(
                "warpline-cc: error: {name:?} is not UTF-8: warpline-cc takes such names only; rename the file"
            ));
            ExitCode::FAILURE
        }
    }
}
