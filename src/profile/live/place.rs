//! The private folder of the user for snapshots.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::snapshot::{SCHEMA, Snapshot, is_running};

/// Maximum size of a snapshot that is read.
const MOST_BYTES: u64 = 4 << 20;

/// Reasons why there is no snapshot to show.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// No folder is accessible to the user only.
    #[error(
        "no private folder for snapshots of running programs: {0}; set XDG_RUNTIME_DIR to a folder that only you can access"
    )]
    Folder(String),
    /// No run is in progress.
    #[error("no program runs under `warpline run`")]
    Nothing,
    /// The requested run is not in progress.
    #[error("process {0} is neither a `warpline run` nor a program under one{1}")]
    Unknown(u32, String),
    /// Several runs are in progress.
    #[error("several programs run under `warpline run`; name one by its process: {0}")]
    Several(String),
    /// A snapshot cannot be read.
    #[error("{0}: {1}")]
    Unreadable(PathBuf, String),
}

/// Returns the path of the user's folder: below `XDG_RUNTIME_DIR`, or below the folder for temporary files.
fn named() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    // SAFETY: the call has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() };
    match runtime {
        Some(runtime) if runtime.is_dir() => runtime.join("warpline"),
        _ => std::env::temp_dir().join(format!("warpline-{user}")),
    }
}

/// Returns the folder, which is created if it does not exist.
///
/// # Errors
/// Returns an error if the folder belongs to another user or if others may write to it.
pub(super) fn made() -> Result<PathBuf, LiveError> {
    let folder = named();
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(LiveError::Folder(format!("{}: {error}", folder.display())))
        }
        _ => checked(folder),
    }
}

fn checked(folder: PathBuf) -> Result<PathBuf, LiveError> {
    // SAFETY: the call has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() };
    let failed = |what: &dyn std::fmt::Display| LiveError::Folder(format!("{}: {what}", folder.display()));
    // The name of the folder is predictable. If another user created it, or if it is a link, it is not used.
    let there = fs::symlink_metadata(&folder).map_err(|error| failed(&error))?;
    if !there.is_dir() || there.uid() != user || there.mode() & 0o077 != 0 {
        return Err(failed(&"it is not a folder of this user alone (mode 700)"));
    }
    Ok(folder)
}

/// Returns the file of the snapshot of an analysing process.
pub(super) fn file(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("{pid}.json"))
}

/// Reads a snapshot. Only a regular file of this user is read; links are not followed.
///
/// # Errors
/// Returns an error if the snapshot cannot be read.
pub fn read(path: &Path) -> Result<Snapshot, LiveError> {
    let failed = |what: &dyn std::fmt::Display| LiveError::Unreadable(path.to_owned(), what.to_string());
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(|error| failed(&error))?;
    let there = file.metadata().map_err(|error| failed(&error))?;
    // SAFETY: the call has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() };
    if !there.is_file() || there.uid() != user {
        return Err(failed(&"this is not a snapshot of this user"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| failed(&error))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(failed(&"this is no snapshot: too long"));
    }
    let snapshot: Snapshot =
        serde_json::from_str(&text).map_err(|error| failed(&format!("this is no snapshot: {error}")))?;
    if snapshot.schema != SCHEMA || snapshot.version != 1 {
        return Err(failed(&"a snapshot of another release"));
    }
    Ok(snapshot)
}

/// Returns the snapshots of running analyses with their files.
fn running(folder: &Path) -> Vec<(PathBuf, Snapshot)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(PathBuf, Snapshot)> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let pid: u32 = path.file_name()?.to_str()?.strip_suffix(".json")?.parse().ok()?;
            if !is_running(pid) {
                // The analysis was killed.
                _ = fs::remove_file(&path);
                return None;
            }
            read(&path).ok().filter(|snapshot| snapshot.pid == pid).map(|snapshot| (path, snapshot))
        })
        .collect();
    found.sort_by_key(|(_, snapshot)| snapshot.pid);
    found
}

/// Returns the snapshot of a process, which may be the analysis or its program. Without a process number, returns the
/// snapshot of the only running analysis.
///
/// # Errors
/// Returns an error if there is none, or if there are several.
pub fn find(pid: Option<u32>) -> Result<PathBuf, LiveError> {
    let folder = named();
    let mut all = if fs::symlink_metadata(&folder).is_ok() { running(&checked(folder)?) } else { Vec::new() };
    let listed = |all: &[(PathBuf, Snapshot)]| {
        let each =
            all.iter().map(|(_, one)| format!("{} ({})", one.pid, one.program.first().map_or("?", String::as_str)));
        each.collect::<Vec<_>>().join(", ")
    };
    match pid {
        Some(pid) => {
            let found = all.iter().find(|(_, one)| one.pid == pid || one.program_pid == pid);
            found.map(|(path, _)| path.clone()).ok_or_else(|| {
                let others = if all.is_empty() { String::new() } else { format!("; these run: {}", listed(&all)) };
                LiveError::Unknown(pid, others)
            })
        }
        None if all.len() > 1 => Err(LiveError::Several(listed(&all))),
        None => all.pop().map(|(path, _)| path).ok_or(LiveError::Nothing),
    }
}
