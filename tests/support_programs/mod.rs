//! Building and running CUDA programs with the two finished binaries.
#![allow(dead_code, reason = "each user takes what it needs")]

pub mod counts;
pub mod directives;
pub mod fixtures;
pub mod formula;
pub mod streams;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A command that takes longer than this hangs; generous, because machines may be busy.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `warpline`, as built for this test.
pub fn warpline() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_warpline"))
}

/// `warpline-cc`: `$WARPLINE_CC`, or the one in the folder of `warpline`. It belongs to another package, and
/// `cargo test` builds binaries of the tested package only, so it is built here when it is missing or stale.
pub fn warpline_cc() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        if let Some(given) = std::env::var_os("WARPLINE_CC") {
            return given.into();
        }
        let folder = warpline().parent().expect("a binary lies in a folder");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "warpline-driver", "--bin", "warpline-cc", "--target-dir"]);
        build.arg(folder.parent().expect("a profile's folder lies in the target folder")).current_dir(root());
        if folder.ends_with("release") {
            build.arg("--release");
        }
        let status = build.status().expect("cargo runs");
        assert!(status.success(), "building warpline-cc failed");
        folder.join("warpline-cc")
    })
}

/// An empty folder for one test's files, kept for inspection.
pub fn work_folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// What a process left behind.
pub struct Outcome {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Everything, for a failure's message.
    pub fn describe(&self) -> String {
        format!("{}\n--- stdout\n{}\n--- stderr\n{}", self.status, tail(&self.stdout), tail(&self.stderr))
    }
}

fn tail(text: &str) -> &str {
    let start = text.len().saturating_sub(6000);
    let start = (start..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    &text[start..]
}

/// Runs the command in `folder` to its end; its output goes through files, so that no pipe can fill.
/// A command that exceeds the time limit is killed and fails the test.
pub fn run(command: &mut Command, folder: &Path, name: &str) -> Outcome {
    let stdout = folder.join(format!("{name}.stdout"));
    let stderr = folder.join(format!("{name}.stderr"));
    command.current_dir(folder).stdin(Stdio::null());
    command.stdout(File::create(&stdout).expect("output file"));
    command.stderr(File::create(&stderr).expect("output file"));
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break Some(status);
        }
        if start.elapsed() > TIME_LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let (stdout, stderr) = (read(&stdout), read(&stderr));
    match status {
        Some(status) => Outcome { status, stdout, stderr },
        None => panic!("{command:?} did not end\n--- stdout\n{}\n--- stderr\n{}", tail(&stdout), tail(&stderr)),
    }
}

/// Builds `sources` to an executable in `folder`, or copies the one that an earlier build made of the same.
pub fn build(sources: &[PathBuf], flags: &[String], folder: &Path) -> PathBuf {
    let executable = folder.join("program");
    let kept = fixtures::kept(warpline_cc(), sources, flags, root());
    if kept.as_ref().is_some_and(|kept| std::fs::copy(kept, &executable).is_ok()) {
        return executable;
    }
    let mut command = Command::new(warpline_cc());
    command.args(flags).arg("-g").arg("-o").arg(&executable).args(sources);
    let outcome = run(&mut command, folder, "build");
    assert!(outcome.status.success(), "build failed: {}", outcome.describe());
    if let Some(kept) = kept {
        fixtures::keep(&executable, &kept);
    }
    executable
}
