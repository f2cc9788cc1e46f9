//! `warpline-cc`: compiles CUDA programs as nvcc or clang++ would, with Warpline's hooks. See `docs/` and
//! `warpline-cc --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let program = arguments.next().unwrap_or_default();
    warpline_driver::main(&program, &arguments.collect::<Vec<_>>())
}
