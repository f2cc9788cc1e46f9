//! Real programs side by side: a planted problem and its remedy. What changed is reported, and nothing that did not.

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds and runs a program; its profile.
fn profiled(source: &str, name: &str, flags: &[&str], folder: &Path) -> PathBuf {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).expect("the work folder can be written");
    let mut all = vec!["-O2".to_owned(), "-arch=sm_75".to_owned()];
    all.extend(flags.iter().map(|flag| (*flag).to_owned()));
    let executable = build(&[root().join(source)], &all, &folder);
    again(&executable, "profile", &folder)
}

/// Runs a program; its profile.
fn again(executable: &Path, name: &str, folder: &Path) -> PathBuf {
    let profile = folder.join(format!("{name}.wlprof"));
    let mut command = Command::new(warpline());
    command.arg("run").arg("-o").arg(&profile).arg("--").arg(executable);
    let outcome = run(&mut command, folder, name);
    assert!(outcome.status.success(), "{}", outcome.describe());
    profile
}

fn diff(before: &Path, after: &Path, options: &[&str], folder: &Path) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("diff").arg(before).arg(after).args(options);
    run(&mut command, folder, "diff")
}

fn document(before: &Path, after: &Path, folder: &Path) -> Value {
    let outcome = diff(before, after, &["--format", "json"], folder);
    assert!(outcome.status.success(), "{}", outcome.describe());
    serde_json::from_str(&outcome.stdout).expect("the comparison is JSON")
}

fn rows<'a>(document: &'a Value, table: &str) -> &'a [Value] {
    document[table].as_array().expect("a table")
}

#[test]
fn a_cured_program_differs_in_its_cure_alone() {
    let folder = work_folder("comparison-transpose");
    let before = profiled("tests/comparison/transpose_before.cu", "before", &[], &folder);
    let after = profiled("tests/comparison/transpose_after.cu", "after", &[], &folder);
    let found = document(&before, &after, &folder);
    assert_eq!(found["comparable"], true, "{:#}", found["differences"]);
    // The kernel that was moved and renamed is the same still.
    let kernels = rows(&found, "kernels");
    assert_eq!(kernels.len(), 1, "{kernels:#?}");
    assert_eq!(kernels[0]["name"]["after"], "transpose(float const*, float*, int)");
    // 512 x 512 floats: a warp's writes touched 32 sectors each, and touch 4 now; its reads 4 before and after.
    assert_eq!(kernels[0]["metrics"]["global.sectors"], serde_json::json!([8192 * 36, 8192 * 8]));
    assert_eq!(kernels[0]["metrics"]["shared.wavefronts"], serde_json::json!([0, 2 * 8192]));
    let texts: Vec<(Option<&str>, Option<&str>)> = rows(&found, "lines")
        .iter()
        .map(|row| (row["before"]["text"].as_str(), row["after"]["text"].as_str()))
        .collect();
    assert_eq!(
        texts,
        [
            (Some("out[x * n + y] = in[y * n + x];"), Some("out[y * n + x] = tile[threadIdx.x][threadIdx.y];")),
            (None, Some("if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];")),
        ]
    );
    // `d_in` has another name and the same figures.
    let names: Vec<&Value> = rows(&found, "allocations").iter().map(|row| &row["name"]["after"]).collect();
    assert_eq!(names, ["d_out"]);
    let gone = rows(&found["findings"], "gone");
    assert_eq!((gone.len(), &gone[0]["id"]), (1, &"strided-access".into()), "{gone:#?}");
    assert!(rows(&found["findings"], "new").is_empty() && rows(&found["findings"], "changed").is_empty());
    // The other way round it gets worse, and a limit reports it.
    let limits = folder.join("limits.toml");
    std::fs::write(&limits, "[kernels.\"^transpose\"]\n\"global.sectors\" = { soft = 10 }\n").expect("room for it");
    let limits = ["--limits", limits.to_str().expect("a plain path"), "--strict"];
    assert_eq!(diff(&before, &after, &limits, &folder).status.code(), Some(0));
    let worse = diff(&after, &before, &limits, &folder);
    assert_eq!(worse.status.code(), Some(5), "{}", worse.describe());
}

