//! `warpline predict` against the simulation of the same launches, where addresses or loops are not affine, code is folded, or stores leave sectors incomplete.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;

const MODEL: &str = "v100";
const SHAPES: [[u32; 2]; 4] = [[32, 8], [8, 32], [64, 4], [128, 2]];

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let flags = ["-O3", "-g", "-std=c++17", "-arch=sm_70"].map(str::to_owned);
        build(&[root().join("tests/prediction/computed.cu")], &flags, &work_folder("predict-computed-program"))
    })
}

fn json(mut command: Command) -> Value {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let folder = work_folder(&format!("predict-computed-{}", CALLS.fetch_add(1, Relaxed)));
    let outcome = run(&mut command, &folder, "warpline");
    assert!(outcome.status.success(), "{}", outcome.describe());
    serde_json::from_str(&outcome.stdout).expect("the document is JSON")
}

/// The profiles of runs with blocks of each of [`SHAPES`], caches empty before each launch, and their reports.
fn profiles() -> &'static [(PathBuf, Value)] {
    static PROFILES: OnceLock<Vec<(PathBuf, Value)>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let folder = work_folder("predict-computed");
        let of_shape = |[x, y]: [u32; 2]| {
            let file = folder.join(format!("{x}x{y}.wlprof"));
            let mut command = Command::new(warpline());
            command.args(["run", "--gpu", MODEL, "--reuse", "off", "--l2-copies", "cold", "--l2-launches", "flushed"]);
            command.arg("-o").arg(&file).arg("--").arg(program()).args([x, y].map(|size| size.to_string()));
            let outcome = run(&mut command, &folder, "run");
            assert!(outcome.status.success(), "{}", outcome.describe());
            let mut command = Command::new(warpline());
            command.arg("report").arg(&file).args(["--format", "json"]);
            (file, json(command))
        };
        SHAPES.into_iter().map(of_shape).collect()
    })
}

/// What a shape is predicted to do, from the run of the first one.
fn predicted(kernel: &str, block: &str, more: &[&str]) -> Value {
    let mut command = Command::new(warpline());
    command.arg("predict").arg(&profiles()[0].0).args(["--kernel", &format!("^{kernel}\\("), "--block", block]);
    json({
        command.args(more).args(["--format", "json"]);
        command
    })["configurations"][0]
        .clone()
}

/// Requests, and bytes loaded from L2, stored to it, read from DRAM and written to it, of a kernel in the run of a shape.
fn simulated(kernel: &str, shape: usize) -> [f64; 5] {
    let kernels = profiles()[shape].1["kernels"].as_array().expect("kernels");
    let found =
        kernels.iter().find(|row| row["name"].as_str().is_some_and(|name| name.starts_with(&format!("{kernel}("))));
    let global = &found.expect("the kernel")["metrics"]["global"];
    let count = |value: &Value| value.as_f64().expect("a count");
    let (l2, dram) = (&global["l2"], &global["dram"]);
    let loads = count(&l2["load_lookups"]);
    [
        count(&global["requests"]),
        32.0 * loads,
        32.0 * (count(&l2["lookups"]) - loads),
        32.0 * count(&dram["read_sectors"]),
        32.0 * count(&dram["write_sectors"]),
    ]
}

/// Requests and stores are equal, L2 loads within a share, DRAM's within another.
#[track_caller]
fn near(found: &Value, want: [f64; 5], [of_l2, of_dram]: [f64; 2], what: &str) {
    let fields = ["requests", "l2_load_bytes", "l2_store_bytes", "dram_load_bytes", "dram_store_bytes"];
    for ((field, want), tolerance) in fields.into_iter().zip(want).zip([1e-3, of_l2, 1e-3, of_dram, of_dram]) {
        let got = found[field].as_f64().expect("a number");
        assert!((got - want).abs() <= tolerance * want, "{what}: {field} {got}, simulated {want}");
    }
}

#[track_caller]
fn near_in_all_shapes(kernel: &str, tolerances: [f64; 2]) {
    for (shape, [x, y]) in SHAPES.into_iter().enumerate() {
        let block = format!("{x}x{y}");
        near(&predicted(kernel, &block, &[]), simulated(kernel, shape), tolerances, &format!("{kernel} in {block}"));
    }
}

/// What the indices give in another way is replayed, too: its traffic is not that of the recorded shape.
#[test]
fn computed_addresses_have_the_traffic_of_the_shape() {
    near_in_all_shapes("enlarge", [0.06, 0.01]);
}

/// Threads that a guard keeps off touch nothing, affine as their addresses are.
#[test]
fn guards_that_are_computed_keep_threads_off() {
    near_in_all_shapes("under", [0.02, 0.01]);
}

/// A grid whose blocks are numbered along one axis covers as many indices of both.
#[test]
fn tiles_along_one_axis_cover_the_picture() {
    // 16 blocks of 32 across, 38 of 8 down, in other blocks of as many threads.
    for [x, y] in SHAPES {
        assert_eq!(predicted("tiles", &format!("{x}x{y}"), &[])["grid"], serde_json::json!([608, 1, 1]), "{x}x{y}");
    }
}

