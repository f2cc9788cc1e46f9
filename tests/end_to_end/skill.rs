//! The playbooks of `skills/warpline/SKILL.md`: each command runs as it is written, in a copy of what it names.

use std::path::Path;
use std::process::Command;

use crate::support_programs::{root, run, warpline, warpline_cc, work_folder};

/// The commands of a playbook, by its heading.
fn commands(playbook: &str) -> String {
    let text = std::fs::read_to_string(root().join("skills/warpline/SKILL.md")).expect("the skill");
    let section = text.split("\n## ").find(|section| section.starts_with(playbook)).expect(playbook);
    let blocks = section.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    blocks.collect()
}

/// Runs the commands of playbooks one after the other; each has to succeed.
fn try_playbooks(playbooks: &[&str]) {
    let folder = work_folder(&format!("skill-{}", playbooks[0].replace([' ', ','], "-")));
    for part in ["examples", "tests/races", "tests/findings/planted"] {
        copy(&root().join(part), &folder.join(part));
    }
    let script: String = playbooks.iter().map(|playbook| commands(playbook)).collect();
    let git = "git init -q . && git add -A && git -c user.email=a@b -c user.name=n commit -qm one\n";
    let beside = |program: &Path| program.parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.arg("-ec").arg(format!("{git}{script}"));
    command.env("PATH", format!("{}:{}:{path}", beside(warpline()), beside(warpline_cc())));
    let outcome = run(&mut command, &folder, "playbook");
    assert!(outcome.status.success(), "{playbooks:?}: {}", outcome.describe());
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

#[test]
fn a_slow_kernel_and_its_regression() {
    try_playbooks(&["A slow kernel", "A regression in CI"]);
}

#[test]
fn a_nan() {
    try_playbooks(&["A NaN"]);
}

#[test]
fn a_race() {
    try_playbooks(&["A race"]);
}

#[test]
fn a_block_shape() {
    try_playbooks(&["Which block shape"]);
}
