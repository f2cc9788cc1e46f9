//! Device modules that programs load while they run: from LLVM IR, and from what `warpline-cc --warpline-module` makes
//! of it.

use crate::support_programs::{build, root, run, warpline, warpline_cc, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn source() -> PathBuf {
    root().join("tests/modules/scale.ll")
}

fn compile(arguments: &[&str]) -> Output {
    Command::new(warpline_cc()).arg("--warpline-module").args(arguments).output().expect("warpline-cc starts")
}

fn object(folder: &Path) -> PathBuf {
    let made = folder.join("scale.so");
    let output = compile(&["-o", made.to_str().unwrap(), source().to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    made
}

#[test]
fn modules_are_loaded_launched_and_profiled() {
    let folder = work_folder("device_modules");
    let program = build(&[root().join("tests/modules/loads.cu")], &[], &folder);
    for (name, image) in [("object", object(&folder)), ("text", source())] {
        let profile = folder.join(format!("{name}.wlprof"));
        let mut command = Command::new(warpline());
        command.args(["run", "--gpu", "a100", "-o"]).arg(&profile).arg("--").arg(&program).arg(&image);
        command.env("WARPLINE_CC", warpline_cc()).env("XDG_CACHE_HOME", folder.join("cache"));
        let outcome = run(&mut command, &folder, name);
        assert!(outcome.status.success() && outcome.stdout == "right\n", "{}", outcome.describe());
        let report = Command::new(warpline()).args(["report", "--format", "json"]).arg(&profile).output().unwrap();
        let report: Value = serde_json::from_slice(&report.stdout).expect("a profile");
        // Three modules, each with its kernel. 100 of 128 lanes of four warps: the last has four.
        let kernels = report["kernels"].as_array().unwrap();
        assert_eq!(kernels.len(), 3);
        for kernel in kernels {
            let global = &kernel["metrics"]["global"];
            let counted = ["requests", "lanes", "bytes", "sectors"].map(|name| global[name].as_u64().unwrap());
            assert_eq!(counted, [8, 200, 800, 26], "{name}");
            assert_eq!(kernel["metrics"]["shared"]["requests"], 8);
        }
        let lines: Vec<_> = report["lines"].as_array().unwrap().iter().map(|line| line["line"].as_u64()).collect();
        assert!(lines.contains(&Some(8)) && lines.contains(&Some(9)), "{lines:?}");
        assert!(report["lines"][0]["file"].as_str().unwrap().ends_with("/nowhere/scale.py"));
    }
    let kept = std::fs::read_dir(folder.join("cache/warpline/modules")).expect("a folder").count();
    assert_eq!(kept, 1, "text is compiled once, and no other file is left");
}

/// `warpline-cc` links the runtime into both; the process has one device.
#[test]
fn plug_ins_use_the_runtime_of_the_program_that_loads_them() {
    let folder = work_folder("plug_in");
    let plug_in = folder.join("plug_in.so");
    let source = |name: &str| root().join("tests/modules").join(name);
    let mut command = Command::new(warpline_cc());
    command.args(["-g", "-shared", "-Xcompiler", "-fPIC", "-o"]).arg(&plug_in).arg(source("plug_in.cu"));
    let outcome = run(&mut command, &folder, "build");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let program = build(&[source("plug_in_host.cu")], &["-ldl".to_owned()], &folder);
    let profile = folder.join("p.wlprof");
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "a100", "-o"]).arg(&profile).arg("--").arg(&program).arg(&plug_in);
    let outcome = run(&mut command, &folder, "run");
    assert_eq!(outcome.stdout, "499500 124 no error\n", "{}", outcome.describe());
    let report = Command::new(warpline()).args(["report", "--format", "json"]).arg(&profile).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).expect("a profile");
    let mut launches: Vec<_> = report["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| (kernel["name"].as_str().unwrap().to_owned(), kernel["launches"].as_array().unwrap().len()))
        .collect();
    launches.sort();
    assert_eq!(launches, [("fill(int*, int)".to_owned(), 1), ("twice(int*)".to_owned(), 2)]);
}

#[test]
fn what_cannot_be_compiled_is_reported() {
    let folder = work_folder("device_modules_refused");
    let good = std::fs::read_to_string(source()).unwrap();
    let made = folder.join("made.so");
    for (name, text, wanted) in [
        ("garbage", "no IR at all".to_owned(), "not readable as LLVM"),
        ("empty", String::new(), "no kernel"),
        (
            "unknown",
            good.replace("st.global.b32", "st.async.weak.shared::cluster.b32"),
            "scale.py:9: the CPU device does not support the inline assembly",
        ),
        (
            "second",
            good.replace("mov.u32 $0, 0x0;", "of.tomorrow.u32 $0, 0x0;"),
            "does not support `of.tomorrow.u32 $0, 0x0` of the inline assembly",
        ),
    ] {
        let file = folder.join(format!("{name}.ll"));
        std::fs::write(&file, text).unwrap();
        let output = compile(&["-o", made.to_str().unwrap(), file.to_str().unwrap()]);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && printed.contains(wanted), "{name}: {printed}");
        assert!(!made.exists(), "{name}");
    }
    for arguments in [&["-o", "x.so"][..], &["a.ll", "b.ll", "-o", "x.so"], &["a.ll"]] {
        let printed = String::from_utf8_lossy(&compile(arguments).stderr).into_owned();
        assert!(printed.contains("--warpline-module takes one file"), "{printed}");
    }
    let printed = compile(&["--warpline-registers=many", "a.ll", "-o", "x.so"]).stderr;
    assert!(String::from_utf8_lossy(&printed).contains("--warpline-registers=many: expected"));
}

