//! `warpline predict`: predictions equal the counts of recorded launches, and those of other launches equal their counts when they
//! are made.

use crate::support::schema;
use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The test program, built once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = work_folder("predict-program");
        let flags = ["-O3", "-g", "-arch=sm_80"].map(str::to_owned);
        build(&[root().join("tests/prediction/kernels.cu")], &flags, &folder)
    })
}

/// Profiles the program with a block; caches are empty when a kernel starts, as predictions have them.
fn profiled(folder: &Path, block: [u32; 3], size: u32) -> PathBuf {
    let file = folder.join(format!("{}x{}x{}-{size}.wlprof", block[0], block[1], block[2]));
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "a100", "--reuse", "off", "--l2-copies", "cold", "--l2-launches", "flushed", "-o"]);
    command.arg(&file).arg("--").arg(program()).args(block.map(|size| size.to_string())).arg(size.to_string());
    let outcome = run(&mut command, folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    file
}

fn predict(profile: &Path, folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("predict").arg(profile).args(arguments);
    run(&mut command, folder, "predict")
}

fn document(profile: &Path, folder: &Path, arguments: &[&str]) -> Value {
    let outcome = predict(profile, folder, &[arguments, &["--format", "json"]].concat());
    assert!(outcome.status.success(), "{}", outcome.describe());
    serde_json::from_str(&outcome.stdout).expect("the prediction is JSON")
}

/// The simulated counterpart of a configuration: the only launch of a kernel.
struct Simulated {
    requests: u64,
    wavefronts: u64,
    sectors: u64,
    shared_wavefronts: u64,
    l2_loads: u64,
    dram_loads: u64,
}

fn simulated(profile: &Path, folder: &Path, kernel: &str) -> Simulated {
    let mut command = Command::new(warpline());
    command.arg("report").arg(profile).args(["--format", "json"]);
    let report: Value = serde_json::from_str(&run(&mut command, folder, "report").stdout).expect("the report is JSON");
    let kernels = report["kernels"].as_array().expect("kernels");
    let kernel = kernels.iter().find(|row| row["name"].as_str().is_some_and(|name| name.starts_with(kernel)));
    let metrics = &kernel.expect("the kernel")["metrics"];
    let global = &metrics["global"];
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    Simulated {
        requests: count(&global["requests"]),
        wavefronts: count(&global["l1_wavefronts"]["data"]),
        sectors: count(&global["sectors"]),
        shared_wavefronts: count(&metrics["shared"]["shared"]["wavefronts"]),
        l2_loads: count(&global["l2"]["load_lookups"]) * 32,
        dram_loads: count(&global["dram"]["read_sectors"]) * 32,
    }
}

/// Within 0.1 % where addresses are affine.
fn near(got: &Value, want: u64, tolerance: f64, what: &str) {
    let got = got.as_f64().expect("a number");
    let apart = (got - want as f64).abs();
    assert!(apart <= tolerance * want as f64, "{what}: predicted {got}, simulated {want}");
}

/// Kernels of which everything follows from the launch, and the share of it that is affine.
const KNOWN: [(&str, bool); 9] = [
    ("stencil", true),
    ("product", true),
    ("rows", true),
    ("triangle", true),
    ("systems", true),
    ("planes", true),
    ("tree", true),
    ("clamped", false),
    ("particles", true),
];

