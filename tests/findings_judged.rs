//! Findings that experts called wrong when public programs were judged (`docs/design/findings.md`), each as a small case: what is
//! said of it now, and what must not be said again.

mod support_programs;

use serde_json::Value;
use std::process::Command;
use std::sync::OnceLock;
use support_programs::{build, root, run, warpline, work_folder};

const PROGRAM: &str = "tests/judged/cures.cu";

/// The program's profile, made once.
fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let folder = work_folder("findings-judged");
        let flags = ["-O3", "-g", "-arch=sm_75"].map(str::to_owned);
        let executable = build(&[root().join(PROGRAM)], &flags, &folder);
        let profile = folder.join("profile.wlprof");
        let mut command = Command::new(warpline());
        command.arg("run").arg("-o").arg(&profile).arg("--").arg(executable);
        let outcome = run(&mut command, &folder, "run");
        assert!(outcome.status.success(), "{}", outcome.describe());
        let mut command = Command::new(warpline());
        command.arg("report").arg(&profile).args(["--format", "json"]);
        serde_json::from_str(&run(&mut command, &folder, "report").stdout).expect("the report is JSON")
    })
}

/// The findings of this id on the line with these words.
fn all(id: &str, words: &str) -> Vec<&'static Value> {
    let text = std::fs::read_to_string(root().join(PROGRAM)).expect("the program's source");
    let marked = format!("// {words}");
    let line = text.lines().position(|line| line.ends_with(&marked)).expect("a marked line") as u64 + 1;
    let findings = document()["findings"].as_array().expect("findings");
    findings.iter().filter(|finding| finding["id"] == id && finding["line"] == line).collect()
}

/// The one finding of this id there: its reason and its cure.
fn one(id: &str, words: &str) -> (&'static Value, &'static str, &'static str) {
    let found = all(id, words);
    let [finding] = found[..] else { panic!("{words}: {found:#?} of {:#}", document()["findings"]) };
    (finding, finding["reason"].as_str().expect("a reason"), finding["cure"].as_str().expect("a cure"))
}

#[test]
fn atomics_on_several_addresses_are_not_each_the_whole_cost() {
    for words in ["ADD", "EXCHANGE", "MAX"] {
        let (finding, ..) = one("atomic-contention", words);
        // The two others are left, and take as long.
        assert!(finding["gain"].is_null(), "{words}: {finding:#}");
    }
}

#[test]
fn exchanges_are_not_reduced() {
    let (_, _, cure) = one("atomic-contention", "EXCHANGE");
    assert!(cure.contains("cannot be combined") && !cure.contains("reduce"), "{cure}");
    let (_, _, cure) = one("atomic-contention", "MAX");
    assert!(cure.contains("within the warp"), "{cure}");
}

#[test]
fn a_single_warp_is_not_spread_over_all_sms() {
    let (finding, ..) = one("small-launch", "ONE WARP");
    assert!(finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn constant_memory_is_advised_where_data_fits() {
    let (_, _, cure) = one("uniform-load", "SMALL");
    assert!(cure.contains("constant memory"), "{cure}");
    let (_, _, cure) = one("uniform-load", "LARGE");
    assert!(cure.starts_with("let the block load a tile") && !cure.contains("constant memory"), "{cure}");
}

#[test]
fn a_distance_between_lanes_is_not_taken_for_a_row() {
    let (_, _, cure) = one("bank-conflict", "DIAGONAL");
    assert!(cure.contains("neighbouring lanes are 17 instead of 16 elements apart"), "{cure}");
}

#[test]
fn banks_that_the_thread_decides_do_not_depend_on_data() {
    let (_, _, cure) = one("bank-conflict", "HALVES");
    assert!(cure.contains("computed from the thread's number"), "{cure}");
}

#[test]
fn a_thread_that_takes_one_element_has_no_row_to_share() {
    let (_, _, cure) = one("strided-access", "COLUMN");
    assert!(cure.contains("each thread takes one element") && !cure.contains("per row"), "{cure}");
}

#[test]
fn ways_to_one_allocation_are_one_finding() {
    let (finding, reason, _) = one("allocation-churn", "CHURN");
    assert_eq!(finding["evidence"]["allocations"], 50.0);
    assert!(reason.contains("allocated 50 times here"), "{reason}");
}

#[test]
fn copies_that_bring_nothing_are_not_to_be_gathered() {
    one("redundant-copy", "AGAIN");
    assert!(all("small-copies", "AGAIN").is_empty());
    let (_, _, cure) = one("small-copies", "BACK");
    assert!(cure.starts_with("copy all that is read here at once"), "{cure}");
}
