//! The folders that clients can access.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::error::{Refusal, ServeError};

/// Maximum length of a path.
const MOST_PATH: usize = 4096;

/// Canonical folders, at least one. Relative paths start at the first folder.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    first: PathBuf,
    others: Vec<PathBuf>,
}

impl Roots {
    /// Resolves the folders.
    pub(crate) fn new(folders: &[PathBuf]) -> Result<Roots, ServeError> {
        let canonical = |folder: &Path| {
            let failed = |error| ServeError::Root { path: folder.to_owned(), error };
            let canonical = folder.canonicalize().map_err(failed)?;
            // Listing the entries detects files and folders without permission at the start.
            canonical.read_dir().map_err(failed)?;
            Ok(canonical)
        };
        match folders {
            [] => Ok(Roots { first: canonical(Path::new("."))?, others: Vec::new() }),
            [first, others @ ..] => {
                let others = others.iter().map(|folder| canonical(folder)).collect::<Result<_, ServeError>>()?;
                Ok(Roots { first: canonical(first)?, others })
            }
        }
    }

    /// Returns the folder at which relative paths start.
    pub(crate) fn first(&self) -> &Path {
        &self.first
    }

    /// Returns all folders.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.first).chain(&self.others).map(PathBuf::as_path)
    }

    /// Returns the canonical path of a file.
    pub(crate) fn file(&self, text: &str) -> Result<PathBuf, Refusal> {
        let path = self.inside(text)?;
        // A device or pipe would block the reader.
        let is_file = std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_file());
        if is_file { Ok(path) } else { Err(Refusal::NotAFile(shown(text))) }
    }

    /// Returns the canonical path of a folder.
    pub(crate) fn folder(&self, text: &str) -> Result<PathBuf, Refusal> {
        let path = self.inside(text)?;
        if path.is_dir() { Ok(path) } else { Err(self.refused(text, "not a folder")) }
    }

    /// Returns the path of a profile to write, in a folder that exists.
    pub(crate) fn new_profile(&self, text: &str) -> Result<PathBuf, Refusal> {
        let path = self.lexical(text)?;
        if path.extension() != Some(OsStr::new("wlprof")) {
            return Err(Refusal::argument("output", text, "the name of a profile ends in .wlprof"));
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(self.refused(text, "no file name"));
        };
        let folder = self.canonical(text, folder)?;
        let path = folder.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(there) if !there.is_file() => Err(Refusal::NotAFile(shown(text))),
            _ => Ok(path),
        }
    }

    /// Returns the path as clients see it: relative to the first folder if that contains it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.first).unwrap_or(path).display().to_string()
    }

    fn inside(&self, text: &str) -> Result<PathBuf, Refusal> {
        let path = self.lexical(text)?;
        self.canonical(text, &path)
    }

    /// Rejects paths outside the folders by their text, before the file system is accessed.
    fn lexical(&self, text: &str) -> Result<PathBuf, Refusal> {
        if text.is_empty() || text.len() > MOST_PATH || text.contains('\0') {
            return Err(self.refused(text, "not a path"));
        }
        let mut path = PathBuf::new();
        for component in self.first.join(text).components() {
            match component {
                Component::ParentDir => _ = path.pop(),
                other => path.push(other),
            }
        }
        if self.contain(&path) { Ok(path) } else { Err(self.outside(text)) }
    }

    fn canonical(&self, text: &str, path: &Path) -> Result<PathBuf, Refusal> {
        let canonical = path.canonicalize().map_err(|error| self.refused(text, &error.to_string()))?;
        if self.contain(&canonical) { Ok(canonical) } else { Err(Refusal::Link(shown(text))) }
    }

    fn contain(&self, path: &Path) -> bool {
        self.all().any(|root| path.starts_with(root))
    }

    fn outside(&self, text: &str) -> Refusal {
        let roots: Vec<String> = self.all().map(|root| root.display().to_string()).collect();
        Refusal::Outside(shown(text), roots.join(", "))
    }

    fn refused(&self, text: &str, error: &str) -> Refusal {
        let root = self.first.display().to_string();
        Refusal::Path { path: shown(text), error: error.to_owned(), root }
    }
}

/// Returns a client's path for use in a message.
fn shown(text: &str) -> String {
    text.chars().take(200).filter(|letter| !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_files_inside_are_reached() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("sub")).expect("a folder");
        std::fs::write(root.join("sub/a.wlprof"), "").expect("a file");
        std::fs::write(folder.path().join("secret"), "").expect("a file");
        symlink(folder.path().join("secret"), root.join("link")).expect("a link");
        symlink(folder.path(), root.join("up")).expect("a link");
        symlink(root.join("sub/a.wlprof"), root.join("inner")).expect("a link");
        let roots = Roots::new(std::slice::from_ref(&root)).expect("a root");
        let canonical = root.canonicalize().expect("a path");
        let absolute = canonical.join("sub/a.wlprof");
        for good in ["sub/a.wlprof", "./sub/../sub/a.wlprof", "inner", absolute.to_str().expect("text")] {
            assert_eq!(roots.file(good).expect(good), absolute, "{good}");
        }
        for (bad, why) in [
            ("../secret", "outside"),
            ("/etc/passwd", "outside"),
            ("sub/../../secret", "outside"),
            ("link", "symbolic link"),
            ("up/secret", "symbolic link"),
            ("none", "No such file"),
            ("sub", "not a file"),
            ("", "not a path"),
            ("a\0b", "not a path"),
        ] {
            let message = roots.file(bad).expect_err(bad).to_string();
            assert!(message.contains(why), "{bad}: {message}");
        }
        assert!(roots.file(&"a/".repeat(10_000)).is_err());
        assert_eq!(roots.new_profile("new.wlprof").expect("a path"), canonical.join("new.wlprof"));
        for bad in ["up/new.wlprof", "../new.wlprof", "new.txt", "none/new.wlprof"] {
            assert!(roots.new_profile(bad).is_err(), "{bad}");
        }
        symlink(folder.path().join("secret"), root.join("out.wlprof")).expect("a link");
        assert!(roots.new_profile("out.wlprof").is_err());
        assert_eq!(roots.shown(&absolute), "sub/a.wlprof");
    }
}
