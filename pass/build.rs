//! Builds the C++ shim in `cpp/` against the LLVM that llvm-sys found, and the bitcode of the GPU hooks.

use std::path::Path;
use std::process::Command;

const FILES: [&str; 8] = [
    "cpp/clone.cpp",
    "cpp/debug_info.cpp",
    "cpp/diagnostics.cpp",
    "cpp/intrinsics.cpp",
    "cpp/listed.cpp",
    "cpp/local_arrays.cpp",
    "cpp/memory.cpp",
    "cpp/pipeline.cpp",
];

fn main() {
    println!("cargo:rerun-if-changed=cpp");
    // llvm-sys exports the path of its llvm-config, so that the shim and the bindings cannot disagree.
    let config = std::env::var("DEP_LLVM_22_CONFIG_PATH").unwrap_or_else(|_| "llvm-config-22".into());
    let include = query(&config, "--includedir");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").files(FILES).warnings(true);
    // LLVM's own headers are exempt from this project's warnings.
    build.flag("-isystem").flag(Path::new(&include)).define("__STDC_CONSTANT_MACROS", None);
    build.define("__STDC_LIMIT_MACROS", None).define("__STDC_FORMAT_MACROS", None);
    if query(&config, "--has-rtti") == "NO" {
        build.flag("-fno-rtti");
    }
    // No code in the shim is performance-critical; a debug build of LLVM's inline containers only costs time and space.
    build.opt_level(1).debug(false).compile("warpline_shim");
    device_runtime(Path::new(&query(&config, "--bindir")));
}

/// Compiles `runtime/device` with the clang that belongs to this LLVM; no CUDA toolkit is needed. The code for the
/// oldest architecture works for all: the pass removes the processor when it links the bitcode into a module.
fn device_runtime(programs: &Path) {
    let sources = Path::new("../runtime/device");
    println!("cargo:rerun-if-changed={}", sources.display());
    let target = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("hooks.bc");
    let clang = programs.join("clang");
    let arguments = "-x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -Xclang -target-feature \
                     -Xclang +ptx63 -std=c++17 -O1 -Wall -Wextra -emit-llvm -c";
    let mut command = Command::new(&clang);
    command.args(arguments.split_whitespace()).arg(sources.join("hooks.cu")).arg("-o").arg(&target);
    let status = command.status().unwrap_or_else(|error| {
        panic!("cannot run {}: {error}. Install the clang that belongs to LLVM 22 (`make setup`)", clang.display())
    });
    assert!(status.success(), "the GPU hooks do not compile: {command:?}");
}

fn query(config: &str, what: &str) -> String {
    let output = Command::new(config).arg(what).output().unwrap_or_else(|error| {
        panic!("cannot run {config}: {error}. Install LLVM 22's development files (`make setup`), or name its folder in LLVM_SYS_221_PREFIX")
    });
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
