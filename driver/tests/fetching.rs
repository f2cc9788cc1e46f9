//! The toolkit parts that `warpline-cc` fetches where there is no toolkit, with a stand-in for Python.

mod support;

use std::process::Command;
use support::{Driver, Ran, cuda};
use warpline_toolchain::cuda::{Origin, find};

/// A program that stands in for Python with pip: it makes a folder that looks like the wheels, slowly, and notes each
/// call.
fn python(driver: &Driver, outcome: &str) {
    let script = format!(
        "#!/bin/sh\n[ \"$3\" = --version ] && exit 0\nprintf '%s\\n' \"$*\" >>{0}/calls\nsleep 0.3\n\
         while [ $# -gt 0 ]; do [ \"$1\" = --target ] && target=$2; [ \"$1\" = --log ] && log=$2; shift; done\n{outcome}\n",
        driver.folder.path().display()
    );
    driver.write("path/python3", &script);
    std::fs::set_permissions(driver.path("path/python3"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// A compilation on a machine without a toolkit and with an empty cache. `None` where one is installed.
fn compilation(driver: &Driver, number: u32) -> Option<Command> {
    if find(None).is_ok_and(|cuda| cuda.origin == Origin::Installed) {
        return None;
    }
    driver.write("a.cu", "__global__ void k(int *p) { *p = 1; }\nint main() {}\n");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = driver.command(driver.path("warpline-nvcc"));
    command.args(["-c", "a.cu", "-o", &format!("{number}.o")]);
    command.env_remove("CUDA_PATH").env_remove("CUDA_HOME").env("XDG_CACHE_HOME", driver.path("cache"));
    command.env("PATH", format!("{}:{path}", driver.path("path").display()));
    Some(command)
}

#[test]
fn parallel_compilations_fetch_the_parts_once() {
    let driver = Driver::new();
    python(&driver, &format!("mkdir -p $target/nvidia && ln -s {} $target/nvidia/cu13", cuda().display()));
    let started = (0..3)
        .filter_map(|number| compilation(&driver, number))
        .map(|mut command| command.stderr(std::process::Stdio::piped()).spawn().unwrap());
    let mut notes = String::new();
    for child in started.collect::<Vec<_>>() {
        notes += &Ran::from(child.wait_with_output().unwrap()).succeeded().stderr;
    }
    let Ok(calls) = std::fs::read_to_string(driver.path("calls")) else { return };
    assert_eq!(calls.lines().count(), 1, "{calls}");
    assert!(calls.contains("--require-hashes") && calls.contains("--no-deps"), "{calls}");
    assert_eq!(notes.matches("fetching NVIDIA's headers").count(), 1, "{notes}");
    assert!(notes.contains("CUDA EULA") && notes.contains("WARPLINE_OFFLINE=1"), "{notes}");
    let left: Vec<_> = std::fs::read_dir(driver.path("cache/warpline")).unwrap().flatten().collect();
    assert!(!left.iter().any(|entry| entry.file_name().to_string_lossy().contains("partial")), "{left:?}");
}

#[test]
fn what_cannot_be_fetched_is_an_error_with_instructions() {
    let driver = Driver::new();
    python(&driver, "mkdir -p $target");
    let Some(mut command) = compilation(&driver, 0) else { return };
    let Ran { code, stderr, .. } = driver.output(&mut command);
    assert_eq!(code, 6, "{stderr}");
    assert!(stderr.contains("installed have no include/cuda_runtime.h"), "{stderr}");
    assert!(stderr.contains("pip download") && stderr.contains("warpline setup --wheels"), "{stderr}");
    assert!(!driver.path("cache/warpline/cuda-13.0").exists());
}

#[test]
fn nothing_is_fetched_where_that_is_forbidden() {
    let driver = Driver::new();
    python(&driver, "exit 0");
    let Some(mut command) = compilation(&driver, 0) else { return };
    let Ran { code, stderr, .. } = driver.output(command.env("WARPLINE_OFFLINE", "1"));
    assert_eq!(code, 6, "{stderr}");
    assert!(stderr.contains("not found (searched: CUDA_PATH") && stderr.contains("unset WARPLINE_OFFLINE"), "{stderr}");
    assert!(stderr.contains("warpline setup --wheels") && !stderr.contains("`warpline setup`"), "{stderr}");
    assert!(!driver.path("calls").exists());
}

#[test]
fn a_machine_without_a_network_gets_one_sentence_soon() {
    let driver = Driver::new();
    let log = "Could not fetch URL https://index.test/simple/x/: [Errno -2] Name or service not known - skipping";
    python(&driver, &format!("echo '{log}' >$log; echo 'ERROR: No matching distribution found' >&2; exit 1"));
    let Some(mut command) = compilation(&driver, 0) else { return };
    let started = std::time::Instant::now();
    let Ran { code, stderr, .. } = driver.output(&mut command);
    assert_eq!(code, 6, "{stderr}");
    assert!(started.elapsed().as_secs() < 25, "{:?}", started.elapsed());
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    assert!(stderr.contains("no connection to index.test (Name or service not known)"), "{stderr}");
    assert!(stderr.contains("pip download") && !stderr.contains("does not work"), "{stderr}");
    let calls = std::fs::read_to_string(driver.path("calls")).unwrap();
    assert!(calls.lines().all(|call| call.contains("--retries 0")), "{calls}");
}

#[test]
fn a_mirror_that_fails_for_a_moment_is_tried_again() {
    let driver = Driver::new();
    let answer = "\"GET /simple/x/ HTTP/1.1\" 503 17";
    let fail = format!("echo '{answer}' >$log; echo 'WARNING: Retrying' >&2; exit 1");
    let outcome = format!(
        "[ -e {0} ] || {{ : >{0}; {fail}; }}\nmkdir -p $target/nvidia && ln -s {1} $target/nvidia/cu13",
        driver.path("failed").display(),
        cuda().display()
    );
    python(&driver, &outcome);
    let Some(mut command) = compilation(&driver, 0) else { return };
    let Ran { stderr, .. } = driver.output(&mut command).succeeded();
    assert!(stderr.contains("pip failed; the next attempt is in 2 s") && !stderr.contains("WARNING"), "{stderr}");
    // The second attempt repeats requests as often as pip does by default.
    let calls = std::fs::read_to_string(driver.path("calls")).unwrap();
    let brief: Vec<bool> = calls.lines().map(|call| call.contains("--retries 0")).collect();
    assert_eq!(brief, [true, false], "{calls}");
}

#[test]
fn nothing_is_fetched_without_a_host_compiler() {
    let driver = Driver::new();
    python(&driver, "exit 0");
    let Some(mut command) = compilation(&driver, 0) else { return };
    // A clang that finds no header of the C++ library.
    driver.write("path/clang", "#!/bin/sh\n[ \"$1\" = --version ] && echo clang version 22.1.8\n");
    let clang = driver.path("path/clang");
    std::fs::set_permissions(&clang, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let Ran { code, stderr, .. } = driver.output(command.env("PATH", driver.path("path")).env("WARPLINE_CLANG", clang));
    assert_eq!(code, 6, "{stderr}");
    assert!(stderr.contains("g++ (its headers, libraries and linker serve clang) not found"), "{stderr}");
    assert!(!driver.path("calls").exists() && !stderr.contains("fetching"), "{stderr}");
}

#[test]
fn an_incomplete_folder_of_a_variable_is_named() {
    let driver = Driver::new();
    driver.write("a.cu", "int main() {}\n");
    driver.write("toolkit/include/cuda_runtime.h", "");
    let mut command = driver.command(driver.path("warpline-nvcc"));
    command.args(["-c", "a.cu"]).env("CUDA_PATH", driver.path("toolkit")).env("CUDA_HOME", cuda());
    let Ran { stderr, .. } = driver.output(&mut command).succeeded();
    let (toolkit, used) = (driver.path("toolkit"), cuda());
    let note = format!(
        "warpline-cc: note: CUDA_PATH names {}, which has no include/curand_mtgp32_kernel.h; {} is used instead",
        toolkit.display(),
        used.display()
    );
    assert!(stderr.contains(&note), "{stderr}");
}
