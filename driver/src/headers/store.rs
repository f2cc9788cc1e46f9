//! Precompiled headers in the user's cache.
//!
//! For a compilation that is not repeated, precompiled headers would cost time. Therefore, they are made when the same
//! headers are needed for the second time: the first compilation leaves a mark. Files only appear when they are
//! complete, and the least recently used headers are removed first.

use super::inputs::Inputs;
use crate::command::Command;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use warpline_toolchain::{cache, interrupt};

/// The maximum total size of the headers in bytes; the size of one is tens of millions.
const BOUND: u64 = 400_000_000;
/// The time for which marks, and files of compilers that were killed, are kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The files of a header for one kind of command line.
#[derive(Clone, Debug)]
pub struct Entry {
    folder: PathBuf,
    name: String,
}

impl Entry {
    /// Returns the entry for a text that contains everything on which the header depends.
    pub fn for_text(text: &str) -> Option<Entry> {
        let folder = cache::folder().ok()?.join("headers");
        Some(Entry { folder, name: format!("{:016x}", cache::content_hash(text.as_bytes())) })
    }

    /// Returns the precompiled header.
    pub fn file(&self) -> PathBuf {
        self.path("pch")
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    /// Returns the inputs of the header, if it exists and all inputs are unchanged.
    pub fn fresh(&self) -> Option<Inputs> {
        let text = std::fs::read_to_string(self.path("inputs")).ok()?;
        let inputs = Inputs::read(&text).filter(Inputs::are_unchanged)?;
        let file = std::fs::File::open(self.file()).ok()?;
        // The least recently used header is removed first. In a cache that cannot be written, nothing is removed
        // either.
        _ = file.set_modified(SystemTime::now());
        Some(inputs)
    }

    /// Returns whether the header should be made: an earlier compilation needed it, and making it has not failed.
    pub fn is_worth_making(&self) -> bool {
        let mark = self.path("mark");
        let made = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::OpenOptions::new().write(true).create_new(true).open(&mark));
        match made {
            Ok(_) => false,
            Err(cause) => cause.kind() == ErrorKind::AlreadyExists && mark.metadata().is_ok_and(|data| data.len() == 0),
        }
    }

    /// Makes the header with the command that `compile` returns for an output file. Returns the inputs of the header.
    pub fn make(&self, compile: impl FnOnce(&Path) -> Command) -> Option<Inputs> {
        let made = self.compiled(compile);
        if made.is_none() {
            // Making it would fail again, and every compilation would try.
            _ = std::fs::write(self.path("mark"), "cannot be made\n");
        }
        made
    }

    fn compiled(&self, compile: impl FnOnce(&Path) -> Command) -> Option<Inputs> {
        let temporary = tempfile::Builder::new()
            .prefix(&format!(".{}.", self.name))
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&self.folder)
            .ok()?;
        let _removal = interrupt::removes(temporary.path());
        let [header, rule, list] = ["pch", "d", "inputs"].map(|name| temporary.path().join(name));
        let command = compile(&header).args(["-MD", "-MT", "it", "-MF"]).path(&rule);
        if command.capture().ok()?.code != 0 {
            return None;
        }
        let inputs = Inputs::of_rule(&std::fs::read_to_string(&rule).ok()?)?;
        std::fs::write(&list, inputs.text()).ok()?;
        self.make_room(header.metadata().ok()?.len());
        // A header without a list is not used.
        _ = std::fs::remove_file(self.path("inputs"));
        std::fs::rename(&header, self.file()).ok()?;
        std::fs::rename(&list, self.path("inputs")).ok()?;
        Some(inputs)
    }

    /// Removes the header, because clang could not use it.
    pub fn discard(&self) {
        for extension in ["inputs", "pch", "mark"] {
            _ = std::fs::remove_file(self.path(extension));
        }
    }

    /// Removes the least recently used headers until there is room for `bytes`, and old files of the others.
    fn make_room(&self, bytes: u64) {
        let Ok(entries) = self.folder.read_dir() else { return };
        let mut headers = Vec::new();
        for entry in entries.flatten() {
            let (path, Ok(data)) = (entry.path(), entry.metadata()) else { continue };
            let Ok(modified) = data.modified() else { continue };
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("pch") => headers.push((modified, data.len(), path)),
                _ if modified.elapsed().is_ok_and(|age| age < KEPT) => {}
                Some("mark") => _ = std::fs::remove_file(path),
                _ if data.is_dir() => _ = std::fs::remove_dir_all(path),
                _ => {}
            }
        }
        headers.sort();
        let mut taken: u64 = bytes + headers.iter().map(|(_, size, _)| size).sum::<u64>();
        for (_, size, path) in headers {
            if taken <= BOUND {
                break;
            }
            _ = std::fs::remove_file(path.with_extension("inputs"));
            _ = std::fs::remove_file(path);
            taken -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(folder: &Path, name: &str) -> Entry {
        Entry { folder: folder.join("headers"), name: name.into() }
    }

    /// Writes `text` as a header made from `input`, instead of running clang.
    fn written<'a>(input: &'a Path, text: &'a str) -> impl FnOnce(&Path) -> Command + 'a {
        move |header| {
            let script = "printf %s \"$1\" > \"$2\"; printf 'it: %s\\n' \"$3\" > \"$8\"";
            Command::new("/bin/sh").args(["-c", script, "sh", text]).path(header).path(input)
        }
    }

    #[test]
    fn headers_are_made_for_the_second_and_remade_when_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.h");
        std::fs::write(&input, "1").unwrap();
        let entry = entry(folder.path(), "x");
        assert!(!entry.is_worth_making() && entry.is_worth_making());
        assert_eq!(entry.fresh(), None);
        let inputs = entry.make(written(&input, "header")).expect("made");
        assert_eq!(std::fs::read_to_string(entry.file()).unwrap(), "header");
        assert_eq!(entry.fresh(), Some(inputs));
        std::fs::write(&input, "22").unwrap();
        assert_eq!(entry.fresh(), None);
        entry.make(written(&input, "new")).expect("made again");
        assert!(entry.fresh().is_some());
        entry.discard();
        assert_eq!(std::fs::read_dir(&entry.folder).unwrap().count(), 0, "nothing stays");
    }

    #[test]
    fn what_cannot_be_made_is_not_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let entry = entry(folder.path(), "x");
        assert!(!entry.is_worth_making() && entry.is_worth_making());
        assert_eq!(entry.make(|_| Command::new("/bin/false")), None);
        assert!(!entry.is_worth_making());
    }

    #[test]
    fn the_bound_is_kept_by_removing_what_was_used_longest_ago() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.h");
        std::fs::write(&input, "1").unwrap();
        let entries = ["a", "b", "c"].map(|name| entry(folder.path(), name));
        for (age, entry) in entries.iter().enumerate() {
            entry.is_worth_making();
            entry.make(written(&input, "h")).expect("made");
            let file = std::fs::OpenOptions::new().write(true).open(entry.file()).unwrap();
            file.set_len(BOUND / 3 - 1).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(100 - age as u64)).unwrap();
        }
        assert!(entries[0].fresh().is_some(), "used now");
        let last = entry(folder.path(), "d");
        last.is_worth_making();
        last.make(written(&input, "some more")).expect("made");
        let there = entries.each_ref().map(|entry| entry.fresh().is_some());
        assert_eq!((there, last.fresh().is_some()), ([true, false, true], true));
    }
}
