//! What is for programs that run long: launches recorded by a budget, traces in pieces, snapshots of a running program,
//! bounded memory of the analysis.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;

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
    std::fs::copy(folder.join("p.wlprof"), folder.join("w.wlprof")).unwrap();
    let figures = ["global.requests", "global.sectors", "global.lanes", "global.l1.lookups", "instructions.int.warps"];
    let (mut held, mut all, mut lines) = (0, 0, (0, 0));
    for seed in ["0", "1", "2"] {
        let sampled = profiled(&folder, &["--budget", "10%", "--budget-seed", seed], "200");
        let run = &sampled["run"];
        assert_eq!((run["sampled"].as_bool(), run["complete"].as_bool()), (Some(true), Some(true)));
        assert_eq!(run["assumptions"]["budget"], format!("10 % of the work, draw {seed}"));
        assert_eq!(run["whole_run"]["launches"], 400);
        let recorded = run["whole_run"]["recorded_launches"].as_u64().unwrap();
        assert!((30..150).contains(&recorded), "{recorded}");
        let within = lines_within_bounds(&whole, &sampled);
        lines.0 += within.iter().filter(|one| **one).count();
        lines.1 += within.len();
        for (kernel, sampled) in whole["kernels"].as_array().unwrap().iter().zip(sampled["kernels"].as_array().unwrap())
        {
            assert_eq!(sampled["launch_count"], 200);
            assert!(sampled["recorded_launches"].as_u64().unwrap() < 80);
            for figure in figures {
                let described = &sampled["whole_run"]["totals"][figure];
                let (estimate, bound) = (described["estimate"].as_f64().unwrap(), described["bound"].as_f64().unwrap());
                let off = (estimate - sum(kernel, figure)).abs();
                held += u32::from(off <= bound * (1.0 + 1e-9) + 1.0);
                all += 1;
                assert!(off < 0.7 * sum(kernel, figure), "{seed} {figure}: {estimate} for {}", sum(kernel, figure));
            }
        }
    }
    assert!(held * 100 >= all * 90, "{held} of {all} bounds hold");
    assert!(lines.1 >= 12 && lines.0 * 100 >= lines.1 * 90, "{} of {} bounds of lines hold", lines.0, lines.1);
    every_form_says_that_it_is_an_estimate(&folder);
}

/// Lines of a kernel that a sample estimates, with whether the counts of the whole run are within the bounds.
fn lines_within_bounds(whole: &Value, sampled: &Value) -> Vec<bool> {
    let mut within = Vec::new();
    for line in whole["lines"].as_array().unwrap() {
        let same = |other: &&Value| ["file", "line", "kernel"].iter().all(|key| other[key] == line[key]);
        let Some(described) = sampled["lines"].as_array().unwrap().iter().find(same) else { continue };
        for figure in ["requests", "sectors"] {
            let Some(counted) = line["metrics"]["global"][figure].as_f64() else { continue };
            let described = &described["whole_run"][format!("global.{figure}")];
            let (estimate, bound) = (described["estimate"].as_f64().unwrap(), described["bound"].as_f64().unwrap());
            within.push((estimate - counted).abs() <= bound * (1.0 + 1e-9) + 1.0);
        }
    }
    within
}

