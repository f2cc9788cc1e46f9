//! Work that is missing is marked, whatever the cause: programs that fail in several ways, and the same programs when they
//! do not.

#[allow(dead_code, reason = "formulas and counts are for other tests")]
mod support_programs;

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use support_programs::{Outcome, build, root, run, warpline, work_folder};

/// Runs the program under `warpline run`; what it printed, the JSON document and the text report.
fn profiled(folder: &Path, executable: &Path, options: &[&str], arguments: &[&str]) -> (Outcome, Value, String) {
    let profile = folder.join("profile.wlprof");
    _ = std::fs::remove_file(&profile);
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("-o").arg(&profile).arg("--").arg(executable).args(arguments);
    let outcome = run(&mut command, folder, "run");
    let json = run(Command::new(warpline()).args(["report", "--format", "json"]).arg(&profile), folder, "json");
    let text = run(Command::new(warpline()).arg("report").arg(&profile), folder, "text");
    let document = serde_json::from_str(&json.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.describe()));
    (outcome, document, text.stdout)
}

/// The launches that are missing for a reason.
fn missing(document: &Value, what: &str) -> u64 {
    let rows = document["run"]["missing"].as_array().into_iter().flatten();
    rows.filter(|row| row["what"] == what).map(|row| row["launches"].as_u64().unwrap_or(0)).sum()
}

#[test]
fn a_kernel_that_ends_early_makes_the_profile_incomplete() {
    let folder = work_folder("ends_early");
    let executable = build(&[root().join("tests/failures/ends_early.cu")], &[], &folder);
    for (failure, reason) in [
        ("trap", "a trap in block 1 (CUDA error 719)"),
        ("assert", "a failed assert in block 1 (CUDA error 710)"),
        ("recursion", "a stack overflow in block 1 (CUDA error 700)"),
        ("stray", "an invalid memory access in block 1 (CUDA error 700)"),
    ] {
        // By the checks in hooked code, and by the processor's where the kernel is outside the filters.
        for options in [&[][..], &["--kernels", "fill"][..]] {
            let (outcome, document, text) = profiled(&folder, &executable, options, &[failure]);
            let told = outcome.describe();
            assert_eq!(outcome.status.code(), Some(0), "the program's own code: {told}");
            assert!(outcome.stdout.contains("done"), "{told}");
            assert_eq!(document["run"]["complete"], false, "{failure}: {told}");
            assert_eq!(missing(&document, "ended_early"), 1, "{failure}: {told}");
            assert_eq!(missing(&document, "after_stop"), 7, "{failure}: {told}");
            assert!(outcome.stderr.contains(&format!("launch 1 of fails ended early: {reason}")), "{told}");
            assert!(outcome.stderr.contains("7 launches after launch 1 were refused"), "{told}");
            let head: Vec<&str> = text.lines().take(6).collect();
            assert!(head[2].contains("INCOMPLETE") && head[2].contains("1 launch ended early"), "{text}");
            assert!(head[2].contains("7 launches after that were refused"), "{text}");
            assert!(head[4].contains("not exact for fails"), "{text}");
        }
        let by_hand = run(Command::new(&executable).env("WARPLINE", "0").arg(failure), &folder, "by-hand");
        let told = by_hand.describe();
        assert!(by_hand.stderr.contains("1 launch ended early, 7 launches after that were refused"), "{told}");
    }
    let (outcome, document, text) = profiled(&folder, &executable, &[], &["reset"]);
    assert_eq!(missing(&document, "ended_early"), 2, "{}", outcome.describe());
    assert_eq!(missing(&document, "after_stop"), 14, "{}", outcome.describe());
    assert!(text.contains("2 launches ended early"), "{text}");

    let (outcome, document, text) = profiled(&folder, &executable, &[], &["none"]);
    assert_eq!(document["run"]["complete"], true, "{}", outcome.describe());
    assert!(document["run"]["missing"].is_null() && !text.contains("ended early"), "{text}");
}
