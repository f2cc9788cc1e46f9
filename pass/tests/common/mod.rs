//! Compiles test sources with the clang that the pass goes with, and checks text with LLVM's FileCheck.

pub mod lowering;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which half of a CUDA source.
#[derive(Clone, Copy, PartialEq)]
pub enum Side {
    /// Device code.
    Device,
    /// Host code.
    Host,
}

/// Unoptimised bitcode of a test source, without a CUDA toolkit: the sources include `cuda.h` of this folder.
pub fn compile(source: &Path, side: Side, flags: &[&str]) -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common");
    let mut clang = Command::new("clang-22");
    clang.args(["-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_75", "-O2", "-g", "-emit-llvm", "-c"]);
    clang.args(["-Xclang", "-disable-llvm-passes", "-Xclang", "-target-sdk-version=12.9", "-Wno-unknown-cuda-version"]);
    match side {
        Side::Device => {
            clang.args(["--cuda-device-only", "--cuda-feature=+ptx63", "-Xclang", "-debug-info-kind=limited"])
        }
        Side::Host => clang.args(["--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang"]).arg(source),
    };
    clang.args(flags).arg("-I").arg(here).arg(source).args(["-o", "-"]);
    let output = clang.output().expect("clang-22 is installed (`make setup`)");
    assert!(output.status.success(), "{}:\n{}", source.display(), String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Extra flags that a test source sets in a line `// FLAGS: …`.
pub fn flags(source: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(source).expect("test source");
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("// FLAGS:"))
        .flat_map(|rest| rest.split_whitespace().map(String::from))
        .collect()
}

/// Value of a line `// NAME: value`.
pub fn setting(source: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(source).expect("test source");
    let prefix = format!("// {name}:");
    text.lines().find_map(|line| line.trim().strip_prefix(&prefix).map(|rest| rest.trim().to_owned()))
}

/// FileCheck's errors about the text, or nothing.
pub fn filecheck(source: &Path, text: &str) -> Result<(), String> {
    let mut child = Command::new("FileCheck-22")
        .arg(source)
        .args(["--dump-input=fail", "--enable-var-scope", "--color=false"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("FileCheck-22 is installed (llvm-22-tools)");
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("FileCheck reads");
    let output = child.wait_with_output().expect("FileCheck ends");
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}:\n{}", source.display(), String::from_utf8_lossy(&output.stderr)))
}

/// IR text without debug records and metadata nodes, which stand between the lines that the tests match.
pub fn without_debug_records(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("#dbg_") && !line.starts_with('!')).fold(
        String::new(),
        |mut kept, line| {
            kept.push_str(line);
            kept.push('\n');
            kept
        },
    )
}

/// The `.cu` files of a folder of `tests`, sorted.
pub fn sources(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut found: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no tests in {}", folder.display());
    found
}

/// Runs a check on each source and reports all that fail.
pub fn each(folder: &str, check: impl Fn(&Path) -> Result<(), String>) {
    let failures: Vec<_> = sources(folder).iter().filter_map(|source| check(source).err()).collect();
    assert!(failures.is_empty(), "{} failed\n{}", failures.len(), failures.join("\n"));
}