#[test]
fn other_blocks_do_what_was_predicted() {
    let folder = work_folder("predict-blocks");
    let recorded = profiled(&folder, [32, 4, 1], 70);
    for block in [[32, 4, 1], [8, 8, 4], [64, 1, 2], [3, 33, 1], [1, 16, 8], [128, 2, 1]] {
        let profile = profiled(&folder, block, 70);
        for (kernel, affine) in KNOWN {
            let shape = match kernel {
                "stencil" => block,
                "product" | "planes" => [block[0] * block[2], block[1], 1],
                _ => [block.iter().product(), 1, 1],
            };
            let shape = shape.map(|size| size.to_string()).join("x");
            let found = document(&recorded, &folder, &["--kernel", &format!("^{kernel}"), "--block", &shape]);
            let got = &found["configurations"][0];
            let want = simulated(&profile, &folder, kernel);
            let what = |figure: &str| format!("{kernel} {shape}: {figure}");
            near(&got["requests"], want.requests, 0.0, &what("requests"));
            near(&got["l1_wavefronts"], want.wavefronts, 0.001, &what("wavefronts"));
            near(&got["request_sectors"], want.sectors, 0.001, &what("sectors"));
            near(&got["shared_wavefronts"], want.shared_wavefronts, 0.0, &what("shared wavefronts"));
            assert!(found["recorded"].as_array().is_some_and(Vec::is_empty), "{found}");
            // Clamped edges are cut from a footprint where it takes few cases; else the document says so. A triangle of few rows is cut row by row.
            let rough = found["assumptions"].to_string().contains("footprints leave some edges");
            assert!(!rough || kernel == "clamped", "{}", what("rough"));
            if !rough {
                // Rows that a wave walks are more than either cache holds; their loop is replayed in part.
                let (dram, l2) = if kernel == "rows" { (0.2, 0.25) } else { (0.1, 0.05) };
                near(&got["dram_load_bytes"], want.dram_loads, dram, &what("DRAM loads"));
                near(&got["l2_load_bytes"], want.l2_loads, l2, &what("L2 loads"));
            }
            if affine {
                assert_eq!(got["affine_share"], 1.0, "{}", what("affine share"));
            } else {
                assert_eq!(got["affine_share"].as_f64().unwrap() + got["computed_share"].as_f64().unwrap(), 1.0);
            }
        }
    }
}

/// Of a loop that the compiler has unrolled, whose length is each thread's own, what is left of its iterations is taken from the run.
#[test]
fn unrolled_loops_are_followed() {
    let folder = work_folder("predict-unrolled");
    let recorded = profiled(&folder, [32, 4, 1], 70);
    for threads in [64, 128, 256] {
        let profile = profiled(&folder, [threads, 1, 1], 70);
        let shape = threads.to_string();
        let found = document(&recorded, &folder, &["--kernel", "^unrolled_triangle", "--block", &shape]);
        let got = &found["configurations"][0];
        let want = simulated(&profile, &folder, "unrolled_triangle");
        near(&got["requests"], want.requests, 0.0, &shape);
        near(&got["l1_wavefronts"], want.wavefronts, 0.001, &shape);
        near(&got["request_sectors"], want.sectors, 0.001, &shape);
        let share = got["affine_share"].as_f64().expect("a share");
        assert!(share > 0.95 && share < 1.0, "{share}");
    }
}

#[test]
fn shared_memory_and_fixed_shapes_are_told() {
    let folder = work_folder("predict-shared");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let found = document(&profile, &folder, &["--kernel", "^tiled", "--block", "16x16"]);
    let want = simulated(&profile, &folder, "tiled");
    near(&found["configurations"][0]["shared_wavefronts"], want.shared_wavefronts, 0.0, "tiled: shared wavefronts");
    assert_eq!(found["configurations"][0]["recorded"], true);
    let fixed = |found: &Value| {
        let all = found["assumptions"].as_array().expect("assumptions");
        all.iter().any(|one| one.as_str().is_some_and(|text| text.contains("written into the code")))
    };
    assert!(!fixed(&found));
    assert!(fixed(&document(&profile, &folder, &["--kernel", "^tiled", "--block", "32x8"])));
    // Other shapes would need other code, so they are predicted where they are asked for by name only.
    let all = document(&profile, &folder, &["--kernel", "^tiled"]);
    assert_eq!(all["configurations"].as_array().map(Vec::len), Some(1));
    assert!(fixed(&all));
}

