//! Programs on the search path and their versions.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the first executable file with that name on `PATH`; a name with a slash is interpreted as a path.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        return is_executable(&path).then_some(path);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

/// Returns whether the path is a file that may be executed.
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Finds a program of this release: in the folder of the running program, otherwise on `PATH`.
pub fn companion(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.canonicalize().ok()?.parent()?.join(name)));
    beside.filter(|path| is_executable(path)).or_else(|| find(name))
}

/// Returns the standard output of a program that succeeded.
pub fn output(program: &Path, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(program).args(arguments).env("LC_ALL", "C").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the first sequence of digits and dots after `marker`, such as "22.1.8" in "clang version 22.1.8 (…)".
pub fn version_after<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    let rest = &text[text.find(marker)? + marker.len()..];
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.')).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_cut_out() {
        assert_eq!(version_after("Debian clang version 22.1.8 (1~deb12u1)", "clang version"), Some("22.1.8"));
        assert_eq!(version_after("release 13.0, V13.0.88", ", V"), Some("13.0.88"));
        assert_eq!(version_after("no number", "clang version"), None);
        assert_eq!(version_after("clang version git", "clang version"), None);
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find("sh").is_some());
        assert!(find("/bin/sh").is_some());
        assert!(find("a-program-that-does-not-exist").is_none());
        assert!(find("/etc/passwd").is_none(), "not executable");
    }
}
