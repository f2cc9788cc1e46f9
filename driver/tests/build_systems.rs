//! The small project in `tests/build-systems`, built as its users would: with make and with CMake.

mod support;

use std::path::Path;
use std::process::Command;
use support::{Driver, Ran};

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

/// Runs a cmake command.
fn run_cmake(driver: &Driver, command: &mut Command) -> Ran {
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            panic!("these tests need cmake: `make test` installs it, or apt-get install cmake")
        }
        _ => driver.output(command),
    }
}

/// Configures and builds the project with these definitions, in the dialect of `compiler`.
fn cmake(driver: &Driver, compiler: &str, more: &[String]) {
    project(driver);
    let mut configure = driver.command("cmake");
    configure.args(["-S", ".", "-B", "build", "-G", "Unix Makefiles"]).args(more);
    configure.arg(format!("-DCMAKE_CUDA_COMPILER={}", driver.path(compiler).display()));
    run_cmake(driver, &mut configure).succeeded();
    run_cmake(driver, driver.command("cmake").args(["--build", "build"])).succeeded();
}

/// The option that names the toolchain file of the look-alike toolkit.
fn toolchain(driver: &Driver) -> String {
    let toolkit = driver.run("warpline-cc", "--warpline-toolkit").succeeded().stdout;
    format!("-DCMAKE_TOOLCHAIN_FILE={}/warpline.cmake", toolkit.trim())
}

#[test]
fn cmake_builds_with_nvccs_dialect() {
    let driver = Driver::new();
    cmake(&driver, "warpline-nvcc", &[]);
    answers(&driver, &["build/vectors", "build/vectors-shared", "build/vectors-separate"]);
}

#[test]
fn cmake_builds_with_clangs_dialect() {
    let driver = Driver::new();
    let cxx = format!("-DCMAKE_CXX_COMPILER={}", driver.path("warpline-clang++").display());
    cmake(&driver, "warpline-clang++", &[toolchain(&driver), cxx]);
    answers(&driver, &["build/vectors", "build/vectors-shared", "build/vectors-separate"]);
}

#[test]
fn cmake_projects_without_cuda_sources_find_the_toolkit_and_read_what_it_lacks() {
    let driver = Driver::new();
    let project = |libraries: &str| {
        format!(
            "cmake_minimum_required(VERSION 3.20)\nproject(host LANGUAGES CXX)\nfind_package(CUDAToolkit REQUIRED)\n\
             add_executable(host main.cpp)\ntarget_link_libraries(host PRIVATE CUDA::cudart {libraries})\n"
        )
    };
    driver.write("CMakeLists.txt", &project(""));
    driver.write("main.cpp", "#include <cuda_runtime.h>\nint main() { int n; return cudaGetDeviceCount(&n); }\n");
    let configure = || {
        let mut command = driver.command("cmake");
        command.args(["-S", ".", "-B", "build", "-G", "Unix Makefiles"]).arg(toolchain(&driver));
        run_cmake(&driver, &mut command)
    };
    configure().succeeded();
    run_cmake(&driver, driver.command("cmake").args(["--build", "build"])).succeeded();
    driver.program("build/host").succeeded();
    driver.write("CMakeLists.txt", &project("$<LINK_ONLY:CUDA::cusparse>"));
    let Ran { stderr, .. } = configure();
    let stderr = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        stderr.contains("links CUDA::cusparse, a library of the CUDA toolkit that Warpline does not provide"),
        "{stderr}"
    );
}
