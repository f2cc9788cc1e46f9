//! Functions with hooks that a run generates count as those that the build generates.

use super::programs::{report, sources_of};
use super::reproducible::without_environment;
use crate::support_programs::{Outcome, build, root, run, warpline, warpline_cc, work_folder};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program with a cache folder of its own, in which no generated code is.
fn run_with(executable: &Path, folder: &Path, options: &[&str], change: impl FnOnce(&mut Command)) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("-o").arg(folder.join("profile.wlprof"));
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    change(&mut command);
    run(command.arg("--").arg(executable), folder, "profiled")
}

/// The generated objects in the cache folder.
fn generated(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("cache/warpline/modules")).map_or(0, Iterator::count)
}

/// The recorded launches of the profile.
fn launches(folder: &Path) -> u64 {
    let report = report(folder);
    let kernels = report["kernels"].as_array().expect("a list of kernels");
    kernels.iter().filter_map(|kernel| kernel["launch_count"].as_u64()).sum()
}

fn profile(sources: &[PathBuf], flags: &[&str], options: &[&str], folder: &Path) -> (Value, String) {
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let executable = build(sources, &flags, folder);
    _ = std::fs::remove_dir_all(folder.join("cache"));
    let outcome = run_with(&executable, folder, options, |_| {});
    (without_environment(report(folder)), outcome.stderr)
}

/// Profiles and messages with checks agree for device functions, virtual ones, variables, children, faults and several
/// versions of a kernel.
#[test]
fn generated_hooks_count_as_those_of_the_build() {
    let folder = work_folder("hooks_on_demand");
    let example = |name: &str| vec![root().join(format!("examples/{name}/{name}.cu"))];
    for (name, sources, options) in [
        ("device_functions", sources_of("device_functions"), &["--check-init"][..]),
        ("device_variables", sources_of("device_variables"), &[]),
        ("dynamic_parallelism", sources_of("dynamic_parallelism"), &[]),
        ("out_of_bounds_write", sources_of("out_of_bounds_write"), &["--check", "report"]),
        ("matmul", example("matmul"), &["--check-race"]),
        ("histogram", example("histogram"), &[]),
    ] {
        let rdc: &[&str] = if name == "dynamic_parallelism" { &["-rdc=true"] } else { &[] };
        let [ahead, on_demand] = ["ahead", "on-demand"].map(|when| {
            let when = format!("--warpline-hooks={when}");
            let flags = [&["-O2", when.as_str()][..], rdc].concat();
            profile(&sources, &flags, options, &folder)
        });
        assert!(generated(&folder) > 0, "{name}: nothing was generated");
        assert_eq!(ahead.1, on_demand.1, "{name}: messages");
        assert!(ahead.0 == on_demand.0, "{name}: the profile differs");
    }
}

const MANY: &str = r#"
template <int N> __global__ void sum(const float *in, float *out)
{
    float total = 0;
#pragma unroll
    for (int k = 0; k < 64; ++k) {
        total += in[(threadIdx.x * N + k * 7) % 1024];
    }
    out[threadIdx.x] = total;
}
template __global__ void sum<3>(const float *, float *);
template __global__ void sum<5>(const float *, float *);
template __global__ void sum<7>(const float *, float *);
template __global__ void sum<9>(const float *, float *);
template __global__ void sum<11>(const float *, float *);
int main(int count, char **)
{
    float *data;
    cudaMalloc(&data, 8192);
    cudaMemset(data, 0, 8192);
    sum<3><<<1, 32>>>(data, data + 1024);
    sum<3><<<2, 32>>>(data, data + 1024);
    sum<9><<<1, 32>>>(data, data + 1024);
    return cudaDeviceSynchronize() != cudaSuccess || cudaGetLastError() != cudaSuccess;
}
"#;

/// A large module has no functions with hooks. A run generates those of the launched kernels that it records, once.
#[test]
fn only_kernels_that_are_recorded_are_generated() {
    let folder = work_folder("hooks_of_recorded");
    let source = folder.join("many.cu");
    std::fs::write(&source, MANY).expect("source written");
    let executable = build(&[source], &["-O2".to_owned()], &folder);
    _ = std::fs::remove_dir_all(folder.join("cache"));
    let selected = run_with(&executable, &folder, &["--kernels", "sum<9>"], |_| {});
    assert!(selected.status.success(), "{}", selected.describe());
    assert_eq!(generated(&folder), 1);
    for _ in 0..2 {
        let all = run_with(&executable, &folder, &[], |_| {});
        assert!(all.status.success(), "{}", all.describe());
        assert_eq!(generated(&folder), 2);
    }
    assert_eq!(launches(&folder), 3);
}

/// Without the compiler, the launch is refused with a reason, and the profile has it; code of the build needs none.
#[test]
fn a_missing_compiler_is_reported() {
    let folder = work_folder("hooks_without_compiler");
    let source = folder.join("many.cu");
    std::fs::write(&source, MANY).expect("source written");
    _ = std::fs::remove_dir_all(folder.join("cache"));
    let missing = |command: &mut Command| {
        command.env("WARPLINE_CC", folder.join("missing"));
    };
    let executable = build(std::slice::from_ref(&source), &["-O2".to_owned()], &folder);
    let refused = run_with(&executable, &folder, &[], missing);
    assert_eq!(refused.status.code(), Some(1), "{}", refused.describe());
    assert!(refused.stderr.contains("--warpline-hooks=ahead"), "{}", refused.stderr);
    let finding = report(&folder)["findings"][0].clone();
    assert_eq!(finding["id"], "api-error", "{finding}");
    let native = run(&mut Command::new(&executable), &folder, "native");
    assert!(native.status.success(), "{}", native.describe());
    let ahead = build(&[source], &["-O2".to_owned(), "--warpline-hooks=ahead".to_owned()], &folder);
    let counted = run_with(&ahead, &folder, &[], missing);
    assert!(counted.status.success(), "{}", counted.describe());
    assert_eq!(launches(&folder), 3);
}

/// If the compiler takes long, a terminal shows what the run waits for; a file does not, because it is compared.
#[test]
fn a_terminal_shows_what_a_run_waits_for() {
    let folder = work_folder("hooks_take_long");
    let source = folder.join("many.cu");
    std::fs::write(&source, MANY).expect("source written");
    let executable = build(&[source], &["-O2".to_owned()], &folder);
    let slow = folder.join("slow");
    let text = format!("#!/bin/sh\nsleep 4\nexec '{}' \"$@\"\n", warpline_cc().display());
    std::fs::write(&slow, text).expect("script written");
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).expect("made executable");
    let on_a_terminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    for (terminal, expected) in [(true, 1), (false, 0)] {
        _ = std::fs::remove_dir_all(folder.join("cache"));
        let mut command = if terminal { Command::new("python3") } else { Command::new(warpline()) };
        if terminal {
            command.args(["-c", on_a_terminal]).arg(warpline());
        }
        command.args(["run", "-o"]).arg(folder.join("profile.wlprof")).arg("--").arg(&executable);
        command.env("XDG_CACHE_HOME", folder.join("cache")).env("WARPLINE_CC", &slow);
        let outcome = run(&mut command, &folder, "waited");
        assert!(outcome.status.success(), "{}", outcome.describe());
        let shown = outcome.stdout.clone() + &outcome.stderr;
        assert_eq!(shown.matches("warpline-cc compiles device code").count(), expected, "{shown}");
    }
}
