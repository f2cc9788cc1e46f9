//! `warpline predict` against the simulation of the same launches, where L1 is small, some threads load for others, or half of an array is left out.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let flags = ["-O3", "-g", "-arch=sm_75"].map(str::to_owned);
        build(&[root().join("tests/prediction/halos.cu")], &flags, &work_folder("predict-halos-program"))
    })
}

/// The profile of a run with blocks of this shape, caches empty before each launch.
fn profiled(folder: &Path, model: &str, [x, y]: [u32; 2]) -> PathBuf {
    let file = folder.join(format!("{model}-{x}x{y}.wlprof"));
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", model, "--reuse", "off", "--l2-copies", "cold", "--l2-launches", "flushed", "-o"]);
    command.arg(&file).arg("--").arg(program()).args([x, y].map(|size| size.to_string()));
    let outcome = run(&mut command, folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    file
}

fn json(mut command: Command, folder: &Path) -> Value {
    let outcome = run(&mut command, folder, "warpline");
    assert!(outcome.status.success(), "{}", outcome.describe());
    serde_json::from_str(&outcome.stdout).expect("the document is JSON")
}

/// What a shape is predicted to do, from a run of another one.
fn predicted(folder: &Path, profile: &Path, kernel: &str, block: &str) -> Value {
    let mut command = Command::new(warpline());
    command.arg("predict").arg(profile).args(["--kernel", kernel, "--block", block, "--format", "json"]);
    json(command, folder)["configurations"][0].clone()
}

/// Bytes that L1 loads from L2, and those of DRAM's reads and writes, of the kernel of this name.
fn simulated(folder: &Path, profile: &Path, kernel: &str) -> [f64; 3] {
    let mut command = Command::new(warpline());
    command.arg("report").arg(profile).args(["--format", "json"]);
    let report = json(command, folder);
    let kernels = report["kernels"].as_array().expect("kernels");
    let found = kernels.iter().find(|row| row["name"].as_str().is_some_and(|name| name.starts_with(kernel)));
    let global = &found.expect("the kernel")["metrics"]["global"];
    let sectors = [&global["l2"]["load_lookups"], &global["dram"]["read_sectors"], &global["dram"]["write_sectors"]];
    sectors.map(|count| 32.0 * count.as_f64().expect("a count"))
}

/// How far predicted bytes are from simulated ones, as a share of these.
fn apart(predicted: &Value, simulated: f64) -> f64 {
    (predicted.as_f64().expect("bytes") / simulated - 1.0).abs()
}

const SHAPES: [[u32; 2]; 4] = [[32, 8], [8, 8], [16, 16], [64, 4]];

/// On an L1 of 24 KiB it matters which requests a warp makes in a turn.
#[test]
fn turns_are_those_of_the_run() {
    let folder = work_folder("predict-halos-turns");
    let recorded = profiled(&folder, "p100", SHAPES[0]);
    for [x, y] in SHAPES {
        let [l2, ..] = simulated(&folder, &profiled(&folder, "p100", [x, y]), "box");
        let found = predicted(&folder, &recorded, "^box", &format!("{x}x{y}"));
        assert!(apart(&found["l2_load_bytes"], l2) < 0.06, "{x}x{y}: {} for {l2}", found["l2_load_bytes"]);
    }
}

/// Rows that border threads load are the ones that other blocks have as their own, and the grid covers what lies between borders.
#[test]
fn rows_that_several_load_count_once() {
    let folder = work_folder("predict-halos-rows");
    let recorded = profiled(&folder, "a100", SHAPES[0]);
    for [x, y] in SHAPES {
        let [_, dram, _] = simulated(&folder, &profiled(&folder, "a100", [x, y]), "march");
        let found = predicted(&folder, &recorded, "^march", &format!("{x}x{y}"));
        assert_eq!(found["grid"], serde_json::json!([512_u32.div_ceil(x), 256_u32.div_ceil(y), 1]));
        assert!(apart(&found["dram_load_bytes"], dram) < 0.05, "{x}x{y}: {} for {dram}", found["dram_load_bytes"]);
    }
}

#[test]
fn halves_of_arrays_are_no_whole_ones() {
    let folder = work_folder("predict-halos-half");
    let recorded = profiled(&folder, "v100", SHAPES[0]);
    for [x, y] in SHAPES {
        let [_, reads, writes] = simulated(&folder, &profiled(&folder, "v100", [x, y]), "half");
        let found = predicted(&folder, &recorded, "^half", &format!("{x}x{y}"));
        let figures = [(&found["dram_load_bytes"], reads), (&found["dram_store_bytes"], writes)];
        assert!(figures.iter().all(|(got, want)| apart(got, *want) < 0.1), "{x}x{y}: {figures:?}");
    }
}

/// What was read before is written back once for each store to it all the same.
#[test]
fn members_that_are_read_first_are_written_back() {
    let folder = work_folder("predict-halos-members");
    let profile = profiled(&folder, "v100", SHAPES[0]);
    let mut command = Command::new(warpline());
    command.arg("predict").arg(&profile).args(["--kernel", "^advance", "--block", "256", "--layout", "bodies=soa"]);
    command.args(["--format", "json"]);
    let found = &json(command, &folder)["configurations"][0];
    // Five members of 100 000 structures.
    assert!(apart(&found["dram_store_bytes"], 5.0 * 4.0 * 100_000.0) < 0.01, "{found:#}");
}