#[test]
fn blocks_with_work_of_their_own_keep_their_number() {
    let folder = work_folder("predict-own-work");
    let recorded = profiled(&folder, [32, 4, 1], 70);
    let other = profiled(&folder, [8, 8, 4], 50);
    let cases: [(&str, &[&str], [u64; 3]); 3] = [
        ("row_sums", &["--block", "256", "--set", "count=200"], [200, 1, 1]),
        ("layers", &["--block", "256"], [4, 30, 5]),
        ("flattened", &["--block", "32x8", "--set", "n=2495"], [10, 1, 1]),
    ];
    for (kernel, wishes, grid) in cases {
        let name = format!("^{kernel}");
        let found = document(&recorded, &folder, &[&["--kernel", &name][..], wishes].concat());
        let got = &found["configurations"][0];
        assert_eq!(got["grid"], serde_json::json!(grid), "{kernel}");
        let want = simulated(&other, &folder, kernel);
        near(&got["requests"], want.requests, 0.0, kernel);
        near(&got["request_sectors"], want.sectors, 0.001, kernel);
        near(&got["l2_load_bytes"], want.l2_loads, 0.01, kernel);
        near(&got["dram_load_bytes"], want.dram_loads, 0.01, kernel);
    }
    // Of rows there are as many for all shapes, and shapes differ only where the code asks for the size of a block.
    let rows = document(&recorded, &folder, &["--kernel", "^row_sums"]);
    let grids = |found: &Value| {
        let all = found["configurations"].as_array().expect("configurations").iter();
        all.map(|one| (one["block"].clone(), one["grid"].clone())).collect::<Vec<_>>()
    };
    // The code has room for 256 threads.
    assert_eq!(grids(&rows).len(), 3);
    let refused = rows["refused"].as_array().expect("refused shapes");
    assert_eq!(refused.iter().map(|one| &one["block"][0]).collect::<Vec<_>>(), [512, 1024]);
    assert!(
        refused[0]["reason"].as_str().is_some_and(|text| text.contains("byte 2048 of shared memory")),
        "{refused:?}"
    );
    assert!(grids(&rows).iter().all(|(_, grid)| *grid == serde_json::json!([280, 1, 1])), "{:?}", grids(&rows));
    let layers = document(&recorded, &folder, &["--kernel", "^layers"]);
    assert_eq!(grids(&layers).len(), 5);
    assert!(grids(&layers).iter().all(|(block, _)| block[1] == 1 && block[2] == 1), "{:?}", grids(&layers));
    let reported = |found: &Value, text: &str| found["assumptions"].to_string().contains(text);
    assert!(reported(&layers, "does not grow with its threads"));
    assert!(reported(&document(&recorded, &folder, &["--kernel", "^layers", "--block", "32x4"]), "uses blockDim.y"));
}

#[test]
fn threads_that_the_code_lays_out_are_indices() {
    let folder = work_folder("predict-arranged");
    let recorded = profiled(&folder, [32, 4, 1], 70);
    for (block, shape, grid) in [([32, 4, 1], "128", 63), ([8, 8, 4], "256", 32), ([16, 4, 1], "64", 126)] {
        let profile = profiled(&folder, block, 70);
        let found = document(&recorded, &folder, &["--kernel", "^arranged", "--block", shape]);
        let (got, want) = (&found["configurations"][0], simulated(&profile, &folder, "arranged"));
        let what = |figure: &str| format!("{shape}: {figure}");
        assert_eq!(got["affine_share"], 1.0, "{}", what("affine share"));
        assert_eq!(got["grid"], serde_json::json!([grid, 1, 1]));
        near(&got["requests"], want.requests, 0.0, &what("requests"));
        near(&got["l1_wavefronts"], want.wavefronts, 0.001, &what("wavefronts"));
        near(&got["request_sectors"], want.sectors, 0.001, &what("sectors"));
        near(&got["l2_load_bytes"], want.l2_loads, 0.05, &what("L2 loads"));
        near(&got["dram_load_bytes"], want.dram_loads, 0.1, &what("DRAM loads"));
    }
}

#[test]
fn loads_past_level_1_are_requests_of_level_2() {
    let folder = work_folder("predict-past");
    let recorded = profiled(&folder, [32, 4, 1], 70);
    for (block, shape) in [([32, 4, 1], "128"), ([8, 8, 4], "256"), ([16, 4, 1], "64")] {
        let profile = profiled(&folder, block, 70);
        let found = document(&recorded, &folder, &["--kernel", "^past", "--block", shape]);
        let (got, want) = (&found["configurations"][0], simulated(&profile, &folder, "past"));
        assert_eq!(got["affine_share"], 1.0, "{shape}");
        near(&got["request_sectors"], want.sectors, 0.001, &format!("{shape}: sectors"));
        near(&got["l2_load_bytes"], want.l2_loads, 0.01, &format!("{shape}: L2 loads"));
        near(&got["dram_load_bytes"], want.dram_loads, 0.1, &format!("{shape}: DRAM loads"));
    }
}

