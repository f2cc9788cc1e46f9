//! Compresses a stream in a thread of its own, so that neither the program nor the analysis waits for it as long as it
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

/// Compression that costs little time.
pub const DEFAULT_LEVEL: i32 = 3;
/// Bytes of the stream in a frame: what is lost at most where the writer is killed; enough that compression does not
/// suffer.
const FRAME_BYTES: usize = 4 << 20;
/// Frames that may wait for the thread.
const WAITING: usize = 2;

/// How a trace is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Of zstd, 1 to 19.
    pub level: i32,
    /// Most bytes of a piece; without it there is one file.
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
    /// Opens the file, or the first piece. What it holds stays until there is something to replace it.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, or somebody else has it.
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
    /// What the thread met.
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

    /// Writes what is left.
    ///
    /// # Errors
    /// What the thread met.
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
            // It has ended, with the reason.
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
        // The result was available by `finish` before.
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

/// Where frames go.
#[derive(Debug)]
struct Files {
    /// Name without endings, and most bytes of a piece.
    pieces: Option<(PathBuf, u64)>,
    file: File,
    /// Nothing was written to the file yet.
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

    /// Adds a frame of so many bytes of the stream.
    fn add(&mut self, frame: &[u8], bytes: u64) -> io::Result<()> {
        let next = match &self.pieces {
            Some((base, most)) if !self.fresh && self.written + frame.len() as u64 > *most => {
                let number = self.head.number.checked_add(1).ok_or_else(|| io::Error::other("too many pieces"))?;
                Some((names::piece(base, number), number))
            }
            _ => None,
        };
        if let Some((path, number)) = next {
            // Its name can be foretold: a link in its place is not followed.
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            self.file = create(&path, libc::O_NOFOLLOW).map_err(named)?;
            (self.fresh, self.head.number) = (true, number);
        }
        if self.fresh {
            // A pipe or a device has no length to set.
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
    // Keeps others from writing the same file. Where a file system has no locks, nothing is known of others.
    match file.try_lock() {
        Err(TryLockError::WouldBlock) if file.metadata()?.is_file() => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another process is writing or reading it; name another file",
        )),
        _ => Ok(file),
    }
}
