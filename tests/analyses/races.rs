//! Conflicts between warps: each planted one is reported with its lines, fixed twins are not; and with turns at each
//! access racy programs give what a GPU gives.

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const RACY: [&str; 8] = [
    "racy_broadcast",
    "racy_element",
    "racy_generic",
    "racy_histogram",
    "racy_reduction",
    "racy_scratch",
    "racy_shared_bins",
    "racy_tile",
];

fn source() -> PathBuf {
    root().join("tests/races/conflicts.cu")
}

fn profiled(folder: &Path, executable: &Path, options: &[&str], arguments: &[&str]) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("-o").arg(folder.join("profile.wlprof"));
    let outcome = run(command.arg("--").arg(executable).args(arguments), folder, "run");
    assert!(outcome.status.success() && outcome.stdout.contains("PASS"), "{options:?}: {}", outcome.describe());
    outcome
}

fn report(folder: &Path, format: &str) -> String {
    let mut command = Command::new(warpline());
    command.arg("report").arg(folder.join("profile.wlprof")).args(["--format", format]);
    run(&mut command, folder, format).stdout
}

/// The conflicts of a report, by kernel.
fn conflicts(document: &Value) -> BTreeMap<String, Vec<&Value>> {
    let kernels = document["kernels"].as_array().expect("kernels");
    let name = |id: &Value| {
        let kernel = kernels.iter().find(|kernel| kernel["id"] == *id).expect("a kernel of that number");
        kernel["name"].as_str().unwrap_or_default().split('(').next().unwrap_or_default().to_owned()
    };
    let mut by_kernel: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for conflict in document["conflicts"].as_array().expect("conflicts") {
        by_kernel.entry(name(&conflict["kernel"])).or_default().push(conflict);
    }
    by_kernel
}

fn parsed(folder: &Path) -> Value {
    serde_json::from_str(&report(folder, "json")).expect("the report is JSON")
}

#[test]
fn planted_conflicts_are_reported_and_cured_twins_are_not() {
    let folder = work_folder("races");
    let executable = build(&[source()], &["-O2".to_owned()], &folder);
    let text = std::fs::read_to_string(source()).expect("the program's source");
    let marked: BTreeSet<u64> =
        (1..).zip(text.lines()).filter(|(_, line)| line.ends_with("// conflict")).map(|(number, _)| number).collect();
    let mut found = Vec::new();
    for options in [&["--threads", "1"][..], &["--threads", "3"], &["--check-race"]] {
        let outcome = profiled(&folder, &executable, options, &[]);
        assert!(outcome.stderr.contains("without a barrier at conflicts.cu:"), "{}", outcome.describe());
        assert!(outcome.stderr.contains("and 7 more"), "{}", outcome.describe());
        let document = parsed(&folder);
        let by_kernel = conflicts(&document);
        let grave = |rows: &Vec<&Value>| rows.iter().any(|row| row["severity"] == "warning");
        let racy: Vec<&str> = by_kernel.iter().filter(|(_, rows)| grave(rows)).map(|(name, _)| name.as_str()).collect();
        assert_eq!(racy, RACY, "{options:?}");
        for (name, rows) in &by_kernel {
            let is_fixed = name.starts_with("fixed");
            assert!(!is_fixed || options == ["--check-race"], "{options:?}: {name} has no conflict: {rows:?}");
            for row in rows.iter().filter(|_| !is_fixed) {
                let lines = [0, 1].map(|index| row["accesses"][index]["frame"]["line"].as_u64().unwrap_or(0));
                assert!(lines.iter().all(|line| marked.contains(line)), "{name} {options:?}: {row}");
                assert!(row["accesses"][0]["op"] != "load" && row["count"].as_u64() > Some(0), "{row}");
                let scope = if name == "racy_histogram" { "grid" } else { "block" };
                assert_eq!(row["scope"], scope, "{row}");
            }
        }
        let variable = |kernel: &str| by_kernel[kernel][0]["variable"].as_str().unwrap_or_default();
        assert_eq!([variable("racy_tile"), variable("racy_generic")], ["tile", "dynamic"]);
        let allocation = &by_kernel["racy_scratch"][0]["allocation"];
        let allocations = document["allocations"].as_array().expect("allocations");
        let named = allocations.iter().find(|row| row["id"] == *allocation).map(|row| &row["name"]);
        assert_eq!(named.and_then(Value::as_str), Some("d_scratch"));
        found.push(document["conflicts"].clone());
    }
    assert_eq!(found[0], found[1], "the number of threads makes no difference");
    let mut all = Command::new(warpline());
    all.arg("report").arg(folder.join("profile.wlprof")).arg("--all");
    let text = run(&mut all, &folder, "all").stdout;
    assert!(text.contains("CONFLICTS BETWEEN THREADS") && text.contains("by warps "), "{text}");
    assert_eq!(crate::page::data(&report(&folder, "html"))["sides"][0]["profile"]["conflicts"], found[2]);
    let sarif: Value = serde_json::from_str(&report(&folder, "sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let warnings = results.iter().filter(|row| row["ruleId"] == "race" && row["level"] == "warning");
    assert_eq!(warnings.count(), RACY.len());

    let quiet = profiled(&folder, &executable, &[], &["fixed"]);
    assert!(!quiet.stderr.contains("conflict"), "{}", quiet.describe());
    assert!(!report(&folder, "text").contains("CONFLICTS"));
}

#[test]
fn turns_at_each_access_give_what_a_gpu_gives() {
    let folder = work_folder("interleave");
    let executable = build(&[source()], &["-O2".to_owned()], &folder);
    let mut traces = Vec::new();
    for threads in ["1", "2"] {
        let trace = folder.join("turns.wltrace");
        let options = ["--interleave", "--threads", threads, "--trace", trace.to_str().expect("a plain path")];
        profiled(&folder, &executable, &options, &["gpu"]);
        let document = parsed(&folder);
        let notes = document["run"]["notes"].to_string();
        assert!(notes.contains("--interleave"), "{notes}");
        traces.push(std::fs::read(&trace).expect("the trace"));
    }
    assert!(traces[0] == traces[1], "turns are the same in every run");
    // Also where only some launches or blocks are recorded, and natively.
    profiled(&folder, &executable, &["--interleave", "--blocks", "1/2"], &["gpu"]);
    profiled(&folder, &executable, &["--interleave", "--launches", "1"], &["gpu"]);
    let native = |interleave: &str| {
        let mut command = Command::new(&executable);
        command.env("WARPLINE", "0").env("WARPLINE_INTERLEAVE", interleave).arg("gpu");
        run(&mut command, &folder, "native")
    };
    let turns = native("1");
    assert!(turns.status.success(), "{}", turns.describe());
    // Without turns some of these kernels give something else, or this test would show nothing.
    assert!(!native("0").status.success());
}
