//! What is for programs that run long: launches recorded by a budget, traces in pieces, a look at a program that runs, bounded
//! memory of the analysis.

mod support_programs;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use support_programs::{Outcome, build, root, run, warpline, work_folder};

/// The program of many launches, built once.
fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let source = root().join("tests/long_runs/many_launches.cu");
        build(&[source], &["-O2".to_owned()], &work_folder("many_launches"))
    })
}

fn called(folder: &Path, arguments: &[&str]) -> Outcome {
    run(Command::new(warpline()).args(arguments), folder, "outcome")
}

fn succeeded(folder: &Path, arguments: &[&str]) -> Outcome {
    let outcome = called(folder, arguments);
    assert!(outcome.status.success(), "{arguments:?}: {}", outcome.describe());
    outcome
}

/// Runs the program for so many steps, and reads the profile.
fn profiled(folder: &Path, options: &[&str], steps: &str) -> Value {
    let program = program().to_string_lossy();
    let arguments = [&["run", "-o", "p.wlprof"], options, &["--", &program, steps]].concat();
    succeeded(folder, &arguments);
    read(folder, "p.wlprof")
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&succeeded(folder, &["report", name, "--format", "json"]).stdout).unwrap()
}

/// What all launches of a kernel did, by name of the figure.
fn sum(kernel: &Value, figure: &str) -> f64 {
    let spread = &kernel["over_launches"][figure];
    spread["mean"].as_f64().unwrap_or(0.0) * kernel["launch_count"].as_f64().unwrap()
}

#[test]
fn a_budget_estimates_the_whole_run() {
    let folder = work_folder("budget");
    let whole = profiled(&folder, &[], "200");
    assert!(whole["run"]["whole_run"].is_null());
    let figures = ["global.requests", "global.sectors", "global.lanes", "global.l1.lookups", "instructions.int.warps"];
    let (mut held, mut all) = (0, 0);
    for seed in ["0", "1", "2"] {
        let sampled = profiled(&folder, &["--budget", "10%", "--budget-seed", seed], "200");
        let run = &sampled["run"];
        assert_eq!((run["sampled"].as_bool(), run["complete"].as_bool()), (Some(true), Some(true)));
        assert_eq!(run["assumptions"]["budget"], format!("10 % of the work, draw {seed}"));
        assert_eq!(run["whole_run"]["launches"], 400);
        let recorded = run["whole_run"]["recorded_launches"].as_u64().unwrap();
        assert!((30..150).contains(&recorded), "{recorded}");
        for (kernel, sampled) in whole["kernels"].as_array().unwrap().iter().zip(sampled["kernels"].as_array().unwrap())
        {
            assert_eq!(sampled["launch_count"], 200);
            assert!(sampled["recorded_launches"].as_u64().unwrap() < 80);
            for figure in figures {
                let told = &sampled["whole_run"]["totals"][figure];
                let (estimate, bound) = (told["estimate"].as_f64().unwrap(), told["bound"].as_f64().unwrap());
                let off = (estimate - sum(kernel, figure)).abs();
                held += u32::from(off <= bound * (1.0 + 1e-9) + 1.0);
                all += 1;
                assert!(off < 0.7 * sum(kernel, figure), "{seed} {figure}: {estimate} for {}", sum(kernel, figure));
            }
        }
    }
    assert!(held * 100 >= all * 90, "{held} of {all} bounds hold");
    let text = succeeded(&folder, &["report", "p.wlprof"]).stdout;
    assert!(text.contains("SAMPLED (") && text.contains("WHOLE RUN, estimated from"), "{text}");
}

#[test]
fn the_same_budget_records_the_same_launches() {
    let folder = work_folder("budget_same");
    let profile = || {
        let mut profile = profiled(&folder, &["--budget", "1/20", "--trace", "t.wltrace"], "100");
        profile["run"]["environment"] = Value::Null;
        profile
    };
    let first = profile();
    let trace = std::fs::read(folder.join("t.wltrace")).unwrap();
    assert_eq!(profile(), first);
    assert_eq!(std::fs::read(folder.join("t.wltrace")).unwrap(), trace);
    // The trace holds the sample, so that it can be analysed again.
    succeeded(&folder, &["sim", "t.wltrace", "-o", "s.wlprof"]);
    let simulated = read(&folder, "s.wlprof");
    assert_eq!(simulated["run"]["whole_run"], first["run"]["whole_run"]);
    // Profiles of several runs add up.
    succeeded(&folder, &["merge", "p.wlprof", "s.wlprof", "-o", "m.wlprof"]);
    let merged = &read(&folder, "m.wlprof")["run"]["whole_run"];
    let twice = 2.0 * first["run"]["whole_run"]["totals"]["global.requests"]["estimate"].as_f64().unwrap();
    assert_eq!(
        (merged["launches"].as_u64(), &merged["totals"]["global.requests"]["estimate"]),
        (Some(400), &twice.into())
    );
    // All of the work: everything is recorded, and nothing is estimated.
    let all = profiled(&folder, &["--budget", "100%"], "20");
    let requests = &all["run"]["whole_run"]["totals"]["global.requests"];
    assert_eq!((requests["bound"].as_f64(), all["run"]["sampled"].as_bool()), (Some(0.0), Some(false)));
    let counted: u64 = all["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["metrics"]["global"]["requests"].as_u64().unwrap())
        .sum();
    assert_eq!(requests["estimate"].as_f64(), Some(counted as f64));
}

#[test]
fn budgets_that_cannot_be_are_refused() {
    let folder = work_folder("budget_refused");
    for (options, told) in [
        (vec!["--budget", "10"], "--budget takes a share of the work as 10% or 1/10, not `10`"),
        (vec!["--budget", "0%"], "--budget takes a share"),
        (vec!["--budget", "10%", "--launches", "1"], "cannot be used with '--launches"),
        (vec!["--budget", "10%", "--blocks", "1/2"], "cannot be used with '--blocks"),
        (vec!["--budget-seed", "3"], "--budget <SHARE>"),
    ] {
        let outcome = called(&folder, &[&["run"], &options[..], &["--", "true"]].concat());
        assert_eq!(outcome.status.code(), Some(2), "{}", outcome.describe());
        assert!(outcome.stderr.contains(told), "{}", outcome.describe());
    }
}