#[test]
fn atomic_operations_read_what_they_change() {
    let folder = work_folder("predict-atomics");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let found = document(&profile, &folder, &["--kernel", "^add_pairs", "--block", "128"]);
    let (got, want) = (&found["configurations"][0], simulated(&profile, &folder, "add_pairs"));
    near(&got["request_sectors"], want.sectors, 0.001, "sectors");
    near(&got["l2_load_bytes"], want.l2_loads, 0.01, "L2 loads");
    near(&got["dram_load_bytes"], want.dram_loads, 0.01, "DRAM loads");
}

#[test]
fn another_size_does_what_was_predicted() {
    let folder = work_folder("predict-size");
    let recorded = profiled(&folder, [32, 4, 1], 70);
    let profile = profiled(&folder, [32, 4, 1], 201);
    let found = document(&recorded, &folder, &["--kernel", "^product", "--block", "32x4", "--set", "n=201"]);
    let (got, want) = (&found["configurations"][0], simulated(&profile, &folder, "product"));
    assert_eq!(got["grid"], serde_json::json!([7, 51, 1]));
    near(&got["requests"], want.requests, 0.0, "requests");
    near(&got["l1_wavefronts"], want.wavefronts, 0.001, "wavefronts");
    near(&got["request_sectors"], want.sectors, 0.001, "sectors");
    assert!(found["assumptions"].to_string().contains("grids follow n"));
    assert_eq!(got["recorded"], false);
}

/// Code that is changed as `--fold`, `--pad` and `--layout` say does what was predicted of it.
#[test]
fn changed_code_does_what_was_predicted() {
    let folder = work_folder("predict-changes");
    for block in [[32, 4, 1], [8, 4, 4], [16, 16, 1]] {
        let profile = profiled(&folder, block, 70);
        let shape = block.map(|size: u32| size.to_string()).join("x");
        let line = block.iter().product::<u32>().to_string();
        for (kernel, change, counterpart, shape) in [
            ("^stencil", ["--fold", "y=2"], "folded_stencil", &shape),
            ("^stencil", ["--pad", "volume.x=3"], "wide_stencil", &shape),
            ("^stencil", ["--pad", "in.x=3"], "wide_stencil", &shape),
            ("^particles", ["--layout", "all=soa"], "members", &line),
        ] {
            let found = document(&profile, &folder, &[&["--kernel", kernel, "--block", shape], &change[..]].concat());
            let (got, want) = (&found["configurations"][0], simulated(&profile, &folder, counterpart));
            let what = |figure: &str| format!("{kernel} {change:?} {shape}: {figure}");
            near(&got["requests"], want.requests, 0.02, &what("requests"));
            near(&got["l1_wavefronts"], want.wavefronts, 0.02, &what("wavefronts"));
            near(&got["request_sectors"], want.sectors, 0.02, &what("sectors"));
            near(&got["dram_load_bytes"], want.dram_loads, 0.1, &what("DRAM loads"));
            assert_eq!(got["affine_share"], 1.0, "{}", what("affine share"));
            assert_eq!(got["recorded"], false);
            assert_eq!(found["changes"].as_array().map(Vec::len), Some(1), "{found}");
        }
        // The grid of folded code follows the size that it is set to.
        let asked =
            ["--kernel", "^stencil", "--block", "8x4x2", "--fold", "y=2,z=4", "--set", "ny=640", "--set", "nz=128"];
        let found = document(&profile, &folder, &asked);
        assert_eq!(found["configurations"][0]["grid"], serde_json::json!([9, 80, 16]));
    }
}