/// `w.wlprof` is the whole run and `p.wlprof` a sample of it.
fn every_form_says_that_it_is_an_estimate(folder: &Path) {
    let text = |arguments: &[&str]| {
        let text = succeeded(folder, arguments).stdout;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let report = text(&["report", "p.wlprof"]);
    assert!(report.contains("SAMPLED (") && report.contains("WHOLE RUN, estimated from"), "{report}");
    assert!(report.contains("many_launches.cu:19 in gather"), "{report}");
    let markdown = text(&["report", "p.wlprof", "--format", "markdown"]);
    assert!(markdown.contains("> **Sampled**: ") && markdown.contains("### Whole run, estimated"), "{markdown}");
    assert!(markdown.contains("| `many_launches.cu:19` | `gather` |"), "{markdown}");
    let sarif: Value = serde_json::from_str(&text(&["report", "p.wlprof", "--format", "sarif"])).unwrap();
    let described = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str();
    assert!(described.is_some_and(|text| text.contains("of 400 launches were recorded")), "{described:?}");
    let found = sarif["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(found.contains("of 400 launches, which a budget chose"), "{found}");
    let page = text(&["report", "p.wlprof", "--format", "html"]);
    assert!(page.contains("Whole run, estimated") && page.contains("launches were recorded (--budget)"));
    // Compared with the whole run: the same document both ways, and the estimate agrees with what was counted.
    let diff: Value = serde_json::from_str(&text(&["diff", "w.wlprof", "p.wlprof", "--format", "json"])).unwrap();
    let back: Value = serde_json::from_str(&text(&["diff", "p.wlprof", "w.wlprof", "--format", "json"])).unwrap();
    let (of, requests) = (&diff["whole_run"], &diff["whole_run"]["figures"]["global.requests"]);
    assert!(of["before"].is_null() && of["after"]["launches"] == 400, "{of}");
    assert_eq!((&requests["before"]["bound"], &requests["apart"]), (&0.0.into(), &false.into()));
    assert_eq!(
        (&back["whole_run"]["after"], &back["whole_run"]["figures"]["global.requests"]["after"]),
        (&of["before"], &requests["before"])
    );
    let sampled = diff["differences"].as_array().unwrap().iter().find(|one| one["what"] == "sampled").unwrap();
    assert!(sampled["after"].as_str().unwrap().ends_with(" of 400 launches"), "{sampled}");
    let schema: Value = serde_json::from_str(include_str!("../../docs/diff-v1.schema.json")).unwrap();
    crate::support::schema::check(&schema, &schema, &diff, "diff");
    for form in ["text", "markdown", "html"] {
        let text = text(&["diff", "w.wlprof", "p.wlprof", "--format", form]).to_lowercase();
        assert!(text.contains("whole runs, estimated"), "{form}: {text}");
    }
}

/// The same on a GPU, whose hooks and records come another way: here the emulated one.
#[test]
fn a_budget_estimates_the_whole_run_on_a_gpu() {
    let folder = work_folder("budget_gpu");
    let source = root().join("tests/long_runs/many_launches.cu");
    let program = build(&[source], &["-O2".to_owned(), "--device=gpu-emulated".to_owned()], &folder);
    let program = program.to_string_lossy();
    let profiled = |options: &[&str]| {
        let device = ["run", "-o", "p.wlprof", "--device", "gpu-emulated"];
        succeeded(&folder, &[&device[..], options, &["--", &program, "40"]].concat());
        read(&folder, "p.wlprof")
    };
    let whole = profiled(&[]);
    let (mut held, mut all) = (0, 0);
    for seed in ["0", "1"] {
        let sampled = profiled(&["--budget", "10%", "--budget-seed", seed]);
        let run = &sampled["run"]["whole_run"];
        assert_eq!(run["launches"], 80);
        assert!(run["recorded_launches"].as_u64().unwrap() < 40, "{run}");
        let within = lines_within_bounds(&whole, &sampled);
        held += within.iter().filter(|one| **one).count();
        all += within.len();
    }
    assert!(all >= 8 && held * 100 >= all * 75, "{held} of {all} bounds of lines hold");
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
    let twice = 2.0 * first["run"]["whole_run"]["totals"]["global.requests"]["estimate"].as_f64().unwrap().round();
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
    for (options, described) in [
        (vec!["--budget", "10"], "--budget takes a share of the work as 10% or 1/10, not `10`"),
        (vec!["--budget", "0%"], "--budget takes a share"),
        (vec!["--budget", "10%", "--launches", "1"], "cannot be used with '--launches"),
        (vec!["--budget", "10%", "--blocks", "1/2"], "cannot be used with '--blocks"),
        (vec!["--budget-seed", "3"], "--budget <SHARE>"),
    ] {
        let outcome = called(&folder, &[&["run"], &options[..], &["--", "true"]].concat());
        assert_eq!(outcome.status.code(), Some(2), "{}", outcome.describe());
        assert!(outcome.stderr.contains(described), "{}", outcome.describe());
    }
}

/// A profile without what may differ between identical runs.
fn same_for_all(folder: &Path, name: &str) -> Value {
    let mut profile = read(folder, name);
    profile["run"]["environment"] = Value::Null;
    profile["run"]["exit_code"] = Value::Null;
    profile
}

#[test]
fn a_compressed_trace_and_one_in_pieces_are_the_plain_one() {
    let folder = work_folder("packed");
    let program = program().to_string_lossy();
    let run = |trace: &str, more: &[&str]| {
        let arguments = [&["run", "-o", "p.wlprof", "--trace", trace], more, &["--", &program, "30"]].concat();
        succeeded(&folder, &arguments);
    };
    run("plain.wltrace", &[]);
    let plain = std::fs::read(folder.join("plain.wltrace")).unwrap();
    run("packed.wltrace.zst", &[]);
    run("odd.name", &["--trace-compress", "zstd:1"]);
    run("pieces.wltrace", &["--trace-rotate", "64K", "--gpu", "rtx2080ti,a100"]);
    assert_eq!(read(&folder, "p.wlprof")["run"]["models"], serde_json::json!(["rtx2080ti", "a100"]));
    assert!(!folder.join("pieces.wltrace").exists());
    assert!(folder.join("pieces.wltrace.0001.zst").exists());
    let packed = std::fs::metadata(folder.join("packed.wltrace.zst")).unwrap().len();
    assert!(packed * 2 < plain.len() as u64, "{packed} of {}", plain.len());
    succeeded(&folder, &["sim", "plain.wltrace", "--gpu", "rtx2080ti", "-o", "plain.wlprof"]);
    let wanted = same_for_all(&folder, "plain.wlprof");
    for trace in ["packed.wltrace.zst", "odd.name", "pieces.wltrace", "pieces.wltrace.0001.zst"] {
        succeeded(&folder, &["sim", trace, "--gpu", "rtx2080ti", "-o", "s.wlprof"]);
        assert_eq!(same_for_all(&folder, "s.wlprof"), wanted, "{trace}");
    }
    // And back, in each direction.
    succeeded(&folder, &["compact", "pieces.wltrace", "-o", "again.wltrace"]);
    assert_eq!(std::fs::read(folder.join("again.wltrace")).unwrap(), plain);
    succeeded(&folder, &["compact", "again.wltrace", "-o", "small.zst", "--level", "19"]);
    assert!(std::fs::metadata(folder.join("small.zst")).unwrap().len() < packed);
    succeeded(&folder, &["compact", "small.zst", "-o", "new.wltrace", "--rotate", "64K"]);
    succeeded(&folder, &["compact", "new.wltrace", "-o", "last.wltrace"]);
    assert_eq!(std::fs::read(folder.join("last.wltrace")).unwrap(), plain);
}

#[test]
fn damaged_pieces_give_a_part_and_say_so() {
    let folder = work_folder("pieces_damaged");
    let program = program().to_string_lossy();
    let arguments = ["run", "-o", "p.wlprof", "--trace", "t", "--trace-rotate", "64K", "--", &program, "60"];
    // Frames hold 4 MiB of the stream, so small runs have one; the trace is cut into pieces anew.
    succeeded(&folder, &arguments);
    let first = folder.join("t.0001.zst");
    let bytes = std::fs::read(&first).unwrap();
    std::fs::write(&first, &bytes[..bytes.len() * 2 / 3]).unwrap();
    let outcome = called(&folder, &["sim", "t", "-o", "s.wlprof"]);
    assert!(matches!(outcome.status.code(), Some(3 | 7)), "{}", outcome.describe());
    std::fs::write(&first, &bytes).unwrap();
    if folder.join("t.0002.zst").exists() {
        std::fs::remove_file(folder.join("t.0002.zst")).unwrap();
        let outcome = called(&folder, &["sim", "t", "-o", "s.wlprof"]);
        assert_eq!(outcome.status.code(), Some(7), "{}", outcome.describe());
        assert!(read(&folder, "s.wlprof")["run"]["complete"] == false);
    }
    for (arguments, code) in [
        (vec!["compact", "t.0001.zst", "-o", "t.0001.zst"], 2),
        (vec!["compact", "t", "-o", "t.zst", "--rotate", "64K"], 2),
        (vec!["compact", "nothing.zst", "-o", "x"], 3),
        (vec!["run", "--trace-rotate", "64K", "--", "true"], 2),
        (vec!["run", "--trace", "t", "--trace-rotate", "1K", "--", "true"], 2),
        (vec!["run", "--trace", "t", "--trace-compress", "gzip", "--", "true"], 2),
    ] {
        let outcome = called(&folder, &arguments);
        assert_eq!(outcome.status.code(), Some(code), "{arguments:?} {}", outcome.describe());
    }
    std::fs::write(folder.join("no.trace"), b"something else entirely").unwrap();
    let outcome = called(&folder, &["compact", "no.trace", "-o", "precious.wlprof"]);
    assert_eq!(outcome.status.code(), Some(3), "{}", outcome.describe());
    assert!(!folder.join("precious.wlprof").exists());
}

#[test]
fn a_bound_on_memory_is_kept_by_giving_up_what_is_reported() {
    let folder = work_folder("memory");
    let program = program().to_string_lossy();
    let sized = |size: &str, options: &[&str]| {
        let arguments =
            ["run", "-o", "p.wlprof", "--gpu", "v100", "--threads", "1", "--trace", "t.wltrace", "--memory", size];
        succeeded(&folder, &[&arguments, options, &["--", &program, "20"]].concat());
        read(&folder, "p.wlprof")
    };
    // Enough: nothing is given up.
    let plenty = sized("8G", &["--check-race"]);
    let run = &plenty["run"];
    assert_eq!((run["complete"].as_bool(), run["race_check"].as_str()), (Some(true), Some("full")));
    assert_eq!(run["assumptions"]["memory"], format!("at most {} bytes", 8u64 << 30));
    assert!(!run["notes"].to_string().contains("--memory"), "{}", run["notes"]);
    // Less: reuse distances are approximated, requests and caches are the same.
    let less = sized("400M", &[]);
    assert!(less["run"]["assumptions"]["memory"].as_str().unwrap().contains("reuse distances are approximated"));
    assert_eq!(less["run"]["complete"], true);
    for (one, other) in plenty["kernels"].as_array().unwrap().iter().zip(less["kernels"].as_array().unwrap()) {
        for figure in ["requests", "sectors", "l1", "l2", "dram"] {
            assert_eq!(one["metrics"]["global"][figure], other["metrics"]["global"][figure], "{figure}");
        }
    }
    // Too little to begin with.
    let outcome = called(&folder, &["sim", "t.wltrace", "--gpu", "v100", "--threads", "1", "--memory", "10M"]);
    assert_eq!(outcome.status.code(), Some(2), "{}", outcome.describe());
    assert!(outcome.stderr.contains("is too little") && outcome.stderr.contains("MiB"), "{}", outcome.describe());
    for wrong in ["x", "-1M", ""] {
        let outcome = called(&folder, &["run", "--memory", wrong, "--", "true"]);
        assert_eq!(outcome.status.code(), Some(2), "{}", outcome.describe());
    }
}