/// The estimate has no limit of atomic operations on one address, and the fixed kernel does more in addition: what
/// shrank is reported.
#[test]
fn fewer_atomic_operations_on_one_address_are_reported() {
    let folder = work_folder("comparison-atomics");
    let before = profiled("tests/findings/planted/atomic_counter.cu", "before", &[], &folder);
    let after = profiled("tests/findings/planted/atomic_counter.cu", "after", &["-DCURED"], &folder);
    let found = document(&before, &after, &folder);
    // Seven of ten values are above the threshold, of 2^20; then each block of 256 adds once.
    let values = (0..1 << 20).filter(|i| i % 10 > 2).count();
    let lanes = &rows(&found, "kernels")[0]["metrics"]["atomics.hottest_lanes"];
    assert_eq!(*lanes, serde_json::json!([values, 4096]));
    let text = diff(&before, &after, &[], &folder).stdout;
    let row = text.lines().find(|line| line.contains("atomic operations on one address")).expect("a row");
    assert!(row.ends_with("better"), "{row}");
}

#[test]
fn runs_of_one_program_do_not_differ_and_add_up() {
    let folder = work_folder("comparison-runs");
    let first = profiled("tests/findings/planted/allocation_churn.cu", "program", &[], &folder);
    let executable = folder.join("program/program");
    let second = again(&executable, "second", &folder);
    let found = document(&first, &second, &folder);
    for table in ["kernels", "lines", "branches", "allocations"] {
        assert!(rows(&found, table).is_empty(), "{table}: {:#}", found[table]);
    }
    assert!(found["comparable"] == true && found["program"].as_object().is_some_and(|sums| sums.is_empty()));
    let text = diff(&first, &second, &[], &folder);
    assert!(text.stdout.contains("Nothing changed"), "{}", text.describe());

    let both = folder.join("both.wlprof");
    let mut command = Command::new(warpline());
    command.arg("merge").arg(&first).arg(&second).arg("-o").arg(&both);
    let merged = run(&mut command, &folder, "merge");
    assert!(merged.status.success(), "{}", merged.describe());
    let report = |profile: &Path| -> Value {
        let mut command = Command::new(warpline());
        command.args(["report", "--format", "json"]).arg(profile);
        serde_json::from_str(&run(&mut command, &folder, "report").stdout).expect("the report is JSON")
    };
    let (one, all) = (report(&first), report(&both));
    let figures = |profile: &Value| {
        let kernel = &profile["kernels"][0];
        let copies: u64 = rows(profile, "allocations").iter().filter_map(|row| row["bytes"].as_u64()).sum();
        let of = |name: &str| kernel["metrics"]["global"][name].as_u64().expect("a count");
        [of("requests"), of("sectors"), of("lanes"), kernel["launch_count"].as_u64().expect("a count"), copies]
    };
    assert_eq!(figures(&all), figures(&one).map(|count| 2 * count));
    // The finding of each is a finding of both.
    assert_eq!(all["findings"][0]["id"], one["findings"][0]["id"]);
}

/// The twins of the findings: each remedy is reported as one, and no kernel, allocation or finding gets worse by name.
#[test]
fn cures_of_copies_and_allocations_touch_no_kernel() {
    for (name, finding) in [("repeated_copy", "redundant-copy"), ("unused_allocation", "unused-allocation")] {
        let folder = work_folder(&format!("comparison-{name}"));
        let source = format!("tests/findings/planted/{name}.cu");
        let before = profiled(&source, "before", &[], &folder);
        let after = profiled(&source, "after", &["-DCURED"], &folder);
        let found = document(&before, &after, &folder);
        for table in ["kernels", "lines", "branches"] {
            assert!(rows(&found, table).is_empty(), "{name}: {table}: {:#}", found[table]);
        }
        assert_eq!(rows(&found, "allocations").len(), 1, "{name}: {:#}", found["allocations"]);
        assert_eq!(rows(&found["findings"], "gone")[0]["id"], finding);
        assert!(rows(&found["findings"], "new").is_empty(), "{name}: {:#}", found["findings"]);
    }
}

#[test]
fn a_finding_goes_with_the_memory_that_it_is_about() {
    let folder = work_folder("comparison-mapped");
    let before = profiled("tests/comparison/mapped_table.cu", "before", &[], &folder);
    let after = profiled("tests/comparison/mapped_table.cu", "after", &["-DCURED"], &folder);
    let found = document(&before, &after, &folder);
    // The kernel does the same; where its table lies is what changed.
    assert!(rows(&found, "kernels").is_empty(), "{:#}", found["kernels"]);
    let ids = |which| rows(&found["findings"], which).iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    assert_eq!((ids("gone"), ids("new")), (vec![Value::from("host-memory")], vec![]));
    // The other way round it is new, and a gate sees it.
    let found = document(&after, &before, &folder);
    assert_eq!(rows(&found["findings"], "new")[0]["id"], "host-memory");
}