/// What no launch can be is refused, with what it would have to be.
#[test]
fn launches_that_cannot_be_are_refused() {
    let folder = work_folder("predict-refused");
    let profile = profiled(&folder, [32, 4, 1], 70);
    for (arguments, message) in [
        (&["--kernel", "^product", "--set", "n=-5"][..], "--set n=-5: grids follow n, and this leaves no block"),
        (&["--kernel", "^product", "--set", "n=0"], "--set n=0: grids follow n"),
        (&["--kernel", "^product", "--over", "n=0,64"], "--over n=0: grids follow n"),
        (&["--kernel", "^product", "--set", "n=64", "--set", "n=65"], "--set n: it was given before"),
        (&["--kernel", "^product", "--grid", "1x70000"], "65535 along y and z at most"),
        (&["--kernel", "^product", "--fold", "y=100"], "of 1 to 64 points"),
        (&["--kernel", "^product", "--over", "n=64,128", "--format", "csv"], "use json, text or html"),
    ] {
        let outcome = predict(&profile, &folder, arguments);
        assert_eq!(outcome.status.code(), Some(2), "{arguments:?}: {}", outcome.describe());
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.describe());
    }
    let tall = predict(&profile, &folder, &["--kernel", "^product", "--block", "32x4", "--set", "n=300000"]);
    assert_eq!(tall.status.code(), Some(4), "{}", tall.describe());
    assert!(tall.stderr.contains("65535 along y and z at most"), "{}", tall.describe());
    // Where the grid is given, nothing may be left to do.
    let idle =
        predict(&profile, &folder, &["--kernel", "^stencil", "--block", "32x4", "--grid", "3x18x9", "--set", "nx=0"]);
    assert_eq!(idle.status.code(), Some(4), "{}", idle.describe());
    assert!(idle.stderr.contains("no thread of the launch makes a request"), "{}", idle.describe());
}

/// A grid that leaves out work makes no better shape, and one that does not follow a size says so; both went without a word.
#[test]
fn grids_that_do_other_work_are_told() {
    let folder = work_folder("predict-other-grids");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let narrow = predict(&profile, &folder, &["--kernel", "^product", "--block", "32x4", "--grid", "1x18"]);
    assert!(narrow.status.success(), "{}", narrow.describe());
    assert!(narrow.stdout.contains("! not the work of the launch as it was"), "{}", narrow.stdout);
    let asked = ["--kernel", "^product", "--block", "16x4,32x4", "--grid", "3x18", "--set", "n=70", "--gpu", "a100"];
    let found = document(program(), &folder, &asked);
    let [first, second] = [0, 1].map(|place: usize| &found["configurations"][place]);
    assert_eq!((&first["block"], &first["other_work"]), (&serde_json::json!([32, 4, 1]), &Value::Null));
    // 48 of 70 columns.
    let share = second["other_work"].as_f64().expect("a share");
    assert!((share - 48.0 / 70.0).abs() < 0.001, "{share}");
    assert_eq!(found["compared_with"], serde_json::json!({"block": [32, 4, 1], "grid": [3, 18, 1]}));
    let reported = |arguments: &[&str]| {
        let found = document(&profile, &folder, arguments);
        found["assumptions"].to_string().contains("grids are as large as in the run")
    };
    // How many points a thread does is a parameter of its own: 4895 of them, three to each of 128 threads.
    let found = document(&profile, &folder, &["--kernel", "^chunks", "--block", "128", "--set", "items=3"]);
    assert_eq!(found["configurations"][0]["grid"], serde_json::json!([13, 1, 1]));
    assert_eq!(found["configurations"][0]["requests"], 2 * 4895_u32.div_ceil(32));
    assert!(reported(&["--kernel", "^layers", "--block", "64", "--set", "ny=60"]));
    assert!(
        !reported(&["--kernel", "^layers", "--block", "64"]) && !reported(&["--kernel", "^product", "--set", "n=90"])
    );
}

