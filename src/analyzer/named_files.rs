//! Files that a trace or a debug section names. Whoever made those may have named anything: a pipe without a writer, a
//! device without end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens a file for reading if it is a regular one of at most `most` bytes; never waits.
///
/// # Errors
/// The system's, or that it is not such a file.
pub fn open(path: &Path, most: u64) -> io::Result<File> {
    let refuse = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    // A device may act on being opened alone, so its kind is checked before, and again after opening.
    if !std::fs::metadata(path)?.is_file() {
        return Err(refuse("not a regular file"));
    }
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let there = file.metadata()?;
    if !there.is_file() {
        return Err(refuse("not a regular file"));
    }
    if there.len() > most {
        return Err(refuse(&format!("larger than {} MiB", most >> 20)));
    }
    Ok(file)
}

/// Content of a file as [`open`] takes them. What claims to be empty stays so: the system's own files do, and some
/// never end.
///
/// # Errors
/// Those of [`open`], and of reading.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path, most)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn only_regular_files_of_a_size_are_read_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let name = CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: a terminated path of our own.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let file = folder.path().join("file");
        std::fs::write(&file, vec![b'x'; 3 << 20]).unwrap();
        for refused in [&pipe, Path::new("/dev/zero"), folder.path(), Path::new("/no/such/file")] {
            assert!(read(refused, 1 << 30).is_err(), "{}", refused.display());
        }
        assert_eq!(read(&file, 3 << 20).unwrap().len(), 3 << 20);
        assert!(read(&file, 2 << 20).unwrap_err().to_string().contains("larger than 2 MiB"));
        assert_eq!(read(Path::new("/proc/self/environ"), 1 << 20).unwrap(), b"");
    }
}
