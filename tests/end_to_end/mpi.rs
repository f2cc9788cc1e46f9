//! Ranks of a real launcher, Open MPI: each has a file of its own, one command merges them, and who is missing, failed
//! or works longer is reported by number.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;

/// Where Debian has Open MPI.
const OPEN_MPI: &str = "/usr/lib/x86_64-linux-gnu/openmpi";

fn built(folder: &Path, flags: &[&str]) -> PathBuf {
    assert!(Path::new(OPEN_MPI).exists(), "Open MPI is missing: scripts/setup.sh --tests installs it");
    let flags = ["-O2", "-arch=sm_80"].into_iter().chain(flags.iter().copied()).map(str::to_owned);
    let flags: Vec<String> =
        flags.chain([format!("-I{OPEN_MPI}/include"), format!("-L{OPEN_MPI}/lib"), "-lmpi".to_owned()]).collect();
    build(&[root().join("tests/mpi/unequal.cu")], &flags, folder)
}

/// Runs the program on so many ranks.
fn on_ranks(count: u32, options: &[&str], program: &Path, arguments: &[&str], folder: &Path) -> Outcome {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", &count.to_string()]);
    command.arg(warpline()).args(["run", "--gpu", "a100"]).args(options).arg("--").arg(program).args(arguments);
    command.current_dir(folder);
    run(&mut command, folder, "mpirun")
}

fn merge(arguments: &[&str], folder: &Path) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("merge").args(arguments).current_dir(folder);
    run(&mut command, folder, "merge")
}

fn document(file: &str, folder: &Path) -> Value {
    let mut command = Command::new(warpline());
    command.args(["report", file, "--format", "json"]).current_dir(folder);
    let outcome = run(&mut command, folder, "report");
    serde_json::from_str(&outcome.stdout).expect("the report is JSON")
}

fn kernel<'a>(document: &'a Value, name: &str) -> &'a Value {
    let kernels = document["kernels"].as_array().expect("kernels");
    kernels.iter().find(|kernel| kernel["name"].as_str().unwrap_or_default().starts_with(name)).expect("the kernel")
}

