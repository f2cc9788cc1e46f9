//! The folder into which a release archive or the Python package is unpacked: `bin/` with the programs and, relative to
//! them, `lib/warpline/` with clang, LLVM and a list of checksums.

use crate::programs::is_executable;
use sha2::{Digest as _, Sha256};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Folder of clang and its libraries, relative to the root.
const PARTS: &str = "lib/warpline";

/// List of checksums in the form of `sha256sum`, relative to the root.
pub const MANIFEST: &str = "lib/warpline/manifest.sha256";

/// Returns the root of the installation to which the running program belongs, or `None` for a program that was built
/// from source.
pub fn root() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let root = program.parent()?.parent()?;
    root.join(MANIFEST).is_file().then(|| root.to_owned())
}

/// Returns a program of the installation.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = root()?.join(PARTS).join("bin").join(name);
    is_executable(&path).then_some(path)
}

/// Returns the copy of pip, for systems with Python but without pip.
pub fn pip() -> Option<PathBuf> {
    let path = root()?.join(PARTS).join("pip.whl");
    path.is_file().then_some(path)
}

/// The result of comparing an installation with its list of checksums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The number of files in the list.
    pub files: usize,
    /// The files that are absent, unreadable or different, with their names in the list.
    pub damaged: Vec<String>,
}

/// Compares every file of the list with its checksum.
pub fn verify(root: &Path) -> io::Result<Verification> {
    let list = std::fs::read_to_string(root.join(MANIFEST))?;
    let mut result = Verification::default();
    for (expected, name) in list.lines().filter_map(|line| line.split_once("  ")) {
        result.files += 1;
        if checksum(&root.join(name)).ok().as_deref() != Some(expected) {
            result.damaged.push(name.to_owned());
        }
    }
    Ok(result)
}

fn checksum(path: &Path) -> io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_and_absent_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let parts = folder.path().join(PARTS);
        std::fs::create_dir_all(&parts).unwrap();
        std::fs::write(parts.join("a"), "abc").unwrap();
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        std::fs::write(parts.join("manifest.sha256"), format!("{known}  {PARTS}/a\n{known}  {PARTS}/b\n")).unwrap();
        let result = verify(folder.path()).unwrap();
        assert_eq!(result, Verification { files: 2, damaged: vec![format!("{PARTS}/b")] });
        std::fs::write(parts.join("a"), "abd").unwrap();
        assert_eq!(verify(folder.path()).unwrap().damaged.len(), 2);
        assert!(verify(Path::new("/absent")).is_err());
    }

    #[test]
    fn a_program_that_was_built_here_has_none() {
        assert_eq!(root(), None);
    }
}