/// The run has the recorded launch's own figures, which show how accurate a prediction is: here they differ because L2 held arrays of the launches before.
#[test]
fn figures_that_the_run_had_otherwise_are_told() {
    let folder = work_folder("predict-beside-the-run");
    let reported = |profile: &Path| {
        let found = document(profile, &folder, &["--kernel", "^tree", "--block", "128"]);
        let all = found["assumptions"].as_array().expect("assumptions").iter().filter_map(Value::as_str);
        all.filter(|text| text.contains("of the recorded launch itself")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(reported(&profiled(&folder, [32, 4, 1], 520)), Vec::<String>::new());
    let kept = folder.join("kept.wlprof");
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "a100", "--reuse", "off", "--l2-copies", "cold", "-o"]);
    command.arg(&kept).arg("--").arg(program()).args(["32", "4", "1", "520"]);
    let outcome = run(&mut command, &folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let reported = reported(&kept);
    assert!(
        reported.len() == 1 && reported[0].contains("loads from DRAM 1.0 MiB (in the run 0.0 MiB)"),
        "{reported:?}"
    );
}

/// What a run did not reach and the code does not tell is left out, which is said.
#[test]
fn accesses_of_which_nothing_is_known_are_told() {
    let folder = work_folder("predict-looked-up");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let source = std::fs::read_to_string(root().join("tests/prediction/kernels.cu")).expect("the program's source");
    let line = 1 + source
        .lines()
        .position(|line| line.contains("out[i] = in[index[i]];") && line.starts_with("            "))
        .expect("the line");
    let reported = |n: &str| {
        let found = document(&profile, &folder, &["--kernel", "^looked_up", "--block", "64", "--set", n]);
        found["assumptions"].to_string().contains(&format!("they are left out (line {line})"))
    };
    assert!(reported("n=200000") && !reported("n=5000"));
}

/// A call that is left is refused: its accesses were left out without a word, and a kernel that loads through one moved nothing.
#[test]
fn calls_that_were_not_inlined_are_refused_without_a_run() {
    let folder = work_folder("predict-calls");
    let flags = ["-O2", "-g", "-arch=sm_80"].map(str::to_owned);
    let program = build(&[root().join("tests/programs/bundles.cu")], &flags, &folder);
    let outcome = predict(&program, &folder, &["--kernel", "^generic", "--block", "64", "--grid", "2"]);
    assert_eq!(outcome.status.code(), Some(4), "{}", outcome.describe());
    assert!(outcome.stderr.contains("a function that was not inlined"), "{}", outcome.describe());
    assert!(outcome.stderr.contains("bundles.cu:"), "{}", outcome.describe());
}

/// An executable gives the prediction that its profile gives, for a stated launch.
#[test]
fn executables_need_no_run() {
    let folder = work_folder("predict-executable");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let asked = ["--kernel", "^product", "--block", "32x4", "--grid", "3x18", "--gpu", "a100"];
    let from_profile = document(&profile, &folder, &asked);
    let from_executable = document(program(), &folder, &[&asked[..], &["--set", "n=70"]].concat());
    let (got, want) = (&from_executable["configurations"][0], &from_profile["configurations"][0]);
    for figure in ["requests", "l1_wavefronts", "request_sectors", "l2_load_bytes", "dram_load_bytes", "blocks_per_sm"]
    {
        assert_eq!(got[figure], want[figure], "{figure}");
    }
    assert!(from_executable["assumptions"].to_string().contains("was not run"));
    for (arguments, code, message) in [
        (&["--kernel", "^product"][..], 2, "--grid SHAPE are required"),
        (&["--kernel", "^product", "--block", "32x4", "--grid", "3x18"], 2, "--set n=VALUE"),
        (&["--kernel", "nothing", "--block", "32", "--grid", "3"], 4, "no kernel matches"),
        (&["--kernel", "^gather", "--block", "32", "--grid", "3", "--set", "n=70"], 4, "loaded from memory at line"),
        (&["--kernel", "^product", "--check", "x {x}"], 2, "give `predict` a profile"),
    ] {
        let outcome = predict(program(), &folder, arguments);
        assert_eq!(outcome.status.code(), Some(code), "{arguments:?}: {}", outcome.describe());
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.describe());
    }
    let other = predict(Path::new("/bin/sh"), &folder, &["--block", "32", "--grid", "3"]);
    assert_eq!(other.status.code(), Some(4), "{}", other.describe());
}

