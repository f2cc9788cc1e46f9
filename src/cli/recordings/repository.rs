//! Reads commits from git, if the current folder is in a repository.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use warpline_profile::store::is_commit;

/// Maximum number of ancestors that are searched. A baseline further away is of little use.
const MOST_ANCESTORS: usize = 100_000;

/// The repository of the current folder.
#[derive(Debug)]
pub(super) struct Repository {
    /// Root folder of the repository.
    pub(super) root: String,
}

/// The known facts about a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) parents: Vec<String>,
    pub(super) date: Option<String>,
}

impl Repository {
    /// Returns the repository of the current folder, if there is one and git is installed.
    pub(super) fn here() -> Option<Repository> {
        let root = query(&["rev-parse", "--show-toplevel"], "")?.trim_end().to_owned();
        (!root.is_empty()).then_some(Repository { root })
    }

    /// Returns the full name of a commit, given by any name.
    pub(super) fn resolve(&self, name: &str) -> Option<String> {
        // Old releases of git interpret a name that starts with a dash as an option, regardless of its position.
        if name.starts_with('-') {
            return None;
        }
        let commit = format!("{name}^{{commit}}");
        let found = query(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit], "")?;
        Some(found.trim().to_owned()).filter(|commit| is_commit(commit))
    }

    /// Returns the parents and the date of a commit.
    pub(super) fn facts(&self, commit: &str) -> Option<Facts> {
        let format = "--format=%P%n%cd";
        let text = query(&["show", "-s", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", format, commit, "--"], "")?;
        let mut lines = text.lines();
        let parents = lines.next()?.split_whitespace().take(16).map(str::to_owned).collect();
        Some(Facts { parents, date: lines.next().map(str::to_owned) })
    }

    /// Returns the checked-out branch.
    pub(super) fn branch(&self) -> Option<String> {
        let branch = query(&["symbolic-ref", "--short", "--quiet", "HEAD"], "")?.trim().to_owned();
        (!branch.is_empty()).then_some(branch)
    }

    /// Returns whether tracked files differ from the commit.
    pub(super) fn is_edited(&self) -> bool {
        query(&["status", "--porcelain", "--untracked-files=no"], "").is_some_and(|text| !text.trim().is_empty())
    }

    /// Returns those of some commits that exist in this repository, parents before children.
    pub(super) fn in_order(&self, commits: &BTreeSet<&str>) -> Vec<String> {
        let mut commits_first = vec!["rev-list", "--topo-order", "--reverse", "--ignore-missing", "--stdin"];
        self.listed(&mut commits_first, commits.iter().copied(), commits, usize::MAX)
    }

    /// Returns those of some commits that are ancestors of `of` (including itself), the nearest first.
    pub(super) fn ancestors(&self, of: &str, among: &BTreeSet<&str>) -> Vec<String> {
        let mut arguments = vec!["rev-list", "--topo-order", "--ignore-missing", "--stdin"];
        self.listed(&mut arguments, std::iter::once(of), among, MOST_ANCESTORS)
    }

    fn listed<'a>(
        &self,
        arguments: &mut Vec<&str>,
        from: impl Iterator<Item = &'a str>,
        among: &BTreeSet<&str>,
        most: usize,
    ) -> Vec<String> {
        // Only full names of commits are accepted. Branches and ranges in a record refer to its author's repository.
        let whole = |name: &&str| matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let input: String = from.filter(whole).map(|name| format!("{name}\n")).collect();
        if input.is_empty() {
            return Vec::new();
        }
        let text = query(arguments, &input).unwrap_or_default();
        text.lines().take(most).filter(|commit| among.contains(commit)).map(str::to_owned).collect()
    }
}

/// Returns the output of git; `None` if git is not installed or fails.
fn query(arguments: &[&str], input: &str) -> Option<String> {
    let mut git = Command::new("git")
        .args(arguments)
        // The environment makes the output independent of time zone and language, and avoids locks.
        .envs([("TZ", "UTC"), ("LC_ALL", "C"), ("GIT_OPTIONAL_LOCKS", "0")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut pipe = git.stdin.take()?;
    let input = input.to_owned();
    // git writes output while it reads input, so a separate thread writes the input.
    let writer = std::thread::spawn(move || _ = pipe.write_all(input.as_bytes()));
    let output = git.wait_with_output().ok()?;
    _ = writer.join();
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
