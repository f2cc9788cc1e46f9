//! The worked cases and the tutorials: each command of their pages prints what the page shows.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support_programs::{root, run, warpline, warpline_cc, work_folder};

/// What stands for lines that are left out.
const LEFT_OUT: &str = "…";

/// A command of a page and the lines that it prints.
struct Step {
    command: String,
    printed: Vec<String>,
}

/// The blocks of a page in which a command stands behind a `$`.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            _ if !inside => {}
            Some(command) => steps.push(Step { command: command.to_owned(), printed: Vec::new() }),
            None => steps.last_mut().expect("a command comes first").printed.push(line.to_owned()),
        }
    }
    steps
}

/// The first printed line that the output does not have where it should.
fn missing<'a>(printed: &'a [String], output: &[&str]) -> Option<&'a str> {
    let mut at = 0;
    // Behind what is left out, or at the start, lines may be skipped.
    let mut skips = false;
    for line in printed {
        if line == LEFT_OUT {
            skips = true;
            continue;
        }
        let fits = |output: &&str| output.trim_end() == line.trim_end();
        let found =
            if skips { output[at..].iter().position(fits) } else { output.get(at).filter(|out| fits(out)).map(|_| 0) };
        match found {
            Some(after) => at += after + 1,
            None => return Some(line),
        }
        skips = false;
    }
    None
}

/// The Python package, and Triton as `scripts/setup.sh --tests` fetches it.
fn python_path() -> String {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache");
    let wheels = cache.unwrap_or_else(home).join("warpline/triton-3.9.0");
    assert!(wheels.is_dir(), "{} is missing: run scripts/setup.sh --tests", wheels.display());
    format!("{}:{}", root().join("python").display(), wheels.display())
}

/// A folder in which the commands of a page work as in the repository: `examples` is there, and `warpline` is found.
fn place(name: &str) -> (PathBuf, String) {
    let folder = work_folder(name);
    std::os::unix::fs::symlink(root().join("examples"), folder.join("examples")).unwrap();
    let tools = folder.join("tools");
    std::fs::create_dir(&tools).unwrap();
    std::os::unix::fs::symlink(warpline(), tools.join("warpline")).unwrap();
    for name in ["warpline-cc", "warpline-nvcc", "warpline-clang++"] {
        std::os::unix::fs::symlink(warpline_cc(), tools.join(name)).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    (folder, format!("{}:{path}", tools.display()))
}

fn follow(page: &Path) {
    let name = page.file_stem().unwrap().to_string_lossy();
    let text = std::fs::read_to_string(page).unwrap();
    let steps = steps(&text);
    assert!(steps.len() >= 3, "{name} has hardly a command");
    let (folder, path) = place(&format!("case_{name}"));
    for (number, step) in steps.iter().enumerate() {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{} 2>&1", step.command)]).env("PATH", &path).env_remove("COLUMNS");
        command
            .env("PYTHONPATH", python_path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("WARPLINE_BIN", folder.join("tools"));
        let outcome = run(&mut command, &folder, &format!("step{number}"));
        let output: Vec<&str> = outcome.stdout.lines().collect();
        let missing = missing(&step.printed, &output);
        assert_eq!(missing, None, "{name}: `{}` printed\n{}", step.command, outcome.stdout);
    }
}

macro_rules! cases {
    ($($test:ident: $page:literal),+ $(,)?) => {
        $(#[test]
        fn $test() {
            follow(&root().join("docs").join($page));
        })+

        const PAGES: &[&str] = &[$($page),+];
    };
}

cases![
    array_of_structures: "cases/array-of-structures.md",
    bank_conflicts: "cases/bank-conflicts.md",
    bvh_layout: "cases/bvh-layout.md",
    cache_sweep: "cases/cache-sweep.md",
    colliding_atomics: "cases/colliding-atomics.md",
    masked_tail: "cases/masked-tail.md",
    strided_load: "cases/strided-load.md",
    swapped_indices: "cases/swapped-indices.md",
    visited: "cases/visited.md",
    tutorial_make: "tutorials/make.md",
    tutorial_cmake: "tutorials/cmake.md",
    tutorial_triton: "tutorials/triton.md",
];

#[test]
fn every_page_of_commands_is_followed() {
    for folder in ["cases", "tutorials"] {
        let files = std::fs::read_dir(root().join("docs").join(folder)).unwrap().flatten();
        for file in files.map(|file| file.path()) {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let name = format!("{folder}/{}", file.file_name().unwrap().to_string_lossy());
            let followed = PAGES.contains(&&name[..]) || steps(&text).is_empty();
            assert!(followed, "{name} has commands that no test follows");
        }
    }
}

#[test]
fn what_a_page_prints_is_compared_line_by_line() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let output = ["a", "b", "c", "d"];
    assert_eq!(missing(&lines("a\nb\n…\nd"), &output), None);
    assert_eq!(missing(&lines("…\nc"), &output), None);
    assert_eq!(missing(&lines("b"), &output), Some("b"));
    assert_eq!(missing(&lines("a\n…\nx"), &output), Some("x"));
    assert_eq!(missing(&lines("a\nc"), &output), Some("c"));
    assert_eq!(missing(&lines("…\nd\n…\na"), &output), Some("a"));
    let steps = steps("text\n```console\n$ one\nx\n…\n```\n```cuda\n$ no\n```\n```console\n$ two\n```\n");
    let described: Vec<_> = steps.iter().map(|step| (&step.command[..], step.printed.len())).collect();
    assert_eq!(described, [("one", 2), ("two", 0)]);
}
