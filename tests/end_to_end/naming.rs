//! What things are called in reports: memory like the variables that hold it, kernels of libraries by the user's line.

use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn source(name: &str) -> PathBuf {
    root().join("tests/naming").join(name)
}

/// Builds and profiles a program; gives its report as JSON.
fn profiled(name: &str, folder: &Path) -> Value {
    let flags = ["-O2", "-g", "-std=c++17", "-arch=sm_80"].map(String::from);
    let executable = build(&[source(name)], &flags, folder);
    let profile = folder.join("profile.wlprof");
    let outcome =
        run(Command::new(warpline()).args(["run", "-o"]).arg(&profile).arg("--").arg(executable), folder, "run");
    assert!(outcome.status.success(), "{name}: {}", outcome.describe());
    let outcome = run(Command::new(warpline()).arg("report").arg(profile).args(["--format", "json"]), folder, "report");
    serde_json::from_str(&outcome.stdout).expect("the report is JSON")
}

#[test]
fn memory_is_called_like_the_variable_that_holds_it() {
    let profile = profiled("holders.cu", &work_folder("naming-holders"));
    let rows = profile["allocations"].as_array().expect("allocations");
    let named: Vec<(&str, u64)> = rows
        .iter()
        .filter(|row| row["kind"] == "cudaMalloc")
        .map(|row| (row["name"].as_str().unwrap_or("?"), row["bytes"].as_u64().unwrap() / 4))
        .collect();
    let wanted = [
        ("temperature", 1),
        ("many[]", 20),
        ("many[]", 21),
        ("smart", 30),
        ("heap", 40),
        ("shared", 50),
        ("bare", 55),
        ("net.scratch", 3),
        ("net.layers[].weights", 60),
        ("net.layers[].bias", 61),
        ("grown", 70),
        ("table[]", 80),
        ("solver.velocity", 180),
        ("direct", 100),
        ("plain", 110),
        ("fresh", 120),
    ];
    assert_eq!(named, wanted);
}

#[test]
fn findings_in_libraries_stand_at_the_call() {
    let folder = work_folder("naming-gather");
    let profile = profiled("gather.cu", &folder);
    let text = std::fs::read_to_string(source("gather.cu")).unwrap();
    let line = text.lines().position(|line| line.contains("// PLANTED")).unwrap() as u64 + 1;
    let first = &profile["findings"][0];
    assert_eq!(first["id"], "random-gather", "{:#}", profile["findings"]);
    assert_eq!(first["line"], line);
    assert!(first["file"].as_str().unwrap().ends_with("gather.cu"));
    assert_eq!(first["inside_library"]["function"], "thrust::gather");
    assert!(first["reason"].as_str().unwrap().contains("`values`"), "{first:#}");
    let outcome = run(Command::new(warpline()).arg("report").arg(folder.join("profile.wlprof")), &folder, "report");
    let head = format!("random-gather  gather.cu:{line} in thrust::gather");
    assert!(outcome.stdout.contains(&head), "{}", outcome.stdout);
    assert!(outcome.stdout.contains(&format!("gather.cu:{line} thrust::gather")), "{}", outcome.stdout);
}

#[test]
fn nothing_in_a_library_asks_for_a_change_that_users_cannot_make() {
    let profile = profiled("unique.cu", &work_folder("naming-unique"));
    let findings = profile["findings"].as_array().expect("findings");
    // Lanes part in its kernels and their grids are small, which only its authors can change.
    assert!(profile["branches"].as_array().expect("branches").iter().any(|branch| branch["divergent"] != 0));
    assert!(findings.iter().all(|finding| finding["severity"] == "note"), "{findings:#?}");
    assert!(findings.iter().all(|finding| finding["id"] != "divergent-branch"), "{findings:#?}");
    // It made its scratch memory, too.
    let unused = findings.iter().filter(|finding| finding["id"] == "unused-allocation");
    assert_eq!(unused.count(), 0, "{findings:#?}");
}

#[test]
fn regions_that_nvtx_names_have_rows_of_their_own() {
    let profile = profiled("regions.cu", &work_folder("naming-regions"));
    let rows = profile["allocations"].as_array().expect("allocations");
    let sectors = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {rows:#?}"));
        (row["bytes"].as_u64().unwrap(), row["metrics"]["sectors"].as_u64().unwrap())
    };
    assert_eq!(sectors("pressure"), (4096, 4096 / 32));
    assert_eq!(sectors("velocity"), (8192, 8192 / 32));
    // What is left of the pool.
    assert_eq!(sectors("pool"), (16384, 1024 / 32));
}
