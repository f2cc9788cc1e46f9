//! The code and the host side of a GPU, run without one: each program is built for the emulated GPU, and what its warps
//! send and count there is compared with what the CPU device records, warp by warp.
//!
//! `WARPLINE_SWEEP=FILE cargo test --test emulated_gpu -- --ignored sweep --nocapture` does the same with programs of
//! others: each line of the file is an executable built with `--device=gpu-emulated`, and its arguments.

use crate::support_programs::streams::{Recorded, count_differences, differences};
use crate::support_programs::{build, root, run, warpline_cc, work_folder};
use std::path::{Path, PathBuf};
use std::process::Command;
use warpline_format::operation::RecordedKinds;
use warpline_format::options::{DEVICE_VARIABLE, EMULATED, Mode, Options, Output, VARIABLE};

/// Runs a program on a device and gives its trace and its exit code.
fn record(program: &Path, arguments: &[String], device: &str, mode: Mode, folder: &Path) -> (PathBuf, Option<i32>) {
    record_with(program, arguments, device, &Options { mode, ..Options::default() }, folder)
}

/// As [`record`], with the run's options.
fn record_with(
    program: &Path,
    arguments: &[String],
    device: &str,
    options: &Options,
    folder: &Path,
) -> (PathBuf, Option<i32>) {
    let name = format!("{device}-{:?}", options.mode);
    let trace = folder.join(format!("{name}.wltrace"));
    let options = Options { output: Output::File(trace.display().to_string()), ..options.clone() };
    let mut command = Command::new(program);
    command.args(arguments).env(VARIABLE, options.encode()).env(DEVICE_VARIABLE, device);
    command.env("WARPLINE_CC", warpline_cc());
    let outcome = run(&mut command, folder, &name);
    (trace, outcome.status.code())
}

/// What differs between the devices when the program runs on them, and what was compared.
fn compare(program: &Path, arguments: &[String], folder: &Path) -> (Vec<String>, String) {
    let (cpu, code) = record(program, arguments, "cpu", Mode::Trace, folder);
    let (gpu, traced) = record(program, arguments, EMULATED, Mode::Trace, folder);
    let (counts, counted) = record(program, arguments, EMULATED, Mode::Counters, folder);
    let mut found = Vec::new();
    if [traced, counted] != [code, code] {
        found.push(format!("exit codes {code:?}, {traced:?} with records, {counted:?} with counts"));
    }
    if [&cpu, &gpu, &counts].iter().any(|path| !path.is_file()) {
        found.push("a trace is missing".to_owned());
        return (found, String::new());
    }
    found.extend(differences(&cpu, &gpu));
    found.extend(count_differences(&cpu, &counts).into_iter().map(|text| format!("counters: {text}")));
    let recorded = Recorded::read(&gpu);
    let size = format!("{} launches, {} requests", recorded.launches(), recorded.requests());
    for path in [cpu, gpu, counts] {
        let _ = std::fs::remove_file(path);
    }
    (found, size)
}

fn same_on_both(name: &str, sources: &[PathBuf], arguments: &[&str]) {
    let folder = work_folder(&format!("emulated-{name}"));
    let flags = [format!("--device={EMULATED}"), "-O2".to_owned()];
    let program = build(sources, &flags, &folder);
    let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
    let (found, size) = compare(&program, &arguments, &folder);
    assert!(found.is_empty(), "{name} ({size}):\n{}", found.join("\n"));
}

/// All forms of hooks in one program.
#[test]
fn warps_send_and_count_on_the_emulated_gpu_what_they_do_on_the_cpu_device() {
    same_on_both("forms", &[root().join("tests/emulated/forms.cu")], &[]);
}

/// Operator, types, operands, results and lanes of each execution, with the accesses of the warp in its order.
#[test]
fn operations_have_the_same_values_as_on_the_cpu_device() {
    let folder = work_folder("emulated-operations");
    let flags = [format!("--device={EMULATED}"), "-O2".to_owned(), "-arch=sm_80".to_owned()];
    for source in ["operations/values.cu", "emulated/operations.cu"] {
        let program = build(&[root().join("tests").join(source)], &flags, &folder);
        let recorded = RecordedKinds { float: true, integer: true, memory: true };
        let options = Options { recorded, ..Options::default() };
        let [(cpu, code), (gpu, on_gpu)] =
            ["cpu", EMULATED].map(|device| record_with(&program, &[], device, &options, &folder));
        assert_eq!((code, on_gpu), (Some(0), Some(0)), "{source}");
        let found = differences(&cpu, &gpu);
        assert!(found.is_empty(), "{source}:\n{}", found.join("\n"));
        let [on_cpu, on_gpu] = [&cpu, &gpu].map(|path| Recorded::read(path).operations());
        assert!(on_cpu == on_gpu && on_cpu >= 20, "{source}: {on_cpu} and {on_gpu} executions");
    }
}

#[test]
fn an_executable_without_the_emulated_gpu_says_how_to_get_it() {
    let folder = work_folder("emulated-absent");
    let program = build(&[root().join("examples/saxpy/saxpy.cu")], &["-O2".to_owned()], &folder);
    let mut command = Command::new(&program);
    let outcome = run(command.env(DEVICE_VARIABLE, EMULATED), &folder, "run");
    assert_eq!(outcome.status.code(), Some(125), "{}", outcome.describe());
    assert!(outcome.stderr.contains("warpline cc --device=gpu-emulated"), "{}", outcome.describe());
}

/// Every example of `examples/expected.json`, as it runs without arguments.
#[test]
#[ignore = "test-all"]
fn all_examples() {
    let text = std::fs::read_to_string(root().join("examples/expected.json")).expect("the examples are described");
    let expected: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut seen = std::collections::BTreeSet::new();
    for example in expected["examples"].as_array().expect("a list") {
        let names = example["sources"].as_array().expect("sources").iter().filter_map(|name| name.as_str());
        let sources: Vec<PathBuf> = names.map(|name| root().join("examples").join(name)).collect();
        let name = sources[0].file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        if seen.insert(name.clone()) {
            same_on_both(&name, &sources, &[]);
        }
    }
}

/// Programs of others, named by `WARPLINE_SWEEP`.
#[test]
#[ignore = "needs a list of programs"]
fn sweep() {
    let list = std::env::var("WARPLINE_SWEEP").expect("WARPLINE_SWEEP names the list of programs");
    let list = std::fs::read_to_string(&list).unwrap_or_else(|error| panic!("{list}: {error}"));
    let mut bad = 0;
    for line in list.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace().map(str::to_owned);
        let program = PathBuf::from(words.next().expect("a program"));
        let arguments: Vec<String> = words.collect();
        let name = program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let folder = program.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let (found, size) = compare(&program, &arguments, &folder);
        println!("{name}: {} ({size})", if found.is_empty() { "same" } else { "DIFFERENT" });
        found.iter().take(6).for_each(|text| println!("  {text}"));
        bad += usize::from(!found.is_empty());
    }
    assert_eq!(bad, 0, "programs differ");
}