#[test]
fn what_is_not_known_is_taken_from_the_run_and_told() {
    let folder = work_folder("predict-gather");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let found = document(&profile, &folder, &["--kernel", "^gather", "--block", "all"]);
    let source = std::fs::read_to_string(root().join("tests/prediction/kernels.cu")).expect("the program's source");
    let line = 1 + source.lines().position(|line| line.contains("in[index[i]]")).expect("the line");
    let sites = found["recorded"].as_array().expect("sites");
    assert_eq!(sites.len(), 1, "{sites:?}");
    assert_eq!(sites[0]["line"], line);
    assert_eq!(sites[0]["reason"], format!("its address is loaded from memory at line {line}"));
    for one in found["configurations"].as_array().expect("configurations") {
        let share = one["affine_share"].as_f64().expect("a share");
        assert!(share > 0.3 && share < 1.0, "{one}");
    }
    // As many threads as come to it now: 2000 of 4895.
    let found = document(&profile, &folder, &["--kernel", "^gather", "--block", "64", "--set", "n=2000"]);
    let requests = found["configurations"][0]["requests"].as_f64().expect("a count");
    assert!((requests - 3.0 * 2000.0 / 32.0).abs() <= 2.0, "{requests}");
    let found = document(&profile, &folder, &["--kernel", "^filter", "--block", "64"]);
    let flags = 1 + source.lines().position(|line| line.contains("flags[i] == 0")).expect("the line");
    let reasons = found["recorded"].to_string();
    let reason = format!("whether it is executed depends on a value loaded from memory at line {flags}");
    assert!(reasons.contains(&reason) && !reasons.contains("its address"), "{reasons}");
    let refused = predict(&profile, &folder, &["--kernel", "^chase", "--block", "64"]);
    assert_eq!(refused.status.code(), Some(4), "{}", refused.describe());
    assert!(refused.stderr.contains("loaded from memory at line"), "{}", refused.describe());
}

#[test]
fn checks_are_made_in_a_private_folder() {
    let folder = work_folder("predict-private");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).expect("a folder for temporary files");
    // It runs in the place of the program, and tells what lies there meanwhile.
    let look = folder.join("look.sh");
    let (seen, there) = (folder.join("seen"), temporary.join("warpline-predict*"));
    std::fs::write(&look, format!("stat -c '%a %n' {} > {}\n", there.display(), seen.display())).expect("a script");
    let mut command = Command::new(warpline());
    command.arg("predict").arg(&profile).args(["--kernel", "^product", "--block", "32x4"]);
    command.arg("--check").arg(format!("/bin/sh {} {{x}}", look.display())).env("TMPDIR", &temporary);
    let outcome = run(&mut command, &folder, "predict --check");
    assert!(outcome.stderr.contains("gave no profile"), "{}", outcome.describe());
    let seen = std::fs::read_to_string(seen).expect("the program ran");
    assert!(seen.starts_with("700 ") && seen.lines().count() == 1, "{seen}");
    assert_eq!(std::fs::read_dir(&temporary).expect("the folder").count(), 0);
}

#[test]
fn checks_take_the_grid_that_the_program_has() {
    let folder = work_folder("predict-check-grid");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let mut command = Command::new(warpline());
    command.arg("predict").arg(&profile).args(["--kernel", "^doubled", "--block", "64,128", "--check"]);
    command.arg(format!("{} {{x}} 1 1 70", program().display()));
    let outcome = run(&mut command, &folder, "predict --check");
    assert!(outcome.status.success(), "{}", outcome.describe());
    for shape in ["64x1x1", "128x1x1"] {
        let row = outcome.stdout.lines().find(|line| line.starts_with(shape)).expect("a row");
        assert_eq!(row.split_whitespace().skip(1).collect::<Vec<_>>(), ["1.000"; 5], "{}", outcome.stdout);
    }
    let note = "64x1x1: the program's grid is 12x1x1, not 24x1x1; the shape was predicted again for it";
    assert!(outcome.stdout.contains(note) && !outcome.stdout.contains("128x1x1:"), "{}", outcome.stdout);
}

