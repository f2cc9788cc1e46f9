//! The small project in `tests/build-systems`, built as its users would: with make and with CMake.

mod support;

use std::path::Path;
use std::process::Command;
use support::{Driver, Ran};

/// Twice the sum of the whole numbers below 10000.
const ANSWER: &str = "99990000\n";

fn project(driver: &Driver) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/build-systems");
    for entry in std::fs::read_dir(source).unwrap().flatten().filter(|entry| entry.path().is_file()) {
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

/// A command that finds the pinned build systems, which `make test` fetches.
fn with_tools(driver: &Driver, program: &str) -> Command {
    let tools = warpline_toolchain::cache::folder().unwrap().join("build-systems");
    assert!(tools.is_dir(), "{} is missing: run scripts/setup.sh --tests", tools.display());
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = driver.command(program);
    command.env("PATH", format!("{}:{path}", tools.join("bin").display())).env("PYTHONPATH", &tools);
    command
}

#[test]
fn ninja_builds_and_the_compilation_database_names_warpline() {
    let driver = Driver::new();
    project(&driver);
    let mut configure = with_tools(&driver, "cmake");
    configure.args(["-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]);
    configure.arg(format!("-DCMAKE_CUDA_COMPILER={}", driver.path("warpline-nvcc").display()));
    run_cmake(&driver, &mut configure).succeeded();
    run_cmake(&driver, with_tools(&driver, "cmake").args(["--build", "build"])).succeeded();
    answers(&driver, &["build/vectors", "build/vectors-separate"]);
    let database = std::fs::read_to_string(driver.path("build/compile_commands.json")).unwrap();
    let fill = database.lines().filter(|line| line.contains("\"command\"") && line.contains("fill.cu")).count();
    assert!(fill >= 1 && database.contains("warpline-nvcc"), "{database}");
    // Nothing to do the second time: the dependency files are ones that Ninja understands.
    let again = driver.output(with_tools(&driver, "ninja").args(["-C", "build", "-n"])).succeeded();
    assert!(again.stdout.contains("no work to do"), "{}", again.stdout);
}

#[test]
fn meson_builds_with_a_native_file() {
    let driver = Driver::new();
    project(&driver);
    let toolkit = driver.run("warpline-cc", "--warpline-toolkit").succeeded().stdout;
    let binaries = format!("[binaries]\ncuda = '{}'\n", driver.path("warpline-nvcc").display());
    driver.write("warpline.ini", &binaries);
    let mut setup = with_tools(&driver, "python3");
    setup.args(["-m", "mesonbuild.mesonmain", "setup", "build", "--native-file", "warpline.ini"]);
    // Meson starts compilers that it finds itself through a compiler cache, whose server may outlive the test.
    let ran = driver.output(setup.env("CUDA_PATH", toolkit.trim()).env("CC", "cc").env("CXX", "c++"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    driver.output(with_tools(&driver, "ninja").args(["-C", "build"])).succeeded();
    answers(&driver, &["build/vectors"]);
}

#[test]
fn ccache_finds_what_was_compiled_before() {
    let driver = Driver::new();
    project(&driver);
    let ccache = |arguments: &[&str]| {
        let mut command = driver.command("ccache");
        command.args(arguments).env("CCACHE_DIR", driver.path("ccache"));
        match command.output() {
            Err(error) => panic!("ccache: {error}; `make test` installs it"),
            Ok(output) => Ran::from(output),
        }
    };
    let compiler = driver.path("warpline-nvcc");
    let compile = [compiler.to_str().unwrap(), "-O2", "-c", "fill.cu", "-o", "fill.o"];
    ccache(&compile).succeeded();
    let first = std::fs::read(driver.path("fill.o")).unwrap();
    std::fs::remove_file(driver.path("fill.o")).unwrap();
    ccache(&["--zero-stats"]).succeeded();
    ccache(&compile).succeeded();
    assert!(std::fs::read(driver.path("fill.o")).unwrap() == first, "the object is the same");
    let statistics = ccache(&["--print-stats"]).succeeded().stdout;
    let count = |name: &str| {
        let line = statistics.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().parse::<u64>().unwrap_or(0)
    };
    assert_eq!(
        (count("direct_cache_hit") + count("preprocessed_cache_hit"), count("cache_miss")),
        (1, 0),
        "{statistics}"
    );
}

#[test]
fn the_cmake_package_instruments_chosen_targets() {
    let driver = Driver::new();
    project(&driver);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let source = root.join("tests/build-systems/package/CMakeLists.txt");
    driver.write("package/CMakeLists.txt", &std::fs::read_to_string(source).unwrap());
    // As scripts/dist/shared.sh installs it. `warpline` is only named here.
    for file in ["WarplineConfig.cmake", "WarplineConfigVersion.cmake"] {
        let text = std::fs::read_to_string(root.join("cmake").join(file)).unwrap();
        driver.write(&format!("lib/cmake/Warpline/{file}"), &text.replace("@VERSION@", env!("CARGO_PKG_VERSION")));
    }
    driver.write("bin/warpline", "#!/bin/sh\necho \"$@\" >>\"$(dirname \"$0\")/calls\"\n");
    std::fs::set_permissions(driver.path("bin/warpline"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_warpline-cc"), driver.path("bin/warpline-cc")).unwrap();
    let mut configure = driver.command("cmake");
    configure.args(["-S", "package", "-B", "build", "-G", "Unix Makefiles", "-DCMAKE_CUDA_ARCHITECTURES=75"]);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", driver.folder.path().display()));
    // NVIDIA's own nvcc. The wheels have its libraries in a folder that it does not search.
    let toolkit = support::cuda();
    configure.arg(format!("-DCMAKE_CUDA_COMPILER={}", toolkit.join("bin/nvcc").display()));
    let libraries = toolkit.join("lib");
    configure.env("LIBRARY_PATH", &libraries);
    run_cmake(&driver, &mut configure).succeeded();
    let build = |target: &str| {
        let mut command = driver.command("cmake");
        command.args(["--build", "build", "--target", target]).env("LIBRARY_PATH", &libraries);
        run_cmake(&driver, &mut command).succeeded()
    };
    build("instrumented");
    // Without a GPU, only what is instrumented computes the answer.
    answers(&driver, &["build/instrumented"]);
    let commands = |target: &str| {
        std::fs::read_to_string(driver.path(&format!("build/CMakeFiles/{target}.dir/build.make"))).unwrap()
    };
    assert!(commands("instrumented").contains("--warpline-launcher"));
    assert!(!commands("plain").contains("warpline-cc"));
    build("plain");
    build("profile-instrumented");
    let calls = std::fs::read_to_string(driver.path("bin/calls")).unwrap();
    assert!(calls.contains("run --gpu a100 -o ") && calls.contains("instrumented.wlprof"), "{calls}");
}
