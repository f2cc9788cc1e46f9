//! Messages of commands about programs that do not do what was requested, and about command lines with mistakes.

use crate::support_programs::{Outcome, build, run, warpline, warpline_cc, work_folder};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
#include <cuda_runtime.h>
__global__ void add(int *v) { v[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void twice(int *v) { v[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
int main() {
  int *values;
  cudaMalloc(&values, 4096);
  for (int i = 0; i < 5; i++)
    add<<<4, 256>>>(values);
  twice<<<4, 256>>>(values);
  return cudaDeviceSynchronize();
}
"#;

fn printed(folder: &Path, arguments: &[&str]) -> Outcome {
    // `profile` calls the compiler in the folder of `warpline`, or on the search path.
    let mut path = warpline_cc().parent().expect("a binary lies in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    run(Command::new(warpline()).args(arguments).env("PATH", path), folder, "printed")
}

fn read(folder: &Path, profile: &str) -> Value {
    let json = printed(folder, &["report", "--format", "json", profile]);
    serde_json::from_str(&json.stdout).unwrap_or_else(|error| panic!("{error}: {}", json.describe()))
}

#[test]
fn launches_that_were_not_recorded_are_reported() {
    let folder = work_folder("unrecorded");
    let source = folder.join("six.cu");
    std::fs::write(&source, PROGRAM).unwrap();
    build(&[source], &[], &folder);
    let outcome = printed(&folder, &["run", "--launches", "0,3", "-o", "p.wlprof", "--", "./program"]);
    assert!(outcome.status.success(), "{}", outcome.describe());
    let counts = |profile: &Value| -> Vec<(Option<u64>, Option<u64>)> {
        let kernels = profile["kernels"].as_array().into_iter().flatten();
        kernels.map(|kernel| (kernel["launch_count"].as_u64(), kernel["recorded_launches"].as_u64())).collect()
    };
    assert_eq!(counts(&read(&folder, "p.wlprof")), [(Some(5), Some(2)), (Some(1), Some(0))]);
    // Every format shows the launches that its figures are of.
    let text = printed(&folder, &["report", "p.wlprof"]).stdout;
    let row =
        text.lines().find(|line| line.ends_with(" add") && !line.contains(" in ")).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(row.split_whitespace().rev().nth(1), Some("2"), "{text}");
    let outcome = printed(&folder, &["run", "-o", "p.wlprof", "--", "./program"]);
    assert!(!outcome.stderr.contains("recorded"), "{}", outcome.describe());
    assert_eq!(counts(&read(&folder, "p.wlprof")), [(Some(5), None), (Some(1), None)]);

    let outcome = printed(&folder, &["run", "--launches", "99", "-o", "p.wlprof", "--", "./program"]);
    let described = outcome.describe();
    assert_eq!(outcome.status.code(), Some(0), "the program's own: {described}");
    let notes = read(&folder, "p.wlprof")["run"]["notes"].to_string();
    for printed in ["nothing was recorded: none of the 6 launches", "--launches 99: there were 6 launches"] {
        assert!(outcome.stderr.contains(printed) && notes.contains(printed), "{described} {notes}");
    }
    let outcome = printed(&folder, &["profile", "six.cu", "--launches", "99"]);
    assert_eq!(outcome.status.code(), Some(4), "{}", outcome.describe());
}

#[test]
fn a_missing_gpu_is_reported_once() {
    let folder = work_folder("no_gpu_code");
    let source = folder.join("six.cu");
    std::fs::write(&source, PROGRAM).unwrap();
    build(&[source], &[], &folder);
    let outcome = printed(&folder, &["run", "--device", "gpu", "-o", "p.wlprof", "--", "./program"]);
    let described = outcome.describe();
    assert_eq!(outcome.status.code(), Some(125), "{described}");
    assert!(outcome.stderr.contains("carries no GPU code") && outcome.stderr.lines().count() == 1, "{described}");
    assert!(!folder.join("p.wlprof").exists());
    // A program that is not ours is still distinguished.
    let outcome = printed(&folder, &["run", "--device", "gpu", "-o", "p.wlprof", "--", "sh", "-c", "exit 0"]);
    assert!(outcome.stderr.contains("sent nothing"), "{}", outcome.describe());
    // One that failed before it used the GPU is not blamed on its build alone.
    let outcome = printed(&folder, &["run", "-o", "p.wlprof", "--", "sh", "-c", "exit 3"]);
    assert_eq!(outcome.status.code(), Some(3), "{}", outcome.describe());
    assert!(outcome.stderr.contains("ended with exit code 3 and sent nothing"), "{}", outcome.describe());
}

#[test]
fn a_program_that_was_built_for_the_occasion_has_its_own_name() {
    let folder = work_folder("occasion");
    std::fs::write(folder.join("six.cu"), PROGRAM).unwrap();
    let outcome = printed(&folder, &["profile", "six.cu"]);
    assert!(outcome.status.success(), "{}", outcome.describe());
    assert_eq!(read(&folder, "warpline.six.wlprof")["run"]["program"], serde_json::json!(["six"]));
    for format in ["text", "json", "html", "sarif", "csv", "callgrind"] {
        let shown = printed(&folder, &["report", "--format", format, "warpline.six.wlprof"]);
        assert!(!shown.stdout.contains("warpline-profile-"), "{format}: {}", shown.stdout);
    }
}

#[test]
fn mistyped_options_are_reported_as_such() {
    let folder = work_folder("mistyped");
    for (typed, meant) in [("--kernel", "--kernels"), ("--theads", "--threads"), ("--chek", "--check")] {
        let outcome = printed(&folder, &["run", typed, "x", "--", "true"]);
        let described = outcome.describe();
        assert_eq!(outcome.status.code(), Some(2), "{described}");
        assert!(outcome.stderr.contains(&format!("unexpected argument '{typed}'")), "{described}");
        assert!(outcome.stderr.contains(&format!("'{meant}'")), "{described}");
    }
    // What follows the program is the program's.
    let outcome = printed(&folder, &["run", "echo", "--kernel", "-o", "--", "-x"]);
    assert_eq!(outcome.stdout, "--kernel -o -- -x\n", "{}", outcome.describe());
    let outcome = printed(&folder, &["run", "--", "echo", "--kernel"]);
    assert_eq!(outcome.stdout, "--kernel\n", "{}", outcome.describe());
    std::fs::write(folder.join("six.cu"), PROGRAM).unwrap();
    let outcome = printed(&folder, &["profile", "six.cu", "--kernel", "x"]);
    assert!(!outcome.status.success() && outcome.stderr.contains("`--kernels`"), "{}", outcome.describe());
}

#[test]
fn help_lists_the_options_of_every_verb() {
    let folder = work_folder("help");
    for (verb, option) in [
        ("run", "--launches"),
        ("profile", "--launches"),
        ("report", "--format"),
        ("sim", "--bypass"),
        ("validate", "--gpu"),
        ("gpus", "--color"),
        ("doctor", "--color"),
        ("cc", "--warpline-dump"),
    ] {
        let outcome = printed(&folder, &[verb, "--help"]);
        assert!(outcome.status.success() && outcome.stdout.contains(option), "{verb}: {}", outcome.describe());
    }
}

#[test]
fn allocations_of_other_compilers_code_say_how_to_get_names() {
    let folder = work_folder("unnamed");
    let host =
        "#include <cuda_runtime_api.h>\nint *make(int n) { int *made; cudaMalloc((void **)&made, n); return made; }\n";
    let main = PROGRAM
        .replace("cudaMalloc(&values, 4096)", "values = make(4096)")
        .replace("int main", "int *make(int);\nint main");
    std::fs::write(folder.join("host.cpp"), host).unwrap();
    std::fs::write(folder.join("main.cu"), main).unwrap();
    let succeeded = |command: &mut Command| {
        let outcome = run(command, &folder, "built");
        assert!(outcome.status.success(), "{}", outcome.describe());
        outcome.stdout.trim().to_owned()
    };
    let toolkit = succeeded(Command::new(warpline_cc()).arg("--warpline-toolkit"));
    let include = format!("-I{toolkit}/include");
    let notes = |compile: &mut Command| {
        succeeded(compile.args([&include, "-c", "host.cpp", "-o", "host.o"]));
        succeeded(Command::new(warpline_cc()).args(["main.cu", "host.o", "-o", "program"]));
        let outcome = printed(&folder, &["run", "-o", "p.wlprof", "--", "./program"]);
        assert!(outcome.status.success(), "{}", outcome.describe());
        let profile = read(&folder, "p.wlprof");
        (profile["allocations"][0]["name"].clone(), profile["run"]["notes"].to_string())
    };
    let (name, described) = notes(Command::new("g++").arg("-g"));
    assert!(
        name.is_null()
            && described.contains("1 allocation has no name: ")
            && described.contains("/host.cpp; compile it with warpline-cc"),
        "{described}"
    );
    let (name, described) = notes(Command::new("g++").arg("-O2"));
    assert!(name.is_null() && described.contains("which did not compile make(int); compile its file"), "{described}");
    let (name, described) = notes(&mut Command::new(warpline_cc()));
    assert!(name == "made" && !described.contains("no name"), "{name} {described}");
}
