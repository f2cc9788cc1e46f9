//! Opens files that a trace or a debug section names. The author of these may have named anything, such as a pipe
//! without a writer or an endless device.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens a regular file of at most `most` bytes for reading; never blocks.
///
/// # Errors
/// Returns the system's error, or an error if it is not such a file.
pub fn open(path: &Path, most: u64) -> io::Result<File> {
    let refuse = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    // Opening a device can already have an effect, so the kind of the file is checked before and after opening.
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

/// Returns the content of a file that [`open`] accepts. A file of size 0 is treated as empty: system files have this
/// size, and some of them are endless.
///
/// # Errors
/// Returns the errors of [`open`] and of reading.
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
        // SAFETY: the path is a zero-terminated string.
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
