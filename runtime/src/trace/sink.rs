//! The destination of the trace's bytes: a file, or the ring of `warpline run`.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::os::fd::FromRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use warpline_format::options::{Output, further_trace};
use warpline_format::ring::{DATA_OFFSET, MAGIC, Ring};

/// The reason why the trace cannot be written (any more).
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The file cannot be created.
    #[error("cannot create the trace {path}: {source}; choose another folder or another file")]
    Create {
        /// The path of the trace.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Another process uses the file.
    #[error(
        "another process is writing or reading the trace {path}; this one runs without a trace: give each process a file of its own"
    )]
    Locked {
        /// The path of the trace.
        path: String,
    },
    /// The file cannot be extended.
    #[error(
        "cannot write the trace {path}: {source}; the program continues without a trace, what is written stays readable"
    )]
    Write {
        /// The path of the trace.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The descriptor is not a ring.
    #[error("the ring of `warpline run` cannot be used ({0}); this process runs without a trace")]
    Ring(String),
    /// Another process of the run writes the ring.
    #[error("another process of this run (number {0}) is being profiled; this one runs without a trace")]
    Taken(u32),
    /// The options name no destination. No writer is created for them.
    #[error("no destination for the trace is given; this process runs without a trace")]
    Nowhere,
    /// The reader has ended.
    #[error("`warpline run` has stopped reading; the program continues without a trace")]
    Abandoned,
}

/// An open destination.
#[derive(Debug)]
pub enum Sink {
    /// A file.
    File {
        /// The open file.
        file: File,
        /// The name of the file, for messages.
        path: String,
    },
    /// The shared-memory ring.
    Ring(RingSink),
}

/// The producer's end of a ring.
pub struct RingSink {
    ring: Ring,
    parent: u32,
}

impl std::fmt::Debug for RingSink {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RingSink").field("capacity", &self.ring.capacity()).finish()
    }
}

/// If a full ring does not change for this time, the producer checks whether the reader still exists.
const STALL: Duration = Duration::from_secs(5);

impl Sink {
    /// Opens the destination that the options name; `program` is the executable's path.
    pub fn open(output: &Output, program: &str) -> Result<Sink, SinkError> {
        match output {
            Output::Ring { descriptor, further } => match (RingSink::open(*descriptor)?, further) {
                (Ok(sink), _) => Ok(Sink::Ring(sink)),
                (Err(claimed), Some(folder)) => claimed.trace_in(folder),
                (Err(claimed), None) => Err(claimed.refuse()),
            },
            Output::File(path) => Sink::create(path.clone(), 0),
            Output::Folder(folder) => {
                let name = program.rsplit('/').next().unwrap_or("program");
                // Other users can predict this name. A link with this name would lead to a file that would be
                // overwritten.
                Sink::create(format!("{folder}/warpline.{name}.{}.wltrace", std::process::id()), libc::O_NOFOLLOW)
            }
            Output::Nowhere => Err(SinkError::Nowhere),
        }
    }

    fn create(path: String, flags: i32) -> Result<Sink, SinkError> {
        let failed = |source| SinkError::Create { path: path.clone(), source };
        // The content is truncated only if no other process uses the file.
        let file =
            File::options().write(true).create(true).truncate(false).custom_flags(flags).open(&path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_file() {
            // The lock ends with the process. If a file system does not support locks, other processes cannot be
            // detected.
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                return Err(SinkError::Locked { path });
            }
            file.set_len(0).map_err(failed)?;
        }
        Ok(Sink::File { file, path })
    }

