//! The order in which warps issue, as a model's file states it: whole programs in loose round robin and oldest first.

use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes a copy of the RTX 2080 Ti's model with this order.
fn model(folder: &Path, name: &str, figures: &[(&str, &str)]) -> PathBuf {
    let text = std::fs::read_to_string(root().join("models/rtx2080ti.toml")).expect("the model");
    let lines: String =
        figures.iter().map(|(key, value)| format!("{key} = {{ value = {value}, source = \"trial\" }}\n")).collect();
    let text = text.replacen("[device]\n", &format!("[device]\n{lines}"), 1);
    let text = text.replacen("[sources]\n", "[sources]\ntrial = \"a trial\"\n", 1);
    let path = folder.join(format!("{name}.toml"));
    std::fs::write(&path, text).expect("room for a model");
    path
}

fn oldest_first(folder: &Path, wait: u32) -> PathBuf {
    let figures = [("warp_order", "\"oldest_first\""), ("warp_wait", &wait.to_string())];
    model(folder, &format!("oldest{wait}"), &figures)
}

/// Runs warpline with arguments and returns what it printed.
fn output_text(folder: &Path, arguments: &[&str]) -> String {
    let outcome = run(Command::new(warpline()).args(arguments), folder, "warpline");
    assert!(outcome.status.success(), "{arguments:?}: {}", outcome.describe());
    outcome.stdout + &outcome.stderr
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// A profile as JSON, without what differs between a run and `sim`.
fn profile(folder: &Path, file: &str) -> Value {
    let json = run(Command::new(warpline()).args(["report", "--format", "json", file]), folder, "report");
    assert!(json.status.success(), "{}", json.describe());
    let mut profile: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let run = profile["run"].as_object_mut().expect("a profile has a run");
    run.remove("environment");
    run.remove("exit_code");
    profile
}

/// Builds a program and profiles it for a model, with its trace.
fn traced(folder: &Path, source: &Path, flags: &[&str], gpu: &Path, arguments: &[&str]) -> PathBuf {
    let flags: Vec<String> = ["-O2", "-arch=sm_75"].iter().chain(flags).map(|&flag| flag.to_owned()).collect();
    let program = build(&[source.to_owned()], &flags, folder);
    let all = ["run", "--gpu", text(gpu), "--trace", "kept.wltrace", "-o", "run.wlprof", "--", text(&program)];
    output_text(folder, &[&all, arguments].concat());
    program
}

/// Per cent of the loaded sectors that hit L1.
fn hit_rate(profile: &Value) -> f64 {
    let l1 = &profile["kernels"][0]["metrics"]["global"]["l1"];
    100.0 * l1["load_hits"].as_f64().expect("hits") / l1["load_lookups"].as_f64().expect("lookups")
}

#[test]
fn swapped_indices_raise_the_hit_rate_in_oldest_first_only() {
    let rates = |flags: &[&str]| {
        let folder = work_folder(if flags.is_empty() { "order_windows" } else { "order_windows_swapped" });
        let loose = model(&folder, "loose", &[]);
        traced(&folder, &root().join("tests/programs/swapped_windows.cu"), flags, &loose, &[]);
        output_text(&folder, &["sim", "kept.wltrace", "--gpu", text(&oldest_first(&folder, 2)), "-o", "sim.wlprof"]);
        [hit_rate(&profile(&folder, "run.wlprof")), hit_rate(&profile(&folder, "sim.wlprof"))]
    };
    let (before, after) = (rates(&[]), rates(&["-DSWAP"]));
    assert!((after[0] - before[0]).abs() < 1.0, "loose round robin: {before:?} {after:?}");
    assert!(after[1] - before[1] > 5.0, "oldest first: {before:?} {after:?}");
}

#[test]
fn sim_into_oldest_first_is_a_run_made_for_it() {
    let folder = work_folder("order_sim");
    let source = root().join("examples/matmul/matmul.cu");
    let loose = model(&folder, "loose", &[("warp_drift", "30")]);
    traced(&folder, &source, &[], &loose, &["64"]);
    std::fs::rename(folder.join("kept.wltrace"), folder.join("loose.wltrace")).expect("same folder");
    for wait in [0, 5] {
        let oldest = oldest_first(&folder, wait);
        traced(&folder, &source, &[], &oldest, &["64"]);
        let expected = profile(&folder, "run.wlprof");
        assert_eq!(expected["run"]["assumptions"]["warp_order"], format!("oldest first, wait {wait} steps"));
        for trace in ["loose.wltrace", "kept.wltrace"] {
            output_text(&folder, &["sim", trace, "--gpu", text(&oldest), "-o", "sim.wlprof"]);
            assert!(profile(&folder, "sim.wlprof") == expected, "wait {wait}: sim of {trace} differs from the run");
        }
    }
    let back = folder.join("loose.toml");
    output_text(&folder, &["sim", "kept.wltrace", "--gpu", text(&back), "-o", "back.wlprof"]);
    output_text(&folder, &["sim", "loose.wltrace", "--gpu", text(&back), "-o", "loose.wlprof"]);
    assert!(profile(&folder, "back.wlprof") == profile(&folder, "loose.wlprof"));
}

/// The oldest warps poll a barrier that only younger ones can open.
#[test]
fn blocks_that_wait_for_each_other_end_in_oldest_first() {
    for (name, interleave) in [("grid_sync", false), ("grid_sync", true), ("clusters", false)] {
        let folder = work_folder(&format!("order_waiting_{name}_{interleave}"));
        let flags = ["-O2", "-std=c++17", "-arch=sm_90"].map(str::to_owned);
        let program = build(&[root().join(format!("tests/programs/{name}.cu"))], &flags, &folder);
        for wait in [0, 3] {
            let gpu = oldest_first(&folder, wait);
            let options: &[&str] = if interleave { &["--interleave"] } else { &[] };
            let all = [&["run", "--gpu", text(&gpu)], options, &["-o", "run.wlprof", "--", text(&program)]].concat();
            output_text(&folder, &all);
        }
    }
}

#[test]
fn the_order_is_shown_and_predictions_name_what_they_do_not_replay() {
    let folder = work_folder("order_shown");
    let oldest = oldest_first(&folder, 8);
    let line = |gpu: &str| {
        let shown = output_text(&folder, &["gpus", gpu]);
        shown.lines().find(|line| line.contains("warp_order")).unwrap_or_default().trim().to_owned()
    };
    assert!(line(text(&oldest)).ends_with("oldest first, wait 8 steps  [trial]"), "{}", line(text(&oldest)));
    assert!(line("h100").ends_with("loose round robin, drift 60 %  [drift]"), "{}", line("h100"));
    assert!(line("a100").ends_with("loose round robin  [default]"), "{}", line("a100"));

    traced(&folder, &root().join("examples/saxpy/saxpy.cu"), &[], &oldest, &["4096"]);
    assert!(output_text(&folder, &["report", "run.wlprof", "--all"]).contains("oldest first, wait 8 steps"));
    let note = "warps issue in loose round robin without drift, although oldest8 issues oldest first, wait 8 steps";
    assert!(output_text(&folder, &["predict", "run.wlprof", "--gpu", text(&oldest)]).replace("\n", " ").contains(note));
    assert!(!output_text(&folder, &["predict", "run.wlprof", "--gpu", "h100"]).contains("replay no other order"));
}
