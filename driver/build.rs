//! Builds the runtime library that `warpline-cc` contains, and stores the position of LLVM's library.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names a runtime library that is already built, for packagers who build the parts separately.
const PREBUILT: &str = "WARPLINE_PREBUILT_RUNTIME";

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.parent().expect("the driver is a folder of the workspace").to_path_buf();
    for watched in ["runtime", "format", "Cargo.toml", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={}", root.join(watched).display());
    }
    println!("cargo:rerun-if-changed=include");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PREBUILT}");
    let library = std::env::var_os(PREBUILT).map_or_else(|| build_runtime(&root), PathBuf::from);
    println!("cargo:rustc-env=WARPLINE_RUNTIME_LIBRARY={}", library.display());
    link_llvm_by_its_place(&root);
}

/// The runtime needs its own profile (it aborts on panic, and it is always optimised), and cargo cannot select a
/// dependency's profile. Therefore, a second cargo builds it, in a separate target folder, because the outer cargo
/// holds the lock of its folder.
fn build_runtime(root: &Path) -> PathBuf {
    let target = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("runtime");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["rustc", "-p", "warpline-runtime", "--lib", "--profile", "runtime", "--locked"])
        .args(["--crate-type", "staticlib"])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(root);
    // The outer build's variables must not reach the inner one.
    for variable in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET"] {
        command.env_remove(variable);
    }
    let status = command.status().unwrap_or_else(|error| panic!("cannot start cargo for the runtime: {error}"));
    assert!(status.success(), "building the runtime library failed ({status}); its errors stand above");
    let library = target.join("runtime/libwarpline_runtime.a");
    assert!(library.is_file(), "cargo made no {}", library.display());
    without_debug_information(library)
}

/// Debug information of the runtime and of Rust's own library would be two thirds of a small program, and every
/// instrumented executable would contain it.
fn without_debug_information(library: PathBuf) -> PathBuf {
    let stripped = library.with_file_name("libwarpline_runtime_stripped.a");
    let done = Command::new("objcopy").arg("--strip-debug").arg(&library).arg(&stripped).status();
    match done {
        Ok(status) if status.success() => stripped,
        other => {
            println!(
                "cargo:warning=objcopy (binutils) cannot strip the runtime library, programs will be larger: {other:?}"
            );
            library
        }
    }
}

/// The folder of an LLVM that is not on `PATH`; llvm-sys uses it as well.
const PREFIX: &str = "LLVM_SYS_221_PREFIX";

/// Lets `warpline-cc` find libLLVM in the folder that `llvm-config` prints, if the system does not search it.
fn link_llvm_by_its_place(root: &Path) {
    println!("cargo:rerun-if-changed={}", root.join("scripts/llvm-version").display());
    let major = std::fs::read_to_string(root.join("scripts/llvm-version")).unwrap_or_default();
    println!("cargo:rerun-if-env-changed={PREFIX}");
    let program = match std::env::var_os(PREFIX) {
        Some(prefix) => Path::new(&prefix).join("bin/llvm-config"),
        None => format!("llvm-config-{}", major.trim()).into(),
    };
    let folder = Command::new(program).arg("--libdir").output().ok().filter(|output| output.status.success());
    if let Some(folder) = folder {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{}", String::from_utf8_lossy(&folder.stdout).trim());
    }
}
