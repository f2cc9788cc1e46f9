//! `warpline predict` against the simulation of the same launches, where what L2 still has is a matter of when blocks come to it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;

/// Two of them share planes through L1, the others through L2.
const SHAPES: [[u32; 3]; 4] = [[32, 8, 1], [64, 4, 4], [16, 8, 8], [32, 1, 8]];

fn json(mut command: Command) -> Value {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let folder = work_folder(&format!("predict-spaces-{}", CALLS.fetch_add(1, Relaxed)));
    let outcome = run(&mut command, &folder, "warpline");
    assert!(outcome.status.success(), "{}", outcome.describe());
    serde_json::from_str(&outcome.stdout).expect("the document is JSON")
}

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let flags = ["-O3", "-g", "-arch=sm_60"].map(str::to_owned);
        build(&[root().join("tests/prediction/spaces.cu")], &flags, &work_folder("predict-spaces-program"))
    })
}

/// The profile of a run with blocks of a shape, caches empty before each launch.
fn profiled(folder: &Path, block: &[u32; 3]) -> PathBuf {
    let sizes = block.map(|size| size.to_string());
    let file = folder.join(format!("{}.wlprof", sizes.join("x")));
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "p100", "--reuse", "off", "--l2-copies", "cold", "--l2-launches", "flushed"]);
    command.arg("-o").arg(&file).arg("--").arg(program()).args(sizes);
    let outcome = run(&mut command, folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    file
}

fn profiles() -> &'static [PathBuf] {
    static PROFILES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let folder = work_folder("predict-spaces");
        SHAPES.iter().map(|block| profiled(&folder, block)).collect()
    })
}

/// What accesses to global memory did in a run of a kernel.
fn global(profile: &Path, kernel: &str) -> Value {
    let mut command = Command::new(warpline());
    command.arg("report").arg(profile).args(["--format", "json"]);
    let report = json(command);
    let kernels = report["kernels"].as_array().expect("kernels");
    let found = kernels.iter().find(|row| row["name"].as_str().is_some_and(|name| name.starts_with(kernel)));
    found.expect("the kernel")["metrics"]["global"].clone()
}

/// Bytes that DRAM is read and written, of a shape of a kernel.
fn simulated(shape: usize, kernel: &str) -> [f64; 2] {
    let dram = &global(&profiles()[shape], kernel)["dram"];
    ["read_sectors", "write_sectors"].map(|name| 32.0 * dram[name].as_f64().expect("a count"))
}

/// A shape as it is predicted from the run with the first one.
fn configuration(kernel: &str, block: &str) -> Value {
    let profile = &profiles()[0];
    let mut command = Command::new(warpline());
    command.arg("predict").arg(profile).args(["--kernel", &format!("^{kernel}"), "--block", block, "--format", "json"]);
    json(command)["configurations"][0].clone()
}

/// What DRAM moves in it.
fn predicted(kernel: &str, block: &str) -> [f64; 2] {
    let found = configuration(kernel, block);
    ["dram_load_bytes", "dram_store_bytes"].map(|name| found[name].as_f64().expect("bytes"))
}

fn near(got: [f64; 2], want: [f64; 2], tolerance: f64, what: &str) {
    for (got, want) in got.into_iter().zip(want) {
        assert!((got / want - 1.0).abs() < tolerance, "{what}: predicted {got}, simulated {want}");
    }
}

#[test]
fn planes_are_loaded_again_as_often_as_l2_loses_them() {
    let mut loads = Vec::new();
    for (number, [x, y, z]) in SHAPES.into_iter().enumerate() {
        let (got, want) = (predicted("star", &format!("{x}x{y}x{z}")), simulated(number, "star"));
        near(got, want, 0.01, &format!("{x}x{y}x{z}"));
        loads.push((got[0], want[0]));
    }
    // Deep blocks load a sixth more, in the simulation too.
    let least = |of: fn(&(f64, f64)) -> f64| of(&loads[2]).min(of(&loads[3])) / of(&loads[0]).max(of(&loads[1]));
    assert!(least(|one| one.0) > 1.1 && least(|one| one.1) > 1.1, "{loads:?}");
}

/// The wave fits L2, but for a little; taken for lost between two turns, as it was once, it would be 2.2 times as much.
#[test]
fn records_that_just_fit_l2_are_not_lost_between_turns() {
    for (number, [x, y, z]) in SHAPES.into_iter().enumerate().take(2) {
        near(predicted("change", &(x * y * z).to_string()), simulated(number, "change"), 0.01, &format!("{x}x{y}x{z}"));
    }
}

/// Taken for windows of whole waves, rows that blocks share came from DRAM up to a tenth more often.
#[test]
fn what_walks_side_by_side_shares_what_it_loads() {
    for (number, [x, y, z]) in SHAPES.into_iter().enumerate() {
        near(predicted("walk", &format!("{x}x{}", y * z)), simulated(number, "walk"), 0.02, &format!("{x}x{}", y * z));
    }
}

/// Of two layers of blocks the one behind has eight planes of 32. A few blocks in the middle of the launch, which were taken for all, had 0.84 of the loads.
#[test]
fn layers_of_blocks_with_little_to_do_are_counted() {
    let folder = work_folder("predict-spaces-deep");
    let loads = &global(&profiled(&folder, &[16, 1, 32]), "star")["l2"]["load_lookups"];
    let (got, want) = (configuration("star", "16x1x32")["l2_load_bytes"].as_f64(), loads.as_f64());
    let (got, want) = (got.expect("bytes"), 32.0 * want.expect("a count"));
    assert!((got / want - 1.0).abs() < 0.03, "predicted {got}, simulated {want}");
}
