//! `warpline compact`: stores a trace in another form, with an identical stream.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use warpline_toolchain::interrupt::{self, Removal};

use crate::cli::args::CompactArguments;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_analyzer::trace::{self, PackedWriter, Packing};

/// Number of bytes that are copied at a time.
const STEP: usize = 1 << 20;

/// The destination of the stream.
enum Target {
    Plain(File),
    Packed(PackedWriter),
}

impl Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Target::Plain(file) => file.write_all(bytes),
            Target::Packed(writer) => writer.write(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Target::Plain(mut file) => file.flush(),
            Target::Packed(writer) => writer.finish(),
        }
    }
}

/// A file that gets its final name when it is complete, so an existing file is kept if writing fails.
struct Unfinished {
    path: PathBuf,
    /// The folder is removed together with its contents.
    _folder: (TempDir, Removal),
}

impl Unfinished {
    /// Creates a temporary file; returns `None` for a device or a pipe, which must not be replaced by a file.
    fn create(to: &Path) -> io::Result<Option<Unfinished>> {
        let Some(name) = to.file_name() else { return Ok(None) };
        if std::fs::metadata(to).is_ok_and(|there| !there.is_file()) {
            return Ok(None);
        }
        let beside = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = tempfile::Builder::new().prefix(".warpline.").suffix(".tmp").tempdir_in(beside)?;
        let removal = interrupt::removes(folder.path());
        Ok(Some(Unfinished { path: folder.path().join(name), _folder: (folder, removal) }))
    }

    fn publish(&self, to: &Path) -> io::Result<()> {
        File::open(&self.path)?.sync_all()?;
        std::fs::rename(&self.path, to)
    }
}

pub(in crate::cli) fn execute(arguments: &CompactArguments) -> Result<u8, Failure> {
    let from = &arguments.trace;
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let rotate = arguments.rotate.as_deref().map(crate::cli::quantities::piece_size).transpose()?;
    let unreadable =
        |what: &dyn std::fmt::Display| Failure::new(exit_code::UNREADABLE, format!("{}: {what}", from.display()));
    let to = &arguments.output;
    output::refuse_same(from, to)?;
    let mut opened = trace::open(from).map_err(|error| unreadable(&error))?;
    output::refuse_same(&opened.path, to)?;
    if rotate.is_some() && trace::plain_name(&opened.path) == trace::plain_name(to) {
        return Err(usage(format!(
            "{}: pieces would be written over what is read; give --output another name",
            to.display()
        )));
    }
    if opened.being_written {
        output::say(format_args!("note: {}: a process is still writing this trace", from.display()));
    }
    let packed = rotate.is_some() || to.extension().is_some_and(|ending| ending == "zst");
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::new(exit_code::UNEXPECTED, format!("{}: cannot write: {error}", to.display()))
    };
    // Only a trace is copied; the target is not changed if the input is not a trace.
    let mut header = [0; warpline_format::chunk::HEADER_BYTES];
    opened
        .stream
        .read_exact(&mut header)
        .map_err(|error| unreadable(&format!("this is not a complete trace: {error}")))?;
    warpline_format::chunk::check_header(&header).map_err(|error| unreadable(&error))?;
    let unfinished = if rotate.is_none() { Unfinished::create(to).map_err(|error| cannot(&error))? } else { None };
    let place = unfinished.as_ref().map_or(to, |unfinished| &unfinished.path);
    let mut target = if packed {
        let packing = Packing { level: arguments.level, rotate };
        Target::Packed(PackedWriter::create(place, packing).map_err(|error| cannot(&error))?)
    } else {
        Target::Plain(File::create(place).map_err(|error| cannot(&error))?)
    };
    target.write(&header).map_err(|error| cannot(&error))?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&header);
    let mut bytes = header.len() as u64;
    let mut buffer = vec![0; STEP];
    let damage = loop {
        match opened.stream.read(&mut buffer) {
            Ok(0) => break None,
            Ok(count) => {
                sum.update(&buffer[..count]);
                bytes += count as u64;
                target.write(&buffer[..count]).map_err(|error| cannot(&error))?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Some(error),
        }
    };
    target.finish().map_err(|error| cannot(&error))?;
    let written = if rotate.is_some() { trace::first_of(to) } else { place.clone() };
    if contents(&written).map_err(|error| cannot(&error))? != (bytes, sum.finalize()) {
        return Err(cannot(&"the written trace differs from the one that was read"));
    }
    let (before, after) = (on_disk(&opened.path), on_disk(&written));
    if let Some(unfinished) = unfinished {
        unfinished.publish(to).map_err(|error| cannot(&error))?;
    }
    output::say(format_args!(
        "{bytes} bytes of trace: {before} bytes became {after}; wrote {}{}",
        to.display(),
        if rotate.is_some() { " in pieces" } else { "" }
    ));
    match damage {
        None => Ok(exit_code::OK),
        Some(error) => {
            output::say(format_args!("note: {}: damaged: {error}; what came before is kept", from.display()));
            Ok(exit_code::PARTIAL)
        }
    }
}

/// Returns the length and the checksum of a trace's stream.
fn contents(path: &Path) -> io::Result<(u64, u32)> {
    let mut stream = trace::open(path)?.stream;
    let (mut bytes, mut sum) = (0, crc32fast::Hasher::new());
    let mut buffer = vec![0; STEP];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok((bytes, sum.finalize())),
            Ok(count) => {
                sum.update(&buffer[..count]);
                bytes += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the bytes of a file, or of all pieces of a trace.
fn on_disk(path: &Path) -> u64 {
    trace::files(path).iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum()
}
