//! Programs that compile CUDA source while they run.

use crate::support_programs::{Outcome, build, root, run, warpline, warpline_cc, work_folder};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs a program with a cache of its own, in which there is no toolkit.
fn start(command: &mut Command, folder: &Path, name: &str) -> Outcome {
    let toolkit = Command::new(warpline_cc()).arg("--warpline-toolkit").output().expect("warpline-cc starts");
    let toolkit = String::from_utf8(toolkit.stdout).expect("a path");
    command.env("CUDA_PATH", toolkit.trim()).env("XDG_CACHE_HOME", folder.join("cache"));
    run(command, folder, name)
}

#[test]
fn templates_are_compiled_by_name_and_their_lines_are_the_sources() {
    let folder = work_folder("nvrtc_templates");
    let program = build(
        &[root().join("tests/nvrtc/templates.cpp")],
        &["-std=c++17", "-lnvrtc", "-lcuda"].map(String::from),
        &folder,
    );
    let profile = folder.join("templates.wlprof");
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "a100", "-o"]).arg(&profile).arg("--").arg(&program);
    command.env("WARPLINE_CC", warpline_cc());
    let outcome = start(&mut command, &folder, "templates");
    let wanted = "_ZN4math5scaleIfLi3EEEvPT_i\n_ZN4math8launchesE\nright\n";
    assert!(outcome.status.success() && outcome.stdout == wanted, "{}", outcome.describe());
    assert!(outcome.stderr.contains("was changed afterwards"), "{}", outcome.describe());

    let report = Command::new(warpline()).args(["report", "--format", "json"]).arg(&profile).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).expect("a profile");
    // Each module has its kernels: PTX and cubin, float and double. 1000 elements read and written, by warps of 32.
    let kernels = report["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 4);
    for kernel in kernels {
        let bytes = if kernel["name"].as_str().unwrap().contains("double") { 8 } else { 4 };
        let sites = report["sites"].as_array().unwrap().iter().filter(|site| site["kernel"] == kernel["id"]);
        let on_line: Vec<_> = sites.filter(|site| site["line"] == 9 && site["space"] == "global").collect();
        assert_eq!(on_line.len(), 2, "a load and a store");
        for site in on_line {
            assert!(site["file"].as_str().unwrap().ends_with("/scale.cu"));
            let counted = ["requests", "lanes", "bytes", "sectors"].map(|name| site["metrics"][name].as_u64().unwrap());
            assert_eq!(counted, [32, 1000, 1000 * bytes, 125 * bytes / 4], "{}", site["op"]);
        }
    }
    let text = Command::new(warpline()).args(["report", "--source", "scale.cu"]).arg(&profile).output().unwrap();
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("x[i] = x[i] * "), "{text}");
}

#[test]
fn threads_may_compile_the_same_source() {
    let folder = work_folder("nvrtc_threads");
    let flags = ["-std=c++17", "-lnvrtc", "-pthread"].map(String::from);
    let program = build(&[root().join("tests/nvrtc/threads.cpp")], &flags, &folder);
    let mut command = Command::new(&program);
    let outcome = start(command.env("WARPLINE_CC", warpline_cc()), &folder, "threads");
    let right = outcome.status.success() && outcome.stdout == "8 of 8, NVRTC_SUCCESS\n";
    assert!(right, "{}", outcome.describe());
}

