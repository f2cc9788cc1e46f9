//! Names of pieces: `app.wltrace.0001.zst`, `app.wltrace.0002.zst`, …

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The extension of compressed traces.
const ENDING: &str = ".zst";

/// Returns the name of a piece of the trace `base`, which has no extensions.
pub(super) fn piece(base: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(base);
    name.push(format!(".{number:04}{ENDING}"));
    name.into()
}

/// Returns a name without the extensions of compressed traces and pieces, and the number if it is the name of a piece.
pub(super) fn without_endings(path: &Path) -> (PathBuf, Option<u32>) {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return (path.to_owned(), None) };
    let Some(stem) = name.strip_suffix(ENDING) else { return (path.to_owned(), None) };
    let numbered = stem
        .rsplit_once('.')
        .filter(|(_, digits)| (4..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()));
    match numbered.and_then(|(base, digits)| Some((base, digits.parse().ok()?))) {
        Some((base, number)) => (path.with_file_name(base), Some(number)),
        None => (path.with_file_name(stem), None),
    }
}

/// Returns the first piece of a trace that exists only in pieces. `path` is the name of the trace or of its first
/// piece.
pub(super) fn first_piece(path: &Path) -> Option<PathBuf> {
    if path.exists() {
        return None;
    }
    let (base, _) = without_endings(path);
    Some(piece(&base, 1)).filter(|first| first.is_file())
}

/// Returns the files of a trace: a single file, or its pieces.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let first = first_piece(path).unwrap_or_else(|| path.to_owned());
    match without_endings(&first) {
        (base, Some(1)) => (1..).map(|number| piece(&base, number)).take_while(|path| path.is_file()).collect(),
        _ => vec![first],
    }
}

/// Returns a trace's name without the extensions of compressed files and pieces.
pub fn plain_name(path: &Path) -> PathBuf {
    without_endings(path).0
}

/// Returns the first file of a trace that is stored in pieces under this name.
pub fn first_of(path: &Path) -> PathBuf {
    piece(&plain_name(path), 1)
}

/// Returns whether a piece with a higher number exists.
pub(super) fn has_later(base: &Path, number: u32) -> bool {
    let folder = match base.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let (other, its) = without_endings(Path::new(&entry.file_name()));
        other.file_name() == base.file_name() && its.is_some_and(|its| its > number)
    })
}
