//! What reports do with findings.

use crate::page;
use crate::planted_program::{document, profiled, report, source};
use crate::support_programs::{build, run, warpline, work_folder};
use serde_json::Value;
use std::process::Command;

#[test]
fn numbers_are_those_of_the_code() {
    let folder = work_folder("findings-numbers");
    profiled("strided", &folder, false, &[]);
    let first = &document(&folder)["findings"][0];
    // 2048 rows of 2048 floats, 64 warps of 32 rows each: a request per column, each lane in a row of its own.
    let evidence = &first["evidence"];
    assert_eq!(evidence["requests"], 64.0 * 2048.0);
    assert_eq!(evidence["sectors"], 64.0 * 2048.0 * 32.0);
    assert_eq!(evidence["ideal_sectors"], 64.0 * 2048.0 * 4.0);
    assert_eq!(evidence["stride_bytes"], 8192.0);
    let reason = first["reason"].as_str().expect("a reason");
    assert!(reason.contains("8.0 KiB (2048 elements of 4 bytes)") && reason.contains("`columns`"), "{reason}");
    profiled("atomic_counter", &folder, false, &[]);
    let evidence = &document(&folder)["findings"][0]["evidence"];
    // Values 3 to 9 of every ten of 2^20 elements; all threads of a warp that add meet at one address.
    assert_eq!(evidence["lanes"], 734_002.0);
    assert_eq!(evidence["hottest_lanes"], 734_002.0);
    assert_eq!(evidence["requests"], 32_768.0);
}

#[test]
fn all_forms_tell_the_same_whatever_the_threads() {
    let folder = work_folder("findings-forms");
    profiled("swapped_indices", &folder, false, &["--threads", "1"]);
    let one = document(&folder);
    profiled("swapped_indices", &folder, false, &["--threads", "3"]);
    let other = document(&folder);
    assert_eq!(one["findings"], other["findings"]);
    assert_eq!(one["sites"], other["sites"]);
    let [text, markdown, html] =
        ["text", "markdown", "html"].map(|format| report(&folder, &["--format", format]).stdout);
    let sarif: Value = serde_json::from_str(&report(&folder, &["--format", "sarif"]).stdout).expect("SARIF is JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let findings = other["findings"].as_array().expect("findings");
    assert_eq!(results.len(), findings.len());
    assert_eq!(page::data(&html)["sides"][0]["profile"]["findings"], other["findings"]);
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (result, finding) in results.iter().zip(findings) {
        assert_eq!(result["ruleId"], finding["id"]);
        assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], finding["line"]);
        let reason = finding["reason"].as_str().expect("a reason");
        assert!(flat(&text).contains(reason), "{text}");
        assert!(markdown.contains(finding["id"].as_str().expect("an id")), "{markdown}");
    }
    assert!(text.lines().count() <= 40, "{} lines:\n{text}", text.lines().count());
}

#[test]
fn a_report_fails_where_it_is_asked_to() {
    let folder = work_folder("findings-fail-on");
    profiled("bank_conflict", &folder, false, &[]);
    let code = |arguments: &[&str]| report(&folder, arguments).status.code();
    assert_eq!(code(&["--fail-on", "bank-conflict"]), Some(5));
    assert_eq!(code(&["--fail-on", "warning"]), Some(5));
    assert_eq!(code(&["--fail-on", "error"]), Some(0));
    assert_eq!(code(&["--fail-on", "spill"]), Some(0));
    assert_eq!(code(&["--fail-on", "bank-conflicts"]), Some(2));
    assert_eq!(code(&["--fail-on", "warning", "--ignore", "bank-conflict@bank_conflict.cu:20"]), Some(0));
    assert_eq!(code(&["--fail-on", "warning", "--ignore", "bank-conflict@transpose"]), Some(0));
    assert_eq!(code(&["--fail-on", "warning", "--ignore", "bank-conflict@bank_conflict.cu:21"]), Some(5));
    let outcome = report(&folder, &["--fail-on", "warning"]);
    assert!(
        outcome.stderr.contains("bank-conflict") && outcome.stderr.contains("bank_conflict.cu:20"),
        "{}",
        outcome.describe()
    );
}

#[test]
fn comments_in_the_source_silence_findings() {
    let text = std::fs::read_to_string(source("bank_conflict")).expect("the program's source");
    let line = text.lines().find(|line| line.contains("// PLANTED")).expect("the planted line");
    let code = line.replace("// PLANTED", "");
    for (name, fixed, silenced) in [
        ("same-line", format!("{code} // warpline: ignore bank-conflict"), true),
        ("line-above", format!("// warpline: ignore (a demonstration)\n{code}"), true),
        ("another-id", format!("{code} // warpline: ignore spill"), false),
        ("not-alone", format!("__syncthreads(); // warpline: ignore\n{code}"), false),
    ] {
        let folder = work_folder(&format!("findings-comment-{name}"));
        let program = folder.join("program.cu");
        std::fs::write(&program, text.replace(line, &fixed)).expect("the program");
        let executable = build(&[program], &["-O3".to_owned(), "-arch=sm_75".to_owned()], &folder);
        let mut command = Command::new(warpline());
        command.arg("run").arg("-o").arg(folder.join("profile.wlprof")).arg("--").arg(executable);
        assert!(run(&mut command, &folder, "run").status.success());
        let code = report(&folder, &["--fail-on", "bank-conflict"]).status.code();
        assert_eq!(code, Some(if silenced { 0 } else { 5 }), "{name}");
    }
}
