//! Profiles that no run can produce: rows, numbers and names of a real one are others, below a right checksum. No verb
//! panics, hangs, or takes all memory.

#[path = "../../fuzz/entries/document.rs"]
mod document;
#[path = "../../fuzz/documents.rs"]
mod documents;
#[path = "../../fuzz/harness.rs"]
#[allow(dead_code, reason = "each test takes what it needs")]
mod harness;
#[path = "../../fuzz/entries/profile.rs"]
#[allow(dead_code, reason = "each test takes what it needs")]
mod profile;

use std::process::Command;

use crate::support_programs::{build, root, run, warpline, work_folder};

/// The profile of a program whose addresses have expressions.
fn seeds() -> Vec<Vec<u8>> {
    let folder = work_folder("hostile-documents");
    let flags = ["-O2", "-g", "-arch=sm_80"].map(str::to_owned);
    let program = build(&[root().join("tests/hostile/profiled.cu")], &flags, &folder);
    let file = folder.join("a.wlprof");
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "a100,t4", "-o"]).arg(&file).arg("--").arg(&program);
    let outcome = run(&mut command, &folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    vec![serde_json::to_vec(&warpline::profile::read(&file).unwrap()).unwrap()]
}

#[test]
fn changed_documents() {
    harness::run_with(documents::changed, "document", &seeds(), 40, document::run);
}

#[test]
#[ignore = "test-all"]
fn changed_documents_at_length() {
    harness::at_length_with(documents::changed, "document", &seeds(), document::run);
}
