//! Values of accesses (`--values`), against counts that follow from the program.

use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const N: u64 = 1000;
const WARPS: u64 = N.div_ceil(32);

fn program(folder: &Path) -> PathBuf {
    build(&[root().join("tests/programs/moved_values.cu")], &["-O2".to_owned()], folder)
}

fn profile(folder: &Path, program: &Path, options: &[&str], name: &str) -> Value {
    let mut command = Command::new(warpline());
    command.arg("run").args(options).args(["-o", name, "--"]).arg(program);
    let outcome = run(&mut command, folder, "run");
    assert!(outcome.status.success() && outcome.stdout.contains("PASS"), "{}", outcome.describe());
    let json = run(Command::new(warpline()).args(["report", "--format", "json", name]), folder, "report");
    serde_json::from_str(&json.stdout).expect("JSON")
}

/// The row of the access that a comment marks, with the given operation.
fn row<'a>(profile: &'a Value, mark: &str, op: &str) -> &'a Value {
    let source = std::fs::read_to_string(root().join("tests/programs/moved_values.cu")).expect("the program");
    let line = source.lines().position(|text| text.ends_with(&format!("// {mark}"))).expect("a mark") + 1;
    let rows = profile["access_values"].as_array().expect("values");
    let found = rows.iter().find(|row| row["frame"]["line"] == line && row["op"] == op);
    found.unwrap_or_else(|| panic!("no {op} at {mark}: {rows:#?}"))
}

fn figures(row: &Value) -> [u64; 4] {
    ["requests", "lanes", "silent_requests", "silent_lanes"].map(|key| row[key].as_u64().expect("a number"))
}

/// Requests and lanes of threads of which `silent` holds.
fn by_hand(silent: impl Fn(u64) -> bool) -> [u64; 4] {
    let warp = |warp: u64| 32 * warp..(32 * warp + 32).min(N);
    let requests = (0..WARPS).filter(|&number| warp(number).all(&silent)).count() as u64;
    [WARPS, N, requests, (0..N).filter(|&i| silent(i)).count() as u64]
}

fn sum(one: [u64; 4], other: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|at| one[at] + other[at])
}

#[test]
fn values_are_counted_as_by_hand() {
    let folder = work_folder("values-by-hand");
    let profile = profile(&folder, &program(&folder), &["--values"], "values.wlprof");
    assert_eq!(profile["run"]["memory_values"], true);
    // The second launch stores what the first has stored.
    let rewrite = row(&profile, "rewrite", "store");
    assert_eq!(figures(rewrite), sum(by_hand(|i| i % 5 == i % 7), by_hand(|_| true)));
    assert_eq!([&rewrite["launches"], &rewrite["silent_launches"]], [2, 1]);
    assert_eq!(rewrite["values"]["zeros"], 2 * N.div_ceil(7));
    assert_eq!(rewrite["values"]["distinct"], serde_json::json!(["0", "1", "2", "3", "4", "5", "6"]));
    assert_eq!(rewrite["values"]["fits"][0], "int8_t");
    assert_eq!(figures(row(&profile, "raise", "atomic")), by_hand(|i| i % 3 <= 1));
    // Memory that nothing has written has no value yet, though it is zero on the CPU device.
    assert_eq!(figures(row(&profile, "fresh", "store")), by_hand(|_| false));
    let share = row(&profile, "share", "store");
    assert_eq!((figures(share), &share["space"]), (by_hand(|i| i % 7 % 4 == 0), &"shared".into()));
    assert_eq!(figures(row(&profile, "pairs", "store")), by_hand(|i| i % 4 == 3));
    let groups = row(&profile, "groups", "load");
    assert_eq!([&groups["uniform_requests"], &groups["requests"], &groups["silent_lanes"]], [WARPS, WARPS, 0]);
    assert_eq!((&groups["values"]["fits"][0], &groups["values"]["distinct"]), (&"int16_t".into(), &Value::Null));
    let halves = row(&profile, "halves", "load");
    assert_eq!((&halves["values"]["element"], &halves["values"]["fits"][0]), (&"double".into(), &"__half".into()));
    assert_eq!([&halves["uniform_requests"], &halves["values"]["count"], &halves["values"]["zeros"]], [0, N, 1]);
}

#[test]
fn zeros_are_counted_in_blocks() {
    let folder = work_folder("values-zeros");
    let profile = profile(&folder, &program(&folder), &["--values=memory"], "values.wlprof");
    let allocation = |name: &str| {
        let mark = row(&profile, name, "load")["allocation"].clone();
        let rows = profile["allocation_values"].as_array().expect("allocations");
        rows.iter().find(|row| row["allocation"] == mark).expect("its allocation").clone()
    };
    let sparse = allocation("sparse");
    let blocks = |bytes: u64| (2 * N).div_ceil(bytes);
    assert_eq!([&sparse["sectors"], &sparse["zero_sectors"]], [blocks(32), 32]);
    assert_eq!([&sparse["lines"], &sparse["zero_lines"]], [blocks(128), 8]);
    assert_eq!([&sparse["values"]["count"], &sparse["values"]["zeros"]], [N, 512]);
    let fills = profile["allocations"].as_array().expect("allocations").iter().flat_map(|row| {
        row["copies"].as_array().cloned().unwrap_or_default().into_iter().filter(|copy| copy["direction"] == "set")
    });
    let fills: Vec<Value> = fills.collect();
    assert_eq!([&fills[0]["count"], &fills[0]["unchanged_count"]], [3, 2], "{fills:#?}");
}

/// Nothing is followed without the option, and following changes no other figure; two runs are the same.
#[test]
fn following_values_changes_nothing_else() {
    let folder = work_folder("values-same");
    let program = program(&folder);
    let plain = profile(&folder, &program, &[], "plain.wlprof");
    assert!(plain["access_values"].is_null() && plain["run"]["memory_values"].is_null());
    let [one, other] = ["one", "other"].map(|name| profile(&folder, &program, &["--values"], name));
    assert_eq!(one["access_values"], other["access_values"]);
    assert_eq!(one["allocation_values"], other["allocation_values"]);
    for key in ["sites", "lines", "kernels"] {
        assert_eq!(plain[key], one[key], "{key}");
    }
}
