//! Two runs agree to the last bit, with any number of threads, by `sim` of the kept trace, and with or without bundled
//! records.

use super::programs::{report, sources_of};
use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the program with a trace; returns the trace's bytes and the profile without what may differ.
pub fn trace_and_profile(executable: &Path, options: &[&str], arguments: &[&str], folder: &Path) -> (Vec<u8>, Value) {
    let trace = folder.join("program.wltrace");
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("--trace").arg(&trace).arg("-o").arg(folder.join("profile.wlprof"));
    command.arg("--").arg(executable).args(arguments);
    let outcome = run(&mut command, folder, "traced");
    assert!(outcome.status.success(), "{options:?}: {}", outcome.describe());
    (std::fs::read(&trace).expect("the trace was written"), without_environment(report(folder)))
}

pub fn without_environment(mut profile: Value) -> Value {
    profile["run"].as_object_mut().expect("a profile has a run").remove("environment");
    profile
}

/// Two runs, and runs with several threads, agree to the last bit. Returns the program.
fn repeatable(test: &str, sources: &[PathBuf], flags: &[&str], arguments: &[&str], folder: &Path) -> PathBuf {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let executable = build(sources, &flags, folder);
    let (trace, profile) = trace_and_profile(&executable, &[], arguments, folder);
    for options in [&[][..], &["--threads", "1"], &["--threads", "3"]] {
        let (other_trace, other_profile) = trace_and_profile(&executable, options, arguments, folder);
        assert!(trace == other_trace, "{test}: the trace differs with {options:?}");
        assert!(profile == other_profile, "{test}: the profile differs with {options:?}");
    }
    executable
}

/// [`repeatable`], and `sim` of a kept trace agrees with a run for the same model.
fn reproducible(test: &str, sources: &[PathBuf], arguments: &[&str]) {
    let folder = work_folder(&format!("reproducible_{test}"));
    let executable = repeatable(test, sources, &["-O2"], arguments, &folder);
    // `sim` of the kept trace: the model of the run, and another one in its own block order.
    for model in ["rtx2080ti", "a100"] {
        let (_, run) = trace_and_profile(&executable, &["--gpu", model], arguments, &folder);
        std::fs::copy(folder.join("program.wltrace"), folder.join(format!("{model}.wltrace"))).expect("room for it");
        for kept in ["rtx2080ti", "a100"].map(|model| folder.join(format!("{model}.wltrace"))) {
            if !kept.exists() {
                continue;
            }
            let mut command = Command::new(warpline());
            command.arg("sim").arg(&kept).args(["--gpu", model]).arg("-o").arg(folder.join("profile.wlprof"));
            let outcome = self::run(&mut command, &folder, "simulated");
            assert!(outcome.status.success(), "sim of {}: {}", kept.display(), outcome.describe());
            let simulated = without_environment(report(&folder));
            assert!(
                without_exit_code(run.clone()) == without_exit_code(simulated),
                "{test}: sim of {} for {model} differs from the run",
                kept.display()
            );
        }
    }
}

/// A trace does not hold the program's exit code.
fn without_exit_code(mut profile: Value) -> Value {
    profile["run"].as_object_mut().expect("a profile has a run").remove("exit_code");
    profile
}

#[test]
fn barriers_and_atomics_are_reproducible() {
    reproducible("histogram", &[root().join("examples/histogram/histogram.cu")], &["16384", "40"]);
}

#[test]
fn divergent_code_is_reproducible() {
    let source = |name: &str| root().join("examples/raytracer").join(name);
    let sources = [source("raytracer.cpp"), source("render.cu"), source("mesh.cpp"), source("bvh.cpp")];
    reproducible("raytracer", &sources, &["32", "10"]);
}

#[test]
fn device_variables_are_reproducible() {
    reproducible("device_variables", &sources_of("device_variables"), &[]);
}

/// How often blocks poll a barrier depends on their order alone. Another model has another order, so `sim` differs.
#[test]
fn waiting_for_other_blocks_is_repeatable() {
    let flags = ["-O2", "-std=c++17", "-arch=sm_80"];
    repeatable("grid_sync", &sources_of("grid_sync"), &flags, &[], &work_folder("repeatable_grid_sync"));
}

#[test]
fn managed_memory_is_reproducible() {
    reproducible("managed_memory", &sources_of("managed_memory"), &[]);
}

/// Figures of caches and of reuse, which follow the order of turns, and the ends of turns, taken out.
fn without_order(value: &mut Value) {
    match value {
        Value::Object(members) => {
            // Ratios have names such as `global.reuse.line.mean`.
            let ordered = ["l1", "l2", "dram", "reuse", "environment", "estimate", "bundles"];
            members.retain(|name, _| !name.split('.').any(|part| ordered.contains(&part)));
            members.values_mut().for_each(without_order);
        }
        Value::Array(elements) => elements.iter_mut().for_each(without_order),
        _ => {}
    }
}

/// Accesses that share a record are counted as by records of their own, also where some lanes may not do them.
#[test]
fn bundles_count_as_their_accesses() {
    let folder = work_folder("bundles_count");
    for (source, arguments) in [
        ("tests/programs/bundles.cu", &[][..]),
        ("tests/programs/bundles.cu", &["stray"]),
        ("examples/matmul/matmul.cu", &[]),
        ("examples/kmeans/kmeans.cu", &[]),
    ] {
        let reports = [&["-O2"][..], &["-O2", "--warpline-no-bundles"]].map(|flags| {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            let executable = build(&[root().join(source)], &flags, &folder);
            let mut command = Command::new(warpline());
            command.args(["run", "--check", "report", "-o"]).arg(folder.join("profile.wlprof")).arg("--");
            let outcome = run(command.arg(&executable).args(arguments), &folder, "profiled");
            assert!(outcome.status.success(), "{source} {arguments:?}: {}", outcome.describe());
            let mut report = report(&folder);
            without_order(&mut report);
            (report, outcome.stderr)
        });
        assert!(reports[0] == reports[1], "{source} {arguments:?}: bundles change the profile");
    }
}