/// What accesses with footprints touch of an array is no part of what the others touch for the first time.
#[test]
fn clamped_rows_are_read_once() {
    near_in_all_shapes("blur", [0.06, 0.03]);
}

#[test]
fn clamped_loops_end_where_they_do() {
    for block in ["32x8", "8x32"] {
        let found = predicted("pool", block, &[]);
        assert_eq!(found["affine_share"], 1.0, "{found:#}");
    }
    near_in_all_shapes("pool", [0.06, 0.01]);
}

/// What is left over of eight iterations at a time is each thread's own number.
#[test]
fn windows_that_are_cut_at_both_ends_are_gone_through() {
    for block in ["32x8", "8x32"] {
        let found = predicted("smooth", block, &[]);
        let known = ["affine_share", "computed_share"].map(|share| found[share].as_f64().expect("a share"));
        assert!((known[0] + known[1] - 1.0).abs() < 1e-9, "{found:#}");
    }
    near_in_all_shapes("smooth", [0.06, 0.02]);
}

/// What is left over of long loops is taken from the run, and not left out.
#[test]
fn ends_of_long_loops_are_not_left_out() {
    for (shape, [x, y]) in SHAPES.into_iter().enumerate() {
        let threads = (x * y).to_string();
        let found = predicted("rows", &threads, &[]);
        let [requests, ..] = simulated("rows", shape);
        let got = found["requests"].as_f64().expect("a number");
        assert!((got - requests).abs() <= 0.001 * requests, "{got} requests, simulated {requests}");
    }
}

/// Points of a thread come to what they have in common at about the same time, in loops, too.
#[test]
fn folded_points_share_what_they_load() {
    for (shape, [x, y]) in SHAPES.into_iter().enumerate() {
        let block = format!("{x}x{y}");
        let found = predicted("enlarge", &block, &["--fold", "y=2"]);
        let [.., l2_stores, reads, writes] = simulated("enlarge_by_two", shape);
        let bytes = [("l2_store_bytes", l2_stores), ("dram_load_bytes", reads), ("dram_store_bytes", writes)];
        for (field, want) in bytes {
            let got = found[field].as_f64().expect("a number");
            assert!((got - want).abs() <= 0.02 * want, "{block}: {field} {got}, simulated {want}");
        }
        let threads = (x * y).to_string();
        let found = predicted("reverse", &threads, &["--fold", "x=2", "--grid", "80"]);
        near(&found, simulated("reverse_by_two", shape), [0.02, 0.06], &format!("reverse in {threads}"));
    }
}

/// The arrays are several times as large as L2, which does not hold rows' ends until something completes them.
#[test]
fn ends_of_rows_are_completed_from_dram() {
    near_in_all_shapes("stream", [0.01, 0.03]);
    let [.., reads, _] = simulated("stream", 0);
    assert!(reads > 1.1 * 94.0 * 4.0 * 60_000.0, "{reads}");
}

/// Blocks of one length keep step: between two turns of a warp comes what the others do in one, not what they do in half of their lives.
#[test]
fn records_stored_in_two_turns_have_their_traffic() {
    near(&predicted("members", "256", &[]), simulated("members", 0), [0.01, 0.15], "members");
}

/// An array that footprints touch as a whole is not read for other accesses once more.
#[test]
fn arrays_reached_in_several_ways_are_read_once() {
    let found = predicted("three_ways", "256", &[]);
    let [.., reads, writes] = simulated("three_ways", 0);
    for (field, want) in [("dram_load_bytes", reads), ("dram_store_bytes", writes)] {
        let got = found[field].as_f64().expect("a number");
        assert!((got - want).abs() <= 0.02 * want, "{field} {got}, simulated {want}");
    }
}

/// What the program makes of the shape keeps its value: a shape that does a quarter of the work is no better than the one that does all.
#[test]
fn shapes_that_do_other_work_come_last() {
    let mut command = Command::new(warpline());
    command.arg("predict").arg(&profiles()[0].0).args(["--kernel", r"^placed\(", "--block", "8x32,32x8,16x16"]);
    let text = {
        let outcome = run(&mut command, &work_folder("predict-other-work"), "warpline");
        assert!(outcome.status.success(), "{}", outcome.describe());
        outcome.stdout
    };
    assert!(text.contains("! not the work of the launch as it was") && text.contains("8x32!"), "{text}");
    let found = json({
        command.args(["--format", "json"]);
        command
    });
    let all = found["configurations"].as_array().expect("configurations");
    assert_eq!((&all[0]["block"], &all[0]["other_work"]), (&serde_json::json!([32, 8, 1]), &Value::Null));
    let shares = [1, 2].map(|place: usize| all[place]["other_work"].as_f64().expect("a share"));
    assert_eq!(shares, [0.25, 0.5]);
    // With what it is then, all of the work is done.
    let found = predicted("placed", "8x32", &["--set", "across=64", "--grid", "640"]);
    assert_eq!(found["other_work"], Value::Null);
    let [.., writes] = simulated("placed", 0);
    assert_eq!(found["dram_store_bytes"].as_f64(), Some(writes));
}

