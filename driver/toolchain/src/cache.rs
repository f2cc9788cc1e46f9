//! The user's cache: the unpacked CUDA wheels, and the files embedded in `warpline-cc`.

use crate::{ToolchainError, interrupt};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// `$XDG_CACHE_HOME/warpline`, or `~/.cache/warpline`. It need not exist.
pub fn folder() -> Result<PathBuf, ToolchainError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    base.or_else(|| Some(set("HOME")?.join(".cache"))).map(|base| base.join("warpline")).ok_or(ToolchainError::NoCache)
}

/// Stores bytes in a cache file named after their content, as `stem-<hash>.extension`, and returns its path. An
/// existing file is used if its length is correct, because the name contains the content's hash, and files only appear
/// when they are complete.
pub fn keep(stem: &str, extension: &str, bytes: &[u8]) -> Result<PathBuf, ToolchainError> {
    let folder = folder()?;
    keep_in(&folder, &format!("{stem}-{:016x}.{extension}", content_hash(bytes)), bytes)
}

/// The variant of [`keep`] with a given folder and file name.
pub fn keep_in(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, ToolchainError> {
    let path = folder.join(name);
    if path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == bytes.len() as u64) {
        return Ok(path);
    }
    let failed = |cause| ToolchainError::Cache { path: path.clone(), cause };
    std::fs::create_dir_all(folder).map_err(failed)?;
    // The file is written under another name and renamed, so that compilers that run at the same time see either the
    // complete file or no file.
    let permissions = std::fs::Permissions::from_mode(0o666);
    let partial = tempfile::Builder::new().prefix(&format!(".{name}.")).permissions(permissions).tempfile_in(folder);
    let mut partial = partial.map_err(failed)?;
    let _removal = interrupt::removes(partial.path());
    partial.write_all(bytes).map_err(failed)?;
    partial.persist(&path).map_err(|error| failed(error.error))?;
    Ok(path)
}

/// Returns the 64-bit FNV-1a hash. It is used for names of content, not for security.
pub fn content_hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_once_and_repaired_when_cut() {
        let folder = std::env::temp_dir().join(format!("warpline-cache-test-{}", std::process::id()));
        let path = keep_in(&folder, "a.txt", b"hello").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
        std::fs::write(&path, b"he").unwrap();
        keep_in(&folder, "a.txt", b"hello").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no partial file stays");
        // A link whose name was predicted has no effect.
        std::os::unix::fs::symlink(&path, folder.join(format!(".b.txt.{}", std::process::id()))).unwrap();
        keep_in(&folder, "b.txt", b"other").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn hash_is_fnv() {
        assert_eq!(content_hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(content_hash(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