#[test]
fn front_ends_find_what_they_ask_for() {
    let folder = work_folder("device_modules_front_end");
    let source = root().join("tests/modules/front_end.cpp");
    let program = build(&[source], &["-std=c++17", "-lcuda"].map(String::from), &folder);
    let mut command = Command::new(program);
    let outcome = run(command.arg(object(&folder)), &folder, "front_end");
    assert!(outcome.status.success() && outcome.stdout == "right\n", "{}", outcome.describe());
}

/// What `-ptx`, `-cubin` and `-fatbin` make is loaded as nvcc's would be, and profiled with its lines. The program
/// reads an array through a texture and memory that it mapped itself.
#[test]
fn files_of_device_code_are_loaded_and_profiled() {
    let folder = work_folder("device_modules_files");
    let source = root().join("tests/modules/stencil.cu");
    for form in ["ptx", "cubin", "fatbin"] {
        let mut command = Command::new(warpline_cc());
        command.arg(format!("-{form}")).args(["-g", "-O2"]).arg(&source).current_dir(&folder);
        let outcome = run(&mut command, &folder, form);
        assert!(outcome.status.success(), "{}", outcome.describe());
    }
    let program = build(&[root().join("tests/modules/images.cpp")], &["-lcuda".to_owned()], &folder);
    let file = |form: &str| folder.join("stencil").with_extension(form);
    for (name, how, form) in
        [("ptx", "load", "ptx"), ("cubin", "load", "cubin"), ("fatbin", "load", "fatbin"), ("link", "link", "ptx")]
    {
        let profile = folder.join(format!("{name}.wlprof"));
        let mut command = Command::new(warpline());
        command.args(["run", "-o"]).arg(&profile).arg("--").arg(&program).arg(how).arg(file(form));
        let outcome = run(&mut command, &folder, name);
        assert!(outcome.status.success() && outcome.stdout == "right\n", "{}", outcome.describe());
        let report = Command::new(warpline()).args(["report", "--format", "json"]).arg(&profile).output().unwrap();
        let report: Value = serde_json::from_slice(&report.stdout).expect("a profile");
        let lines = report["lines"].as_array().unwrap();
        let line = |number: u64| {
            lines.iter().find(|line| line["line"] == number).unwrap_or_else(|| panic!("{name}: {lines:?}"))
        };
        assert!(line(9)["file"].as_str().unwrap().ends_with("stencil.cu"));
        // Four warps, each with a load of both operands and a store: the two pieces of memory are one allocation.
        assert_eq!(line(15)["metrics"]["global"]["requests"], 12, "{name}");
        let allocations = report["allocations"].as_array().unwrap();
        let mapped: Vec<&Value> = allocations.iter().filter(|row| row["kind"] == "cuMemMap").collect();
        assert!(mapped.iter().any(|row| row["name"] == "joined" && row["metrics"]["requests"] == 16), "{mapped:?}");
    }
    // PTX that somebody has edited, and PTX without the code.
    let text = std::fs::read_to_string(file("ptx")).unwrap();
    let plain = text.split("// warpline:").next().unwrap();
    for (name, text, wanted) in [
        ("edited", text.replace("sm_75", "sm_80"), "was changed after warpline-cc had written it"),
        ("plain", plain.to_owned(), "let warpline-nvcc compile its source"),
    ] {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        let outcome = run(Command::new(&program).arg("load").arg(&file), &folder, name);
        assert!(!outcome.status.success() && outcome.stderr.contains(wanted), "{}", outcome.describe());
    }
}

#[test]
fn texture_references_of_modules_are_bound_and_read() {
    let folder = work_folder("device_modules_references");
    let mut command = Command::new(warpline_cc());
    command.args(["-fatbin", "-O2"]).arg(root().join("tests/modules/references.cu")).current_dir(&folder);
    let outcome = run(&mut command, &folder, "fatbin");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let program = build(&[root().join("tests/modules/references.cpp")], &["-lcuda".to_owned()], &folder);
    let outcome = run(Command::new(program).arg(folder.join("references.fatbin")), &folder, "references");
    assert!(outcome.status.success() && outcome.stdout == "right\n", "{}", outcome.describe());
}

/// Code for the CPU device is whole when it is compiled: what a link would have to put together is refused with the
/// reason.
#[test]
fn what_would_have_to_be_linked_is_reported() {
    let folder = work_folder("device_modules_links");
    let calling = "extern __device__ int helper(int);\n\
                   extern \"C\" __global__ void caller(int *out) { out[threadIdx.x] = helper(threadIdx.x); }\n";
    let called = "__device__ int helper(int x) { return 3 * x; }\nextern \"C\" __global__ void other(int *out) { *out = helper(1); }\n";
    for (name, text) in [("calling", calling), ("called", called)] {
        std::fs::write(folder.join(name).with_extension("cu"), text).unwrap();
        let mut command = Command::new(warpline_cc());
        command.args(["-rdc=true", "-ptx"]).arg(format!("{name}.cu")).current_dir(&folder);
        let outcome = run(&mut command, &folder, name);
        assert!(outcome.status.success(), "{}", outcome.describe());
    }
    let program = build(&[root().join("tests/modules/link.cpp")], &["-lcuda".to_owned()], &folder);
    let refused = |images: &[&str], wanted: &str| {
        let mut command = Command::new(&program);
        command.args(images.iter().map(|name| folder.join(name)));
        let outcome = run(&mut command, &folder, "link");
        assert!(outcome.stdout == "refused 209\n" && outcome.stderr.contains(wanted), "{}", outcome.describe());
    };
    refused(&["called.ptx", "called.ptx"], "Let one source include the others, and link its image alone");
    refused(
        &["calling.ptx"],
        "without code for the CPU device, and PTX itself cannot be run: calling.cu: calling.cu:2: \
         caller uses helper(int), which is not defined",
    );
}
