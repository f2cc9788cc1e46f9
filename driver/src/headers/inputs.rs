//! The files from which precompiled headers were made. Checks whether they are unchanged, and whether a compilation
//! would find the same files.

use crate::dependencies;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The maximum number of path components that an `#include` may name: `sys/types.h`,
/// `thrust/detail/config/host_system.h`.
const NAMED: usize = 6;

/// A file in its state at the time of precompilation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    path: PathBuf,
    size: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
}

impl File {
    fn now(path: &Path) -> Option<File> {
        let data = path.metadata().ok()?;
        Some(File { path: path.into(), size: data.size(), modified: (data.mtime(), data.mtime_nsec()) })
    }
}

/// The files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs(Vec<File>);

impl Inputs {
    /// Returns the files of a rule for make, as clang writes it, or `None` if a file no longer exists.
    pub fn of_rule(rule: &str) -> Option<Inputs> {
        let (_, files) = rule.split_once(": ")?;
        // clang writes a backslash before blanks and hash marks in names, and doubles dollar signs.
        let plain = |word: &str| word.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$");
        let joined = files.replace("\\\n", " ").replace('\n', " ");
        let files = dependencies::words(&joined).into_iter().map(|word| File::now(Path::new(&plain(word))));
        files.collect::<Option<_>>().map(Inputs)
    }

    /// Returns the inputs as lines of a file.
    pub fn text(&self) -> String {
        let line =
            |file: &File| format!("{} {} {} {}\n", file.size, file.modified.0, file.modified.1, file.path.display());
        self.0.iter().map(line).collect()
    }

    /// Reads these lines; `None` if they are damaged.
    pub fn read(text: &str) -> Option<Inputs> {
        let line = |line: &str| {
            let mut words = line.splitn(4, ' ');
            let size = words.next()?.parse().ok()?;
            let modified = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            Some(File { path: words.next()?.into(), size, modified })
        };
        text.lines().map(line).collect::<Option<Vec<_>>>().filter(|files| !files.is_empty()).map(Inputs)
    }

    /// Returns whether all files are unchanged.
    pub fn are_unchanged(&self) -> bool {
        self.0.iter().all(|file| File::now(&file.path).as_ref() == Some(file))
    }

    /// Returns whether one of `folders` contains another file that would be found by the name of one of these files.
    pub fn are_hidden_by(&self, folders: &[PathBuf]) -> bool {
        folders.iter().any(|folder| self.is_one_hidden_by(folder))
    }

    fn is_one_hidden_by(&self, folder: &Path) -> bool {
        let Ok(entries) = folder.read_dir() else { return false };
        let names: BTreeSet<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
        self.0.iter().any(|file| {
            let components: Vec<_> = file.path.components().collect();
            let first = components.len().saturating_sub(NAMED);
            (first..components.len()).filter(|&first| names.contains(components[first].as_os_str())).any(|first| {
                let other = folder.join(components[first..].iter().collect::<PathBuf>());
                other.is_file() && other.canonicalize().ok() != file.path.canonicalize().ok()
            })
        })
    }

    /// Returns whether one of `others` is one of these files.
    pub fn have_one_of(&self, others: &[PathBuf]) -> bool {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
        let others: BTreeSet<PathBuf> = others.iter().map(|path| canonical(path)).collect();
        !others.is_empty() && self.0.iter().any(|file| others.contains(&canonical(&file.path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn files_are_compared_with_what_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["with blank/a.h", "b#.h"].map(|name| made(folder.path(), name, "int x;"));
        let shown = |path: &Path| path.display().to_string().replace(' ', "\\ ").replace('#', "\\#");
        let rule = format!("x.pch: {} \\\n  {}\n", shown(&a), shown(&b));
        let inputs = Inputs::of_rule(&rule).unwrap();
        assert_eq!(Inputs::read(&inputs.text()), Some(inputs.clone()));
        assert!(inputs.are_unchanged() && inputs.have_one_of(std::slice::from_ref(&b)));
        std::fs::write(&b, "int longer;").unwrap();
        assert!(!inputs.are_unchanged());
        std::fs::remove_file(&b).unwrap();
        assert!(!inputs.are_unchanged());
        assert_eq!(Inputs::of_rule(&rule), None);
        assert_eq!([Inputs::read(""), Inputs::read("1 2 x y")], [None, None]);
    }

    #[test]
    fn files_of_the_same_name_hide_them() {
        let folder = tempfile::tempdir().unwrap();
        let system = made(folder.path(), "system/sys/types.h", "");
        let inputs = Inputs::of_rule(&format!("x: {}\n", system.display())).unwrap();
        let other = |name: &str| {
            let mine = folder.path().join(name);
            made(&mine, name, "");
            vec![mine]
        };
        assert!(!inputs.are_hidden_by(&other("a.h")), "another name");
        assert!(!inputs.are_hidden_by(&[folder.path().join("system")]), "the same file");
        assert!(!inputs.are_hidden_by(&[folder.path().join("none")]), "no folder");
        assert!(!inputs.are_hidden_by(&other("system/types.h")), "in a folder that is named otherwise");
        assert!(inputs.are_hidden_by(&other("types.h")), "a header may include it from its own folder");
        assert!(inputs.are_hidden_by(&other("sys/types.h")));
    }
}
