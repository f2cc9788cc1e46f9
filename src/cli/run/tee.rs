//! Writes a copy of the trace during the analysis.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use warpline_analyzer::trace::{PackedWriter, Packing};

/// The destination of the copy.
enum Copy {
    Plain(File),
    Packed(PackedWriter),
}

/// The copy.
pub(super) struct Tee {
    file: Option<(PathBuf, Copy)>,
    /// Whether anything was written.
    begun: bool,
    problem: Option<String>,
}

impl Tee {
    /// Opens the file, if a copy is requested. Its old content is kept until new content is written.
    pub(super) fn create(path: Option<&Path>, packing: Option<Packing>) -> Result<Tee, (PathBuf, io::Error)> {
        let file = match path {
            Some(path) => {
                let copy = match packing {
                    Some(packing) => PackedWriter::create(path, packing).map(Copy::Packed),
                    None => {
                        let file = File::options().write(true).create(true).truncate(false).open(path);
                        file.and_then(locked).map(Copy::Plain)
                    }
                };
                Some((path.to_owned(), copy.map_err(|error| (path.to_owned(), error))?))
            }
            None => None,
        };
        Ok(Tee { file, begun: false, problem: None })
    }

    /// Reads from `source` and copies what was read.
    pub(super) fn read<'a, R: Read + 'a>(&'a mut self, source: R) -> impl Read + 'a {
        Copying { tee: self, source }
    }

    /// Returns the error that occurred while copying, if any.
    pub(super) fn finish(mut self) -> Option<String> {
        if let Some((path, Copy::Packed(writer))) = self.file.take()
            && let Err(error) = writer.finish()
        {
            self.problem = Some(cut_short(&path, &error));
        }
        self.problem
    }
}

/// Locks a file against other writers. On file systems without locks, other writers are not detected.
fn locked(file: File) -> io::Result<File> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) if file.metadata()?.is_file() => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another process is writing or reading it; name another file",
        )),
        _ => Ok(file),
    }
}

fn cut_short(path: &Path, error: &io::Error) -> String {
    format!("{}: the trace is cut short: {error}", path.display())
}

struct Copying<'a, R> {
    tee: &'a mut Tee,
    source: R,
}

impl<R: Read> Read for Copying<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        let begins = count > 0 && !self.tee.begun;
        self.tee.begun |= begins;
        // A pipe or a device has no settable length.
        let emptied = |file: &File| if begins && file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) };
        if let Some((path, copy)) = &mut self.tee.file {
            let written = match copy {
                Copy::Plain(file) => emptied(file).and_then(|()| file.write_all(&buffer[..count])),
                Copy::Packed(writer) => writer.write(&buffer[..count]),
            };
            if let Err(error) = written {
                // The analysis continues; the written part of the copy stays readable.
                self.tee.problem = Some(cut_short(path, &error));
                self.tee.file = None;
            }
        }
        Ok(count)
    }
}
