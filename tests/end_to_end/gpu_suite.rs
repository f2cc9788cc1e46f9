//! The parts of the GPU suite (`tests/gpu`) that need no GPU.

use std::path::Path;
use std::process::Command;

#[test]
fn the_suite_s_own_tests_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu");
    let mut python = Command::new("python3");
    python.args(["-B", "-m", "unittest", "-q", "test_suite"]).current_dir(folder);
    let output = python.output().expect("python3 is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