#[test]
fn documents_are_those_of_the_schema_and_ranked() {
    let folder = work_folder("predict-formats");
    let profile = profiled(&folder, [32, 4, 1], 70);
    let found = document(&profile, &folder, &["--kernel", "^stencil", "--gpu", "a100,v100,h200"]);
    let schema: Value = serde_json::from_str(include_str!("../../docs/prediction-v1.schema.json")).unwrap();
    schema::check(&schema, &schema, &found, "prediction");
    assert_eq!(found["other_models"].as_array().map(Vec::len), Some(2));
    // Times to three digits.
    let time = |one: &Value| format!("{:.2e}", one["seconds"].as_f64().unwrap()).parse::<f64>().unwrap();
    let times: Vec<f64> = found["configurations"].as_array().unwrap().iter().map(time).collect();
    assert!(times.len() > 100 && times.is_sorted(), "{times:?}");
    let again = document(&profile, &folder, &["--kernel", "^stencil", "--gpu", "a100,v100,h200"]);
    assert_eq!(found, again);

    let csv = predict(&profile, &folder, &["--kernel", "^stencil", "--gpu", "a100,v100", "--format", "csv"]).stdout;
    let columns = csv.lines().next().unwrap().split(',').count();
    // The kernel's name has commas between its parameters, inside quotes.
    assert!(
        csv.lines().skip(1).all(|line| line
            .replace("stencil(double const*, double*, int, int, int)", "")
            .split(',')
            .count()
            == columns)
    );
    assert!(csv.lines().count() > 200);

    let text = predict(&profile, &folder, &["--kernel", "^stencil", "--top", "3"]).stdout;
    assert!(text.contains("32x4*") && text.contains("* as it was run") && text.contains("assumed: "), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("100.0 %")).count(), 4, "{text}");
}

#[test]
fn wrong_wishes_are_refused_with_the_cure() {
    let folder = work_folder("predict-usage");
    let profile = profiled(&folder, [32, 4, 1], 70);
    for (arguments, code, message) in [
        (&["--block", "32x4"][..], 2, "--kernel has to name one kernel"),
        (&["--kernel", "nothing"], 4, "no kernel matches"),
        (&["--kernel", "^stencil", "--block", "32x64"], 2, "1024 threads"),
        (&["--kernel", "^stencil", "--block", "32*4"], 2, "--block takes sizes"),
        (&["--kernel", "^stencil", "--grid", "0"], 2, "--grid takes sizes"),
        (&["--kernel", "^stencil", "--set", "n=4"], 2, "these can be set: nx, ny, nz"),
        (&["--kernel", "^stencil", "--set", "in=4"], 2, "a pointer has no value"),
        (&["--kernel", "^stencil", "--set", "nx=4294967296"], 2, "does not fit 32 bits"),
        (&["--kernel", "^stencil", "--set", "nx"], 2, "NAME=VALUE"),
        (&["--kernel", "^stencil", "--gpu", "mi210"], 2, "warps of 32 lanes"),
        (&["--kernel", "^stencil", "--fold", "w=2"], 2, "--fold takes AXIS=POINTS"),
        (&["--kernel", "^stencil", "--fold", "x=8", "--fold", "y=64"], 2, "at most 64 can be predicted"),
        (&["--kernel", "^stencil", "--pad", "nothing.x=1"], 2, "there are: volume, in, result, out"),
        (&["--kernel", "^particles", "--pad", "all.y=1"], 2, "no parameter of the kernel is the length"),
        (&["--kernel", "^stencil", "--layout", "in=soa"], 2, "cannot be split"),
        (&["--kernel", "^stencil", "--over", "in=1"], 2, "a pointer has no value"),
    ] {
        let outcome = predict(&profile, &folder, arguments);
        assert_eq!(outcome.status.code(), Some(code), "{arguments:?}: {}", outcome.describe());
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.describe());
    }
    // Sizes beyond what 64 bits hold neither crash nor hang.
    for wish in ["nx=2147483647", "nx=-5", "nx=0"] {
        predict(&profile, &folder, &["--kernel", "^stencil", "--set", wish, "--block", "32x4"]);
        predict(&profile, &folder, &["--kernel", "^product", "--set", &wish.replace("nx", "n"), "--block", "32x4"]);
    }
}
