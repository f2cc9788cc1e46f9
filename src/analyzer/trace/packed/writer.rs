//! Compresses a stream in a separate thread, so that the program and the analysis do not wait for it as long as it
//! keeps up.

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

use super::head::PieceHead;
use super::names;

/// Default compression level, which takes little time.
pub const DEFAULT_LEVEL: i32 = 3;
/// Bytes of the stream per frame. At most one frame is lost if the writer is killed; larger frames would hardly
/// compress better.
const FRAME_BYTES: usize = 4 << 20;
/// Maximum number of frames that wait for the thread.
const WAITING: usize = 2;

/// How a trace is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Compression level of zstd, 1 to 19.
    pub level: i32,
    /// Maximum bytes of a piece; `None` for a single file.
    pub rotate: Option<u64>,
}

/// The writer.
#[derive(Debug)]
pub struct PackedWriter {
    buffer: Vec<u8>,
    frame_bytes: usize,
    sender: Option<SyncSender<Vec<u8>>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl PackedWriter {
    /// Opens the file or the first piece. Its old content is kept until the first frame is written.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, or if another process writes it.
    pub fn create(path: &Path, packing: Packing) -> io::Result<PackedWriter> {
        PackedWriter::with_frames(path, packing, FRAME_BYTES)
    }

    /// Like [`Self::create`], with this many bytes of the stream in a frame.
    pub(super) fn with_frames(path: &Path, packing: Packing, frame_bytes: usize) -> io::Result<PackedWriter> {
        let mut files = Files::open(path, packing)?;
        let mut compressor = Compressor::new(packing.level)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        let (sender, receiver) = sync_channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("warpline-trace".to_owned())
            .spawn(move || compress(&receiver, &mut compressor, &mut files))?;
        Ok(PackedWriter { buffer: Vec::new(), frame_bytes, sender: Some(sender), thread: Some(thread) })
    }

    /// Adds bytes of the stream.
    ///
    /// # Errors
    /// Returns the error of the compressing thread.
    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(self.frame_bytes - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == self.frame_bytes {
                self.hand_on()?;
            }
        }
        Ok(())
    }

    /// Writes the remaining bytes.
    ///
    /// # Errors
    /// Returns the error of the compressing thread.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.hand_on()?;
        }
        self.join()
    }

    fn hand_on(&mut self) -> io::Result<()> {
        let frame = std::mem::replace(&mut self.buffer, Vec::with_capacity(self.frame_bytes));
        match self.sender.as_ref().map(|sender| sender.send(frame)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended; its result is the reason.
            _ => self.join().and_then(|()| Err(io::Error::other("the compressing thread has ended"))),
        }
    }

    fn join(&mut self) -> io::Result<()> {
        self.sender = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the compressing thread failed")),
            None => Ok(()),
        }
    }
}

impl Drop for PackedWriter {
    fn drop(&mut self) {
        // The result was available from `finish` before.
        _ = self.join();
    }
}

fn compress(frames: &Receiver<Vec<u8>>, compressor: &mut Compressor<'_>, files: &mut Files) -> io::Result<()> {
    for frame in frames {
        let packed = compressor.compress(&frame)?;
        files.add(&packed, frame.len() as u64)?;
    }
    Ok(())
}

/// The output files.
#[derive(Debug)]
struct Files {
    /// Name without extensions, and maximum bytes of a piece.
    pieces: Option<(PathBuf, u64)>,
    file: File,
    /// Nothing has been written to the file yet.
    fresh: bool,
    written: u64,
    head: PieceHead,
}

impl Files {
    fn open(path: &Path, packing: Packing) -> io::Result<Files> {
        let pieces = packing.rotate.map(|most| (names::plain_name(path), most));
        let first = pieces.as_ref().map(|(base, _)| names::piece(base, 1));
        let file = create(first.as_deref().unwrap_or(path), 0)?;
        let run = RandomState::new().hash_one((std::process::id(), path));
        Ok(Files { pieces, file, fresh: true, written: 0, head: PieceHead { run, number: 1, offset: 0 } })
    }

    /// Writes a frame that contains `bytes` bytes of the stream.
    fn add(&mut self, frame: &[u8], bytes: u64) -> io::Result<()> {
        let next = match &self.pieces {
            Some((base, most)) if !self.fresh && self.written + frame.len() as u64 > *most => {
                let number = self.head.number.checked_add(1).ok_or_else(|| io::Error::other("too many pieces"))?;
                Some((names::piece(base, number), number))
            }
            _ => None,
        };
        if let Some((path, number)) = next {
            // The name is predictable, so a link at this path is not followed.
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            self.file = create(&path, libc::O_NOFOLLOW).map_err(named)?;
            (self.fresh, self.head.number) = (true, number);
        }
        if self.fresh {
            // A pipe or a device has no settable length.
            if self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
            self.written = 0;
            self.fresh = false;
            if self.pieces.is_some() {
                self.put(&self.head.to_bytes())?;
            }
        }
        self.put(frame)?;
        self.head.offset += bytes;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

fn create(path: &Path, flags: i32) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).custom_flags(flags).open(path)?;
    // The lock prevents other processes from writing the same file. On file systems without locks, other writers are
    // not detected.
    match file.try_lock() {
        Err(TryLockError::WouldBlock) if file.metadata()?.is_file() => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another process is writing or reading it; name another file",
        )),
        _ => Ok(file),
    }
}
