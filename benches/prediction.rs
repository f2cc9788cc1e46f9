//! Measures the speed of predictions on one core: configurations of the 25-point stencil on 640 x 512 x 512 points,
//! starting from its address expressions. Run it with `cargo bench -p warpline --bench prediction`. It prints
//! milliseconds of processor time per configuration (the limit is 1) and those of the slowest configuration; with
//! `WARPLINE_BENCH_SHAPES` set, it prints those of each.

#[path = "../tests/support_programs/mod.rs"]
mod support_programs;

use std::process::Command;
use std::time::Instant;

use support_programs::{build, root, run, warpline, work_folder};
use warpline::models::find;
use warpline::prediction::configurations::{Grids, all_blocks};
use warpline::prediction::launch::Launch;
use warpline::prediction::model::Model;
use warpline::prediction::predict::predict;
use warpline::prediction::subject::Subject;

/// The number of rounds over all configurations.
const ROUNDS: u32 = 3;

fn main() {
    let folder = work_folder("bench-prediction");
    let flags = ["-O2", "-g", "-arch=sm_80"].map(str::to_owned);
    let program = build(&[root().join("examples/long_range_stencil/long_range_stencil.cu")], &flags, &folder);
    let file = folder.join("stencil.wlprof");
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "a100", "--reuse", "off", "-o"]).arg(&file).arg("--").arg(program);
    assert!(run(&mut command, &folder, "run").status.success());
    let profile = warpline::profile::read(&file).expect("the profile of the stencil");
    let subject = Subject::new(&profile, &profile.kernels[0]).expect("a kernel with expressions");
    let mut launch = subject.launch.clone();
    for (name, value) in [("nx", 640), ("ny", 512), ("nz", 512)] {
        let parameter = subject.parameter(name).expect("the stencil's sizes");
        launch.arguments.insert((parameter.number, parameter.offset), value);
    }
    let found = find("a100").expect("a model");
    let (device, hierarchy, rates) = (found.run_device().unwrap().device, found.hierarchy().unwrap(), found.rates());
    let model =
        Model { key: "a100", device: &device, hierarchy: &hierarchy, rates: &rates, stated: Default::default() };
    let grids = Grids::new(&subject, [1; 3]);
    let blocks = all_blocks(&subject.launch, &grids.tiling);
    // For each shape, the shortest time of any round, because the clock of processor time has steps of milliseconds.
    let mut least = vec![f64::INFINITY; blocks.len()];
    let start = processor_seconds();
    for _ in 0..ROUNDS {
        for (&block, least) in blocks.iter().zip(&mut least) {
            let (grid, _) = grids.grid_for(&subject, &launch, block);
            let one = Launch::new(block, grid, launch.arguments.clone());
            let begin = Instant::now();
            std::hint::black_box(predict(&subject, &one, &model).ok());
            *least = least.min(begin.elapsed().as_secs_f64());
        }
    }
    let each = (processor_seconds() - start) / f64::from(ROUNDS) / blocks.len() as f64;
    if std::env::var_os("WARPLINE_BENCH_SHAPES").is_some() {
        for (block, least) in blocks.iter().zip(&least) {
            println!("{block:?} {:.3} ms", least * 1e3);
        }
    }
    let Some((block, time)) = blocks.iter().zip(&least).max_by(|one, two| one.1.total_cmp(two.1)) else { return };
    println!("{} configurations, {:.3} ms each, {:.3} ms at most ({block:?})", blocks.len(), each * 1e3, time * 1e3);
}

/// Returns the processor time of this thread, so that other programs on the machine do not count.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux reports the times of threads");
    let nanoseconds: u64 = text.split(' ').next().and_then(|first| first.parse().ok()).expect("nanoseconds first");
    nanoseconds as f64 / 1e9
}
