//! Profiles, a store and a repository of a test, and `warpline` called on them.
#![allow(dead_code, reason = "each user takes what it needs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use warpline::profile::{self, Profile};

use crate::support::program::{Source, program};

/// What CI services set, which a test must not see.
const SERVICES: [&str; 7] = [
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "BITBUCKET_COMMIT",
    "BUILDKITE_COMMIT",
    "CIRCLE_SHA1",
    "BUILD_SOURCEVERSION",
    "GIT_COMMIT",
];

/// A folder with a store in it.
pub struct StoreFolder {
    pub folder: tempfile::TempDir,
}

impl StoreFolder {
    pub fn new() -> StoreFolder {
        StoreFolder { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self) -> PathBuf {
        self.path().join(".warpline")
    }

    /// Writes a profile.
    pub fn profile(&self, name: &str, profile: &Profile) -> PathBuf {
        let path = self.path().join(name);
        profile::write(profile, &path).unwrap();
        path
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
        command.current_dir(self.path()).args(arguments).env_remove("NO_COLOR").env_remove("WARPLINE_STORE");
        SERVICES.iter().for_each(|name| _ = command.env_remove(name));
        command
    }

    /// Calls `warpline`.
    pub fn warpline(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Calls `warpline`, which does well, and returns what it prints.
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = self.warpline(arguments);
        assert!(output.status.success(), "{arguments:?}: {}{}", stderr(&output), stdout(&output));
        stdout(&output)
    }

    /// Records a profile at a commit.
    pub fn record(&self, profile: &Profile, commit: &str, branch: &str) {
        let file = self.profile("recorded.wlprof", profile);
        self.done(&["record", file.to_str().unwrap(), "--commit", commit, "--branch", branch]);
    }

    /// Makes the folder a repository.
    pub fn repository(&self) {
        self.git(&["init", "--quiet", "--initial-branch", "main"], 0);
    }

    /// Makes a commit, `hour` hours after midnight, and returns its name.
    pub fn commit(&self, hour: u32) -> String {
        self.git(&["commit", "--quiet", "--allow-empty", "--message", &format!("{hour}")], hour);
        self.git(&["rev-parse", "HEAD"], hour)
    }

    pub fn git(&self, arguments: &[&str], hour: u32) -> String {
        let date = format!("2026-11-24T{hour:02}:00:00Z");
        let mut command = Command::new("git");
        command.current_dir(self.path()).args(["-c", "user.name=test", "-c", "user.email=test@example.com"]);
        command.args(["-c", "commit.gpgsign=false"]).args(arguments);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        let output = command.output().expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {}", stderr(&output));
        stdout(&output).trim().to_owned()
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A program with a kernel whose second line moves so many sectors.
pub fn moving(sectors: u64) -> Profile {
    let code = [("    int i = threadIdx.x;", 0), ("    data[i * stride] += 1;", sectors)];
    let other = [("    data[i] *= factor;", 64)];
    let kernels = [Source { name: "walk", code: &code }, Source { name: "scale", code: &other }];
    let mut profile = program("/src/app.cu", &kernels, &[("d_data", 4096)]);
    profile.run.program = vec!["/build/app".to_owned(), "64".to_owned()];
    profile.run.environment.versions = [("warpline".to_owned(), "0.1.0".to_owned())].into();
    profile
}