/// Fifteen iterations of a thread, some of which begin where another loop has ended.
#[test]
fn loops_follow_the_loops_around_them() {
    near_in_all_shapes("nested", [0.06, 0.03]);
}

/// Two strides that differ by an element are rows and columns.
#[test]
fn triangles_from_the_diagonal_on_are_read_once() {
    near_in_all_shapes("upper", [0.06, 0.1]);
}

/// Sizes at which numbers of 32 bits overflow are predicted as if they did not, and a line says so.
#[test]
fn sizes_at_which_numbers_overflow_are_told() {
    for (n, overflows) in [("1000", false), ("60000", true)] {
        let mut command = Command::new(warpline());
        command
            .arg("predict")
            .arg(&profiles()[0].0)
            .args(["--kernel", r"^rows\(", "--block", "256", "--format", "json"]);
        let found = json({
            command.args(["--set", &format!("n={n}")]);
            command
        });
        let all = found["assumptions"].as_array().expect("assumptions");
        let reported = all.iter().any(|text| text.as_str().is_some_and(|text| text.contains("would overflow")));
        assert_eq!(reported, overflows, "n = {n}: {all:?}");
    }
}

/// Distinct sectors of the launch are the rows that it touches.
#[test]
fn distinct_sectors_are_those_touched() {
    // 94 of 96 numbers in each of two arrays: rows of twelve sectors and three lines.
    let found = predicted("stream", "32x8", &[]);
    assert_eq!([&found["launch_sectors"], &found["launch_lines"]], [2 * 60_000 * 12, 2 * 60_000 * 3]);
    // Blocks of eight rows: those of a wave are whole rows.
    let blocks = found["blocks_per_sm"].as_u64().expect("blocks") * 80;
    assert_eq!(found["wave_sectors"], 2 * blocks * 8 * 4);
}

/// Without a run, what computed addresses read from DRAM is what they touch.
#[test]
fn executables_tell_what_is_touched() {
    let [x, y] = SHAPES[0];
    let (w, h) = (500_u32, 300_u32);
    let grid = format!("{}x{}", (2 * w).div_ceil(x), (2 * h).div_ceil(y));
    let mut command = Command::new(warpline());
    command.arg("predict").arg(program()).args(["--kernel", "^enlarge\\(", "--gpu", MODEL, "--format", "json"]);
    command.args(["--block", &format!("{x}x{y}"), "--grid", &grid, "--set", "w=500", "--set", "h=300"]);
    let found = &json(command)["configurations"][0];
    near(found, simulated("enlarge", 0), [0.06, 0.01], "enlarge without a run");
}

/// Copies of an unrolled loop that the recorded shape did not come to are what the code says, loads, stores and shared memory alike; those
/// that another shape does not come to leave no shared memory.
#[test]
fn code_that_the_run_did_not_reach_is_what_the_code_says() {
    for (shape, [_, rows]) in SHAPES.into_iter().enumerate() {
        let block = format!("32x{rows}");
        let found = predicted("turned", &block, &["--grid", "12x8"]);
        near(&found, simulated("turned", shape), [0.01, 0.01], &format!("turned in {block}"));
        // One pass over the banks for each of the 32 rows of a tile, stored and loaded.
        assert_eq!(found["shared_wavefronts"], 12 * 8 * 32 * 2, "{block}");
    }
}

/// What begins a loop's remainder is asked where it is reached alone, so that a padded convolution has forms; and blocks at its edges, which make fewer requests, end
/// early, so that SMs do not keep their rows. Taken to be as long as others, they had a quarter of the loads from L2.
#[test]
fn windows_over_an_edge_end_early() {
    let found = predicted("padded", "256x1", &[]);
    assert_eq!(found["affine_share"], 1.0);
    near(&found, simulated("padded", 0), [0.05, 0.01], "padded");
}

/// `max(y - 1, 0)` is a subtraction that ends at 0, which was taken from the run.
#[test]
fn subtractions_that_end_at_zero_are_followed() {
    near_in_all_shapes("behind", [0.02, 0.01]);
    let found = predicted("behind", "8x32", &[]);
    let shares = ["affine_share", "computed_share"].map(|share| found[share].as_f64().expect("a share"));
    assert!((shares[0] + shares[1] - 1.0).abs() < 1e-6, "{shares:?}");
}

/// Half of the slices of L2 have all of the lines for a while: one slice alone had 0.75 or 1.8 times the simulation's loads from DRAM, as arrays lie.
#[test]
fn slices_that_take_turns_stand_for_each_other() {
    near(&predicted("prefixes", "256", &[]), simulated("prefixes", 0), [0.01, 0.1], "prefixes");
}