fn notes(document: &Value) -> String {
    let notes = document["run"]["notes"].as_array().expect("notes").iter();
    notes.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

fn imbalance(document: &Value) -> Option<&Value> {
    document["findings"].as_array().expect("findings").iter().find(|finding| finding["id"] == "rank-imbalance")
}

#[test]
fn ranks_are_profiled_and_merged_without_an_option() {
    let folder = work_folder("mpi-unequal");
    let program = built(&folder, &[]);
    let outcome = on_ranks(4, &[], &program, &[], &folder);
    assert!(outcome.status.success() && outcome.stdout.contains("sweeps: 10"), "{}", outcome.describe());
    // The first rank prints the next command, the others nothing.
    assert!(
        outcome.stderr.contains("warpline: rank 0: next, when all ranks are done: warpline merge warpline.program.d")
    );
    for rank in 1..4 {
        assert!(!outcome.stderr.contains(&format!("rank {rank}:")), "{}", outcome.describe());
    }
    for rank in 0..4 {
        let own = document(&format!("warpline.program.d/rank-00000{rank}.wlprof"), &folder);
        let described = &own["run"]["environment"]["rank"];
        assert_eq!(
            (&described["index"], &described["count"], &described["launcher"]),
            (&rank.into(), &4.into(), &"open-mpi".into())
        );
        assert_eq!((&described["local_index"], &described["node"]), (&rank.into(), &own["run"]["environment"]["host"]));
    }
    let merged = merge(&["warpline.program.d", "-o", "app.wlprof"], &folder);
    assert_eq!(merged.status.code(), Some(0), "{}", merged.describe());
    let whole = document("app.wlprof", &folder);
    assert_eq!(whole["run"]["complete"], true, "{}", notes(&whole));
    // 512 warps load once per sweep, and store once.
    let sweep = kernel(&whole, "sweep");
    let over = &sweep["over_ranks"]["global.requests"];
    assert_eq!(sweep["metrics"]["global"]["requests"], 512 * (10 + 4));
    assert_eq!((&over["sum"], &over["ranks"]), (&(512 * 14).into(), &4.into()));
    assert_eq!((&over["min"], &over["min_rank"]), (&1024.into(), &0.into()));
    assert_eq!((&over["max"], &over["max_rank"]), (&2560.into(), &3.into()));
    assert_eq!((&over["mean"], &over["squares"]), (&1792.0.into(), &(512 * 512 * (4 + 9 + 16 + 25)).into()));
    let only = &kernel(&whole, "last_only")["over_ranks"]["launches"];
    assert_eq!((&only["ranks"], &only["min_rank"], &only["max_rank"]), (&1.into(), &3.into(), &3.into()));
    let name = whole["allocation_names"].as_array().unwrap().iter().find(|row| row["name"] == "d_input").unwrap();
    assert_eq!(name["over_ranks"]["size"]["sum"], 4 * 4 * 16384);
    let found = imbalance(&whole).expect("a finding");
    let text = std::fs::read_to_string(root().join("tests/mpi/unequal.cu")).unwrap();
    let planted = text.lines().position(|line| line.contains("// PLANTED")).unwrap() + 1;
    assert_eq!((&found["line"], &found["evidence"]["max_rank"]), (&planted.into(), &3.0.into()), "{found:#}");
    // In parts, and in another order.
    let file = |rank: u32| format!("warpline.program.d/rank-00000{rank}.wlprof");
    merge(&[&file(3), &file(1), "-o", "one.wlprof"], &folder);
    merge(&[&file(2), "one.wlprof", &file(0), "--threads", "2", "-o", "again.wlprof"], &folder);
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(bytes("again.wlprof") == bytes("app.wlprof"));
    // A rank that is missing, and one that is damaged.
    std::fs::remove_file(folder.join(file(1))).unwrap();
    let lacking = merge(&["warpline.program.d", "-o", "app.wlprof"], &folder);
    assert_eq!(lacking.status.code(), Some(0), "{}", lacking.describe());
    assert!(lacking.stderr.contains("rank 1 of 4 has no profile"), "{}", lacking.describe());
    assert_eq!(document("app.wlprof", &folder)["run"]["complete"], false);
    let mut damaged = bytes(&file(2));
    damaged[40] ^= 1;
    std::fs::write(folder.join(file(2)), damaged).unwrap();
    let partial = merge(&["warpline.program.d", "-o", "app.wlprof"], &folder);
    assert_eq!(partial.status.code(), Some(7), "{}", partial.describe());
    let described = notes(&document("app.wlprof", &folder));
    assert!(described.contains("rank 2: rank-000002.wlprof cannot be read"), "{described}");
    assert!(described.contains("ranks 1, 2 of 4 have no profile"), "{described}");
    for strict in
        [&["warpline.program.d", "--strict", "-o", "no.wlprof"][..], &[&file(0), "--strict", "-o", "no.wlprof"]]
    {
        let refused = merge(strict, &folder);
        assert_eq!(refused.status.code(), Some(3), "{}", refused.describe());
        assert!(!folder.join("no.wlprof").exists());
    }
}

#[test]
fn equal_ranks_have_no_imbalance() {
    let folder = work_folder("mpi-equal");
    let program = built(&folder, &["-DCURED"]);
    let outcome = on_ranks(2, &["-o", "out/app.wlprof"], &program, &[], &folder);
    assert!(outcome.status.success(), "{}", outcome.describe());
    let merged = merge(&["out/app.d", "-o", "app.wlprof"], &folder);
    assert!(merged.status.success(), "{}", merged.describe());
    let whole = document("app.wlprof", &folder);
    let of_sweep = kernel(&whole, "sweep");
    assert_eq!(of_sweep["over_ranks"]["global.requests"]["stddev"], 0.0);
    let found = imbalance(&whole);
    assert!(found.is_none_or(|found| found["kernel"] != of_sweep["id"]), "{found:#?}");
}

#[test]
fn ranks_that_fail_are_reported_by_number() {
    let folder = work_folder("mpi-failing");
    let program = built(&folder, &[]);
    for (how, wanted) in [
        ("exit", "rank 1 ended with exit code 3"),
        ("abort", "rank 1 ended by signal 6, or exit code 134"),
        ("fault", "rank 1 ended with exit code 4"),
    ] {
        let output = format!("{how}/");
        let outcome = on_ranks(2, &["-o", &output], &program, &[how, "1"], &folder);
        assert!(!outcome.status.success(), "{}", outcome.describe());
        assert!(
            outcome.stderr.contains("warpline: rank 1: the program ended with exit code"),
            "{}",
            outcome.describe()
        );
        let merged = merge(&[how, "-o", "app.wlprof"], &folder);
        assert_eq!(merged.status.code(), Some(0), "{}", merged.describe());
        assert!(merged.stderr.contains(wanted), "{how}: {}", merged.describe());
        let whole = document("app.wlprof", &folder);
        let incomplete = how != "exit";
        assert!(!incomplete || notes(&whole).contains("rank 1 is incomplete"), "{}", notes(&whole));
        if how == "fault" {
            assert_eq!(whole["faults"][0]["rank"], 1, "{:#}", whole["faults"]);
        }
    }
}
