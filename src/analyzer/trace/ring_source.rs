//! Reads the shared-memory ring as a byte stream.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use warpline_format::ring::{DATA_OFFSET, MAGIC, Ring};

/// Maximum time that the reader sleeps while the ring is empty: too short to be noticeable, and long enough to cost no
/// CPU time.
const LONGEST_SLEEP: Duration = Duration::from_millis(2);
/// Number of polls of an empty ring before the reader starts to sleep.
const SPINS: u32 = 64;

/// A ring in an anonymous memory file that a child process can inherit.
pub struct RingMemory {
    file: File,
    address: *mut u8,
    bytes: usize,
}

// SAFETY: the shared memory is accessed only through `Ring`, whose shared state is atomic.
unsafe impl Send for RingMemory {}
// SAFETY: as above.
unsafe impl Sync for RingMemory {}

impl RingMemory {
    /// Creates and maps a ring with room for `capacity` bytes. The descriptor is inheritable.
    ///
    /// # Errors
    /// Returns the system's error if it cannot create a memory file.
    pub fn create(capacity: usize) -> io::Result<RingMemory> {
        let bytes = DATA_OFFSET + capacity.next_multiple_of(4096);
        // SAFETY: the name is a zero-terminated constant. Without MFD_CLOEXEC the child inherits it.
        let descriptor = unsafe { libc::memfd_create(c"warpline-ring".as_ptr(), 0) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just created, and nothing else owns it.
        let file = unsafe { File::from_raw_fd(descriptor) };
        file.set_len(bytes as u64)?;
        // SAFETY: the call maps the whole file at an address that the system chooses.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = RingMemory { file, address: address.cast(), bytes };
        memory.ring().control().magic.store(MAGIC, Ordering::Release);
        Ok(memory)
    }

    /// Returns the number of the descriptor, which is the same in a child process.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Returns the ring. Must not outlive `self`.
    pub fn ring(&self) -> Ring {
        // SAFETY: `address` is a page-aligned mapping of `bytes` zeroed bytes, which is more than the control page.
        unsafe { Ring::new(self.address, self.bytes) }
    }
}

impl Drop for RingMemory {
    fn drop(&mut self) {
        self.ring().control().abandoned.store(1, Ordering::Release);
        // SAFETY: the mapping was created in `create`; by contract, no ring uses it after this.
        unsafe { libc::munmap(self.address.cast(), self.bytes) };
    }
}

/// Reads a ring until its producer has closed it or has ended.
pub struct RingReader<'a, F> {
    memory: &'a RingMemory,
    gone: F,
}

impl<'a, F: FnMut() -> bool> RingReader<'a, F> {
    /// Creates a reader. `gone` returns whether all writers have ended; it is called while the ring is empty.
    pub fn new(memory: &'a RingMemory, gone: F) -> Self {
        RingReader { memory, gone }
    }
}

impl<F: FnMut() -> bool> Read for RingReader<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let ring = self.memory.ring();
        let mut tries = 0u32;
        loop {
            // Both are queried before the last read, so that bytes written before the close are not missed.
            let over = ring.control().closed.load(Ordering::Acquire) != 0 || (tries >= SPINS && (self.gone)());
            let count = ring.read_some(buffer);
            if count > 0 || over {
                return Ok(count);
            }
            tries += 1;
            if tries < SPINS {
                std::thread::yield_now();
            } else {
                let sleep = Duration::from_micros(20) * (tries - SPINS + 1).min(100);
                std::thread::sleep(sleep.min(LONGEST_SLEEP));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_through_and_the_end_is_seen() {
        let memory = RingMemory::create(4096).unwrap();
        let sent: Vec<u8> = (0..50_000u32).map(|value| ((value * 31) >> 2) as u8).collect();
        let mut got = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let ring = memory.ring();
                for part in sent.chunks(999) {
                    assert!(ring.write_all(part, std::thread::yield_now));
                }
                ring.control().closed.store(1, Ordering::Release);
            });
            RingReader::new(&memory, || false).read_to_end(&mut got).unwrap();
        });
        assert_eq!(got, sent);
    }

    #[test]
    fn a_producer_that_vanishes_ends_the_stream_after_its_last_byte() {
        let memory = RingMemory::create(4096).unwrap();
        memory.ring().write_all(b"last words", || ());
        let mut got = Vec::new();
        RingReader::new(&memory, || true).read_to_end(&mut got).unwrap();
        assert_eq!(got, b"last words");
    }
}
