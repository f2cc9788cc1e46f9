//! Handles a trace that is read from a pipe. The trace is read several times (to choose a model, and by each model), so
//! it is first copied to a temporary file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use warpline_format::chunk::{CHUNK_HEAD_BYTES, ChunkHead, HEADER_BYTES, check_header};
use warpline_toolchain::interrupt::{self, Removal};

use crate::cli::Failure;
use crate::exit_code;
use warpline_analyzer::trace::is_packed;

/// A temporary file, which is also removed if the user interrupts.
pub(in crate::cli) struct Copied {
    file: NamedTempFile,
    _removal: Removal,
}

/// A trace that can be read more than once.
pub(in crate::cli) enum RereadableTrace {
    /// A file, with the path that the user gave.
    File(PathBuf),
    /// A copy of the data from a pipe.
    Copy(Copied),
}

impl RereadableTrace {
    /// Opens a trace; input that is not a file is copied. `-` is standard input.
    ///
    /// # Errors
    /// Returns an error if it is not a trace, or if there is not enough space.
    pub(in crate::cli) fn open(named: &Path) -> Result<RereadableTrace, Failure> {
        let source = if named.as_os_str() == "-" { Path::new("/dev/stdin") } else { named };
        // Folders and missing files are reported later by the code that reads them.
        if std::fs::metadata(source).map_or(true, |there| there.is_file() || there.is_dir()) {
            return Ok(RereadableTrace::File(source.to_owned()));
        }
        let unreadable =
            |what: &dyn std::fmt::Display| Failure::new(exit_code::UNREADABLE, format!("{}: {what}", named.display()));
        let mut pipe = File::open(source).map_err(|error| unreadable(&error))?;
        let mut header = [0; HEADER_BYTES];
        let mut got = 0;
        while got < HEADER_BYTES {
            match pipe.read(&mut header[got..]).map_err(|error| unreadable(&error))? {
                0 => return Err(unreadable(&format!("the trace is empty or shorter than its header ({got} bytes)"))),
                more => got += more,
            }
        }
        // An endless device is not a trace.
        let packed = is_packed(&header);
        if !packed {
            check_header(&header).map_err(|error| unreadable(&error))?;
        }
        let folder = std::env::temp_dir();
        let copied = tempfile::Builder::new().prefix("warpline.").suffix(".wltrace").tempfile_in(&folder).and_then(
            |mut copy| {
                let removal = interrupt::removes(copy.path());
                copy.write_all(&header)?;
                match packed {
                    true => io::copy(&mut pipe, &mut copy).map(drop)?,
                    false => copy_chunks(&mut pipe, &mut copy)?,
                }
                Ok(RereadableTrace::Copy(Copied { file: copy, _removal: removal }))
            },
        );
        copied.map_err(|error| {
            let message = format!(
                "{}: cannot be copied to {}: {error}; TMPDIR names another folder",
                named.display(),
                folder.display()
            );
            Failure::new(exit_code::UNEXPECTED, message)
        })
    }

    /// Returns the path of the trace.
    pub(in crate::cli) fn path(&self) -> &Path {
        match self {
            RereadableTrace::File(path) => path,
            RereadableTrace::Copy(copy) => copy.file.path(),
        }
    }
}

/// Copies chunks up to the first invalid one, which the reader of the copy reports. The data after it may be endless.
fn copy_chunks(pipe: &mut impl Read, copy: &mut impl Write) -> io::Result<()> {
    for number in 0.. {
        let mut head = Vec::with_capacity(CHUNK_HEAD_BYTES);
        pipe.by_ref().take(CHUNK_HEAD_BYTES as u64).read_to_end(&mut head)?;
        copy.write_all(&head)?;
        let Some(Ok(head)) = head.first_chunk().map(|head| ChunkHead::from_bytes(head, number)) else { break };
        let length = u64::from(head.length);
        if io::copy(&mut pipe.by_ref().take(length), copy)? < length {
            break;
        }
    }
    Ok(())
}
