//! Builds a program with `warpline-cc`, records a trace, and compares what the analysis prints with a count by hand.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `$WARPLINE_CC`, or the `warpline-cc` in the folder of this test's programs.
fn compiler() -> OsString {
    let beside = Path::new(env!("CARGO_BIN_EXE_custom-analysis")).with_file_name("warpline-cc");
    std::env::var_os("WARPLINE_CC").unwrap_or_else(|| beside.into())
}

fn succeeded(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn loads_that_a_warp_repeats_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/counts.cu");
    let program = folder.path().join("counts");
    // Without unrolling, the load is one instruction.
    succeeded(Command::new(compiler()).args(["-O3", "-g", "-fno-unroll-loops", "-o"]).arg(&program).arg(source));
    let trace = folder.path().join("counts.wltrace");
    succeeded(Command::new(&program).env("WARPLINE_TRACE", &trace));
    let output = succeeded(Command::new(env!("CARGO_BIN_EXE_custom-analysis")).arg(&trace));
    // 8 blocks of 2 warps, 16 iterations each: all but the first load of each warp are repeated.
    let expected = "scale(float*, float const*, int)\tline 8\t256 loads\t240 repeated\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
