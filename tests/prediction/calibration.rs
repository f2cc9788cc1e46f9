//! The intervals of predictions, on kernels that no constant was fitted to: how often the simulated figure is inside, and whether the
//! fastest shape is among those that are worth a measurement.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;

const MODELS: [&str; 3] = ["p100", "t4", "rtx3090"];
const KERNELS: [&str; 5] = ["upwind", "enlarge", "turned", "windows", "paired"];
const SHAPES: [[u32; 2]; 8] = [[32, 8], [64, 4], [128, 1], [256, 1], [16, 16], [8, 32], [32, 32], [4, 16]];
/// Shapes that may be measured.
const BUDGET: usize = 4;

fn json(mut command: Command, folder: &Path) -> Value {
    let outcome = run(&mut command, folder, "warpline");
    assert!(outcome.status.success(), "{}", outcome.describe());
    serde_json::from_str(&outcome.stdout).expect("the document is JSON")
}

/// The profile of a run with blocks of this shape, caches empty before each launch, and its report.
fn profiled(program: &Path, folder: &Path, model: &str, [x, y]: [u32; 2]) -> (PathBuf, Value) {
    let file = folder.join(format!("{model}-{x}x{y}.wlprof"));
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", model, "--reuse", "off", "--l2-copies", "cold", "--l2-launches", "flushed", "-o"]);
    command.arg(&file).arg("--").arg(program).args([x, y].map(|size| size.to_string()));
    let outcome = run(&mut command, folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let mut command = Command::new(warpline());
    command.arg("report").arg(&file).args(["--format", "json"]);
    let report = json(command, folder);
    (file, report)
}

/// L2 loads, DRAM loads and DRAM stores in bytes, and the time of the model, of a kernel.
fn simulated(report: &Value, kernel: &str) -> [f64; 4] {
    let kernels = report["kernels"].as_array().expect("kernels");
    let row = kernels.iter().find(|row| row["name"].as_str().is_some_and(|name| name.starts_with(kernel)));
    let row = row.expect("the kernel");
    let global = &row["metrics"]["global"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let sectors = [&global["l2"]["load_lookups"], &global["dram"]["read_sectors"], &global["dram"]["write_sectors"]];
    let [l2, reads, writes] = sectors.map(|count| 32.0 * number(count));
    [l2, reads, writes, number(&row["estimates"][0]["seconds"])]
}

/// What is inside of its interval, of all figures; and in how many sets the fastest shape is among those worth a measurement.
#[derive(Default)]
struct Calibration {
    inside: [usize; 3],
    times_inside: usize,
    all: usize,
    kept: usize,
    sets: usize,
    lost: Vec<String>,
}

impl Calibration {
    fn add(&mut self, set: &str, document: &Value, simulated: &[[f64; 4]]) {
        let configurations = document["configurations"].as_array().expect("configurations");
        let of_shape = |one: &Value| SHAPES.iter().position(|[x, y]| one["block"] == serde_json::json!([x, y, 1]));
        for one in configurations {
            let truth = simulated[of_shape(one).expect("a requested shape")];
            let number = |name: &str| one[name].as_f64().expect("a number");
            for (figure, name) in ["l2_load", "dram_load", "dram_store"].into_iter().enumerate() {
                let bytes = number(&format!("{name}_bytes"));
                let reach = 2.0 * number(&format!("{name}_uncertainty")) * bytes;
                self.inside[figure] += usize::from((bytes - truth[figure]).abs() <= reach);
            }
            let range = number("seconds_low") * 0.999..=number("seconds_high") * 1.001;
            self.times_inside += usize::from(range.contains(&truth[3]));
            self.all += 1;
        }
        let fastest = simulated.iter().map(|truth| truth[3]).fold(f64::INFINITY, f64::min);
        let chosen = document["worth_measuring"]["configurations"].as_array().expect("configurations");
        assert!(chosen.len() <= BUDGET, "{set}: {chosen:?}");
        let best = chosen.iter().map(|at| {
            let one = &configurations[usize::try_from(at.as_u64().expect("a position")).expect("a position")];
            simulated[of_shape(one).expect("a requested shape")][3]
        });
        let best = best.fold(f64::INFINITY, f64::min);
        self.sets += 1;
        // Times to three digits.
        if best <= 1.005 * fastest {
            self.kept += 1;
        } else {
            self.lost.push(format!("{set}: {best:.3e} s, fastest {fastest:.3e} s"));
        }
    }
}

fn calibrate(models: &[&str], shapes: &[[u32; 2]]) {
    let folder = work_folder(&format!("predict-calibration-{}", models.len()));
    let flags = ["-O3", "-g", "-arch=sm_75"].map(str::to_owned);
    let program = build(&[root().join("tests/prediction/calibration.cu")], &flags, &folder);
    let blocks: Vec<String> = shapes.iter().map(|[x, y]| format!("{x}x{y}")).collect();
    let mut found = Calibration::default();
    for model in models {
        let runs: Vec<_> = shapes.iter().map(|&shape| profiled(&program, &folder, model, shape)).collect();
        for kernel in KERNELS {
            let mut command = Command::new(warpline());
            command.arg("predict").arg(&runs[0].0).args(["--kernel", &format!("^{kernel}")]);
            command.args(["--block", &blocks.join(","), "--budget", &BUDGET.to_string(), "--format", "json"]);
            let document = json(command, &folder);
            let truths: Vec<[f64; 4]> = runs.iter().map(|(_, report)| simulated(report, kernel)).collect();
            found.add(&format!("{kernel} on {model}"), &document, &truths);
        }
    }
    let Calibration { inside: [l2, reads, writes], times_inside, all, kept, sets, lost } = found;
    println!("of {all}: L2 loads {l2}, DRAM loads {reads}, DRAM stores {writes}, times {times_inside}");
    println!("fastest kept: {kept} of {sets}; {lost:?}");
    let share = |count: usize| count as f64 / all as f64;
    assert!([l2, reads, writes, times_inside].map(share).iter().all(|share| *share >= 0.9), "see the output");
    assert!(kept * 10 >= sets * 9, "{lost:?}");
}

#[test]
fn intervals_contain_what_is_simulated() {
    calibrate(&MODELS[..1], &SHAPES[..6]);
}

#[test]
#[ignore = "test-all"]
fn intervals_of_several_models_contain_what_is_simulated() {
    calibrate(&MODELS, &SHAPES);
}