    /// Writes all bytes, and waits while the ring is full.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        match self {
            Sink::File { file, path } => {
                let written = without_size_signal(|| file.write_all(bytes));
                written.map_err(|source| SinkError::Write { path: path.clone(), source })
            }
            Sink::Ring(ring) => ring.write(bytes),
        }
    }

    /// Reports to the reader that the trace does not contain the work of a forked process whose parent writes.
    pub fn count_refused(&self) {
        if let Sink::Ring(sink) = self {
            sink.ring.control().refused.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Reports that the process does not run and has already printed the reason, so that the reader does not wait for a
    /// stream.
    pub fn decline(output: &Output) {
        if let Output::Ring { descriptor, .. } = output
            && let Ok(ring) = map(*descriptor)
        {
            ring.control().declined.store(1, Ordering::Release);
        }
    }

    /// Marks the stream as finished.
    pub fn close(&mut self) {
        if let Sink::Ring(sink) = self {
            sink.ring.control().closed.store(1, Ordering::Release);
        }
    }
}

/// Writes without the signal for a write beyond the file size limit, because the signal would end the program, and the
/// error reports the same.
fn without_size_signal<T>(write: impl FnOnce() -> T) -> T {
    // SAFETY: a set of signals may consist of zeroes; it is emptied before it is used.
    let (mut signal, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // SAFETY: the sets belong to this function, and the mask to this thread.
    let is_free = unsafe {
        libc::sigemptyset(&raw mut signal);
        libc::sigaddset(&raw mut signal, libc::SIGXFSZ);
        let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signal, &raw mut before) == 0;
        blocked && libc::sigismember(&raw const before, libc::SIGXFSZ) == 0
    };
    let outcome = write();
    if is_free {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the sets belong to this function. The signal of a write goes to the thread that writes, so only this
        // thread's signal is removed here.
        unsafe {
            libc::sigtimedwait(&raw const signal, std::ptr::null_mut(), &raw const at_once);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        }
    }
    outcome
}

/// Maps the ring of an inherited descriptor permanently.
fn map(descriptor: i32) -> Result<Ring, SinkError> {
    // SAFETY: the descriptor is only borrowed: below, the `File` is released without closing it.
    let file = unsafe { File::from_raw_fd(descriptor) };
    let length = file.metadata().map(|data| data.len());
    std::mem::forget(file);
    let length = length.map_err(|error| SinkError::Ring(error.to_string()))? as usize;
    if length <= DATA_OFFSET {
        return Err(SinkError::Ring(format!("descriptor {descriptor} holds {length} bytes")));
    }
    // SAFETY: the call creates a new shared mapping of the complete file, which is never unmapped.
    let memory = unsafe {
        libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, descriptor, 0)
    };
    if memory == libc::MAP_FAILED {
        return Err(SinkError::Ring(std::io::Error::last_os_error().to_string()));
    }
    // SAFETY: the memory is mapped, page aligned, longer than the control page, and never unmapped.
    let ring = unsafe { Ring::new(memory.cast(), length) };
    if ring.control().magic.load(Ordering::Acquire) != MAGIC {
        return Err(SinkError::Ring(format!("descriptor {descriptor} is no ring")));
    }
    Ok(ring)
}

/// A ring that another process already writes.
struct Claimed {
    ring: Ring,
    owner: u32,
}

impl Claimed {
    /// Reports to the reader that this process has no trace, so its work is missing.
    fn refuse(self) -> SinkError {
        self.ring.control().refused.fetch_add(1, Ordering::AcqRel);
        SinkError::Taken(self.owner)
    }

    /// Returns a separate trace for this process, in a folder of `warpline run`.
    fn trace_in(self, folder: &str) -> Result<Sink, SinkError> {
        let number = self.ring.control().further.fetch_add(1, Ordering::AcqRel);
        // If a number has no file, the reader reports a process that could not write.
        Sink::create(further_trace(folder, number), libc::O_NOFOLLOW)
    }
}

impl RingSink {
    fn open(descriptor: i32) -> Result<Result<RingSink, Claimed>, SinkError> {
        let ring = map(descriptor)?;
        let claim = ring.control().owner.compare_exchange(0, std::process::id(), Ordering::AcqRel, Ordering::Acquire);
        Ok(match claim {
            Ok(_) => Ok(RingSink { ring, parent: std::os::unix::process::parent_id() }),
            Err(owner) => Err(Claimed { ring, owner }),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        let ring = self.ring;
        let parent = self.parent;
        let mut waits = 0u32;
        let mut stalled: Option<(Instant, u64)> = None;
        let wait = || {
            waits += 1;
            if waits < 64 {
                std::thread::yield_now();
                return;
            }
            std::thread::sleep(Duration::from_micros(100));
            // A reader that was killed cannot report its end. If nothing moves and the parent process has changed, the
            // reader has ended.
            let tail = ring.control().tail.load(Ordering::Relaxed);
            match stalled {
                Some((since, at)) if at == tail => {
                    if since.elapsed() > STALL && std::os::unix::process::parent_id() != parent {
                        ring.control().abandoned.store(1, Ordering::Relaxed);
                    }
                }
                _ => stalled = Some((Instant::now(), tail)),
            }
        };
        if ring.write_all(bytes, wait) { Ok(()) } else { Err(SinkError::Abandoned) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_file_has_one_writer() {
        let path = std::env::temp_dir().join(format!("warpline-sink-{}.wltrace", std::process::id()));
        let output = Output::File(path.to_string_lossy().into_owned());
        let mut first = Sink::open(&output, "/a").unwrap();
        first.write(b"first").unwrap();
        let refused = Sink::open(&output, "/b").unwrap_err();
        assert!(matches!(refused, SinkError::Locked { .. }), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        drop(first);
        // The file of an earlier run is replaced.
        Sink::open(&output, "/b").unwrap().write(b"2").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"2");
        // If the name can be predicted, a link with this name is not followed.
        let link = path.with_extension("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let refused = Sink::create(link.to_string_lossy().into_owned(), libc::O_NOFOLLOW).unwrap_err();
        assert!(matches!(refused, SinkError::Create { .. }), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"2");
        std::fs::remove_file(&link).unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
