//! Programs with one planted problem each, built and profiled.

use crate::recorded;
use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn source(name: &str) -> PathBuf {
    root().join("tests/findings/planted").join(format!("{name}.cu"))
}

/// Builds and profiles a program; `profile.wlprof` in the folder.
pub fn profiled(name: &str, folder: &Path, fixed: bool, options: &[&str]) {
    let mut flags = vec!["-O3".to_owned(), "-g".to_owned(), "-arch=sm_75".to_owned()];
    if fixed {
        flags.push("-DCURED".to_owned());
    }
    let executable = build(&[source(name)], &flags, folder);
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("-o").arg(folder.join("profile.wlprof")).arg("--").arg(executable);
    let outcome = run(&mut command, folder, "run");
    assert!(outcome.status.success(), "{name}: {}", outcome.describe());
}

/// The document of a program's recorded profile, or of one that is built and run for it, with what the rules find in it now.
pub fn recorded(name: &str, fixed: bool, options: &[&str]) -> Value {
    let version = if fixed { "fixed" } else { "planted" };
    recorded::document(&format!("{name}-{version}"), &source(name), || {
        let folder = work_folder(&format!("findings-{name}-{version}"));
        profiled(name, &folder, fixed, options);
        folder.join("profile.wlprof")
    })
}

pub fn report(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("report").arg(folder.join("profile.wlprof")).args(arguments);
    run(&mut command, folder, "report")
}

pub fn document(folder: &Path) -> Value {
    serde_json::from_str(&report(folder, &["--format", "json"]).stdout).expect("the report is JSON")
}

/// Lines of the program that are marked.
pub fn planted_lines(name: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(source(name)).expect("the program's source");
    (1..).zip(text.lines()).filter(|(_, line)| line.contains("// PLANTED")).map(|(number, _)| number).collect()
}
