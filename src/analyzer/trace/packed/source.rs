//! Opens traces of any storage form.

use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::head::is_packed;
use super::names::first_piece;
use super::pieces::Pieces;

/// An open trace.
pub struct Opened {
    /// Its stream.
    pub stream: Box<dyn Read + Send>,
    /// The file that was opened.
    pub path: PathBuf,
    /// Whether a process is still writing it.
    pub being_written: bool,
}

/// Opens a trace by its name. It may be a plain or a compressed file, distinguished by the first bytes, or the pieces
/// `NAME.0001.zst` and so on.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn open(path: &Path) -> io::Result<Opened> {
    let path = first_piece(path).unwrap_or_else(|| path.to_owned());
    let mut file = File::open(&path)?;
    // The lock is held while the trace is read, so that no process overwrites it.
    let being_written = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    let mut first = [0; 4];
    let mut got = 0;
    while got < first.len() {
        match file.read(&mut first[got..])? {
            0 => break,
            more => got += more,
        }
    }
    file.seek(SeekFrom::Start(0))?;
    let stream: Box<dyn Read + Send> = if is_packed(&first[..got]) {
        Box::new(Pieces::new(&path, file)?)
    } else {
        Box::new(BufReader::with_capacity(1 << 20, file))
    };
    Ok(Opened { stream, path, being_written })
}
