//! The small project in `tests/build-systems`, built as its users would: with make and with CMake.

mod support;

use std::path::Path;
use std::process::Command;
use support::Driver;

/// Twice the sum of the whole numbers below 10000.
const ANSWER: &str = "99990000\n";

fn project(driver: &Driver) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/build-systems");
    for entry in std::fs::read_dir(source).unwrap().flatten() {
        std::fs::copy(entry.path(), driver.path(entry.file_name().to_str().unwrap())).unwrap();
    }
}

#[track_caller]
fn answers(driver: &Driver, programs: &[&str]) {
    for name in programs {
        let ran = driver.program(name).succeeded();
        assert_eq!(ran.stdout, ANSWER, "{name}");
    }
}

#[test]
fn make_builds_with_both_compilers_replaced() {
    let driver = Driver::new();
    project(&driver);
    let mut make = driver.command("make");
    let variables = [("CXX", "warpline-clang++"), ("NVCC", "warpline-nvcc")];
    make.args(variables.map(|(name, program)| format!("{name}={}", driver.path(program).display())));
    driver.output(&mut make).succeeded();
    answers(&driver, &["vectors", "vectors-separate", "vectors-host-linked"]);
    // The dependency file is one that make can live with: nothing in it lies in a cache.
    let dependencies = std::fs::read_to_string(driver.path("fill.d")).unwrap();
    assert_eq!(dependencies.split_whitespace().collect::<Vec<_>>(), ["fill.o:", "fill.cu", "check.h", "vectors.h"]);
    // Nothing to do the second time.
    let again = driver.output(make.arg("-q"));
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
}

#[test]
fn make_builds_with_a_plain_host_compiler_and_a_toolkit_folder() {
    let driver = Driver::new();
    project(&driver);
    let toolkit = driver.run("warpline-cc", "--warpline-toolkit").succeeded().stdout;
    let toolkit = toolkit.trim();
    let mut make = driver.command("make");
    make.args(["CXX=g++".to_string(), format!("CUDA_PATH={toolkit}"), format!("NVCC={toolkit}/bin/nvcc")]);
    driver.output(&mut make).succeeded();
    answers(&driver, &["vectors", "vectors-separate", "vectors-host-linked"]);
}

/// Configures and builds; the host compiler stays the system's unless `cxx` names another.
fn cmake(driver: &Driver, compiler: &str, cxx: Option<&str>) {
    project(driver);
    let run = |command: &mut Command| match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            panic!("these tests need cmake: `make test` installs it, or apt-get install cmake")
        }
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        }
    };
    let mut configure = driver.command("cmake");
    configure.args(["-S", ".", "-B", "build", "-G", "Unix Makefiles"]);
    configure.arg(format!("-DCMAKE_CUDA_COMPILER={}", driver.path(compiler).display()));
    if let Some(cxx) = cxx {
        let toolkit = driver.run("warpline-cc", "--warpline-toolkit").succeeded().stdout;
        configure.arg(format!("-DCMAKE_CXX_COMPILER={}", driver.path(cxx).display()));
        configure.env("CUDA_PATH", toolkit.trim());
    }
    run(&mut configure);
    run(driver.command("cmake").args(["--build", "build"]));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn cmake_builds_with_nvccs_dialect() {
    let driver = Driver::new();
    cmake(&driver, "warpline-nvcc", None);
    answers(&driver, &["build/vectors", "build/vectors-shared", "build/vectors-separate"]);
}

#[test]
fn cmake_builds_with_clangs_dialect() {
    let driver = Driver::new();
    cmake(&driver, "warpline-clang++", Some("warpline-clang++"));
    answers(&driver, &["build/vectors", "build/vectors-shared"]);
}