#[test]
fn what_does_not_compile_is_reported_in_the_log() {
    let folder = work_folder("nvrtc_errors");
    let program =
        build(&[root().join("tests/nvrtc/errors.cpp")], &["-std=c++17", "-lnvrtc"].map(String::from), &folder);
    std::fs::create_dir(folder.join("headers")).unwrap();
    let header = folder.join("headers/value.h");
    let value = |text: &str| std::fs::write(&header, format!("#define VALUE {text}\n")).unwrap();
    value("3");
    let attempt = |name: &str| {
        let mut command = Command::new(&program);
        command.arg("-Iheaders").current_dir(&folder).env("WARPLINE_CC", warpline_cc());
        let outcome = start(&mut command, &folder, name);
        assert!(outcome.status.success(), "{}", outcome.describe());
        outcome.stdout
    };
    let printed = attempt("first");
    let mut rest = printed.as_str();
    for wanted in [
        "NVRTC_ERROR_COMPILATION, PTX 4\nsource.cu:2:8: error: use of undeclared identifier 'undefined'",
        "NVRTC_ERROR_INVALID_OPTION, PTX 4\nwarpline-cc: error: unrecognized option --no-such-option found",
        "NVRTC_ERROR_INVALID_OPTION, PTX 4\nwarpline-cc: error: unsupported CUDA gpu architecture: sm_1\n",
        "NVRTC_ERROR_COMPILATION, PTX 4\nsource.cu:1:10: fatal error: 'absent.h' file not found",
        "NVRTC_ERROR_COMPILATION, PTX 4\nname expression:1:",
        "use of undeclared identifier 'absent'",
        "NVRTC_SUCCESS, PTX 0\nNVRTC_SUCCESS, PTX 0\nsource.cu:1:2: warning: careful",
        "NVRTC_SUCCESS, PTX 0\n13.0 75 121 NVRTC_ERROR_INVALID_PROGRAM\n",
        "NVRTC_ERROR_INVALID_INPUT\na header's name must be a relative path without ..: ../outside.h\n",
        "NVRTC_ERROR_INVALID_INPUT\nint const*\n",
    ] {
        let at = rest.find(wanted).unwrap_or_else(|| panic!("no {wanted:?} in the rest of\n{printed}"));
        rest = &rest[at + wanted.len()..];
    }
    assert!(!printed.contains("a cubin of a virtual architecture"), "{printed}");
    // What was compiled is kept, warnings too; a header that changed is seen.
    assert_eq!(attempt("again"), printed);
    value("wrong here");
    assert!(attempt("changed").contains("use of undeclared identifier 'wrong'"));
    // Nothing of what failed stays.
    let kept = std::fs::read_dir(folder.join("cache/warpline/nvrtc")).unwrap();
    assert!(kept.flatten().all(|entry| entry.path().join("image.so").is_file()));

    let mut command = Command::new(&program);
    let outcome = start(command.env("WARPLINE_CC", "/nowhere/warpline-cc"), &folder, "no_compiler");
    assert!(outcome.stdout.starts_with("NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"), "{}", outcome.describe());
    assert!(outcome.stderr.contains("set WARPLINE_CC to its path"), "{}", outcome.describe());
}

#[test]
fn programs_may_load_the_libraries_themselves() {
    let folder = work_folder("nvrtc_loaded");
    let program = build(&[root().join("tests/nvrtc/loaded.cpp")], &["-std=c++17"].map(String::from), &folder);
    let profile = folder.join("loaded.wlprof");
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "a100", "-o"]).arg(&profile).arg("--").arg(&program);
    command.env("WARPLINE_CC", warpline_cc());
    let outcome = start(&mut command, &folder, "loaded");
    assert!(outcome.status.success() && outcome.stdout == "right\n", "{}", outcome.describe());
    assert!(outcome.stderr.contains("loads libcublas, which the CPU device does not offer"), "{}", outcome.describe());
    let report = Command::new(warpline()).args(["report", "--format", "json"]).arg(&profile).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).expect("a profile");
    assert_eq!(report["kernels"][0]["name"], "twice");
    // 1000 elements read and written.
    assert_eq!(report["kernels"][0]["metrics"]["global"]["sectors"], 2 * 125);
}

#[test]
fn headers_are_found_beside_the_source_and_in_the_toolkit() {
    let folder = work_folder("nvrtc_headers");
    let program = build(
        &[root().join("tests/nvrtc/headers.cpp")],
        &["-std=c++17", "-w", "-lnvrtc", "-lcuda"].map(String::from),
        &folder,
    );
    std::fs::create_dir(folder.join("sources")).unwrap();
    std::fs::write(folder.join("sources/scale.h"), "#define SCALE 7\n").unwrap();
    let mut command = Command::new(&program);
    command.current_dir(&folder).env("WARPLINE", "0").env("WARPLINE_CC", warpline_cc());
    let outcome = start(&mut command, &folder, "headers");
    let wanted = "without the source's folder 6\nin another folder 6\nwithout a shape 1\n1045 32\n";
    assert!(outcome.status.success() && outcome.stdout == wanted, "{}", outcome.describe());
}
