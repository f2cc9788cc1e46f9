//! Commits from git, if the current folder is in a repository.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use warpline_profile::store::is_commit;

/// Most ancestors that are searched: a baseline further away is of little use.
const MOST_ANCESTORS: usize = 100_000;

/// The repository of the current folder.
#[derive(Debug)]
pub(super) struct Repository {
    /// Its folder.
    pub(super) root: String,
}

/// What is known of a commit.
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

    /// The whole name of a commit, by whatever names it.
    pub(super) fn resolve(&self, name: &str) -> Option<String> {
        // What begins with a dash is an option whatever is before it in old releases.
        if name.starts_with('-') {
            return None;
        }
        let commit = format!("{name}^{{commit}}");
        let found = query(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit], "")?;
        Some(found.trim().to_owned()).filter(|commit| is_commit(commit))
    }

    /// Parents and date of a commit.
    pub(super) fn facts(&self, commit: &str) -> Option<Facts> {
        let format = "--format=%P%n%cd";
        let text = query(&["show", "-s", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", format, commit, "--"], "")?;
        let mut lines = text.lines();
        let parents = lines.next()?.split_whitespace().take(16).map(str::to_owned).collect();
        Some(Facts { parents, date: lines.next().map(str::to_owned) })
    }

    /// Returns the branch that is checked out.
    pub(super) fn branch(&self) -> Option<String> {
        let branch = query(&["symbolic-ref", "--short", "--quiet", "HEAD"], "")?.trim().to_owned();
        (!branch.is_empty()).then_some(branch)
    }

    /// Returns whether files that git follows differ from the commit.
    pub(super) fn is_edited(&self) -> bool {
        query(&["status", "--porcelain", "--untracked-files=no"], "").is_some_and(|text| !text.trim().is_empty())
    }

    /// Of some commits those that are known here, parents before children.
    pub(super) fn in_order(&self, commits: &BTreeSet<&str>) -> Vec<String> {
        let mut commits_first = vec!["rev-list", "--topo-order", "--reverse", "--ignore-missing", "--stdin"];
        self.listed(&mut commits_first, commits.iter().copied(), commits, usize::MAX)
    }

    /// Of some commits those that `of` comes from (and itself), the nearest first.
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
        // Only whole names of commits: branches and ranges of whoever wrote a record mean nothing here.
        let whole = |name: &&str| matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let input: String = from.filter(whole).map(|name| format!("{name}\n")).collect();
        if input.is_empty() {
            return Vec::new();
        }
        let text = query(arguments, &input).unwrap_or_default();
        text.lines().take(most).filter(|commit| among.contains(commit)).map(str::to_owned).collect()
    }
}

/// What git prints; `None` where it is not there or does not know.
fn query(arguments: &[&str], input: &str) -> Option<String> {
    let mut git = Command::new("git")
        .args(arguments)
        // The same answer in every time zone and language, and a query takes no lock.
        .envs([("TZ", "UTC"), ("LC_ALL", "C"), ("GIT_OPTIONAL_LOCKS", "0")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut pipe = git.stdin.take()?;
    let input = input.to_owned();
    // git answers while it reads.
    let writer = std::thread::spawn(move || _ = pipe.write_all(input.as_bytes()));
    let output = git.wait_with_output().ok()?;
    _ = writer.join();
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
