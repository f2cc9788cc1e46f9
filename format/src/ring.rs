//! The shared-memory ring between a program and `warpline run`. It transfers the bytes of the trace stream from one
//! producer to one consumer. The producer waits if the ring is full, so no data is lost.
//!
//! Layout: a control page of [`DATA_OFFSET`] bytes, then the data. Positions count bytes from the start and never wrap;
//! the offset in the data is the position modulo its length.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// First word of the control page.
pub const MAGIC: u64 = u64::from_le_bytes(*b"WLRING\0\x01");
/// Offset of the data in bytes.
pub const DATA_OFFSET: usize = 4096;

/// The control page. Except for `magic`, zeroes are a valid initial state.
#[repr(C)]
pub struct Control {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// Process that writes to the ring; 0 if there is none. A process claims the ring by replacing the 0.
    pub owner: AtomicU32,
    /// 1 when the producer has written its last byte.
    pub closed: AtomicU32,
    /// 1 when the consumer has ended, so that the producer stops writing.
    pub abandoned: AtomicU32,
    /// Number of processes that used the device but could not write, because another process does.
    pub refused: AtomicU32,
    /// 1 when a process has reported why it does not run.
    pub declined: AtomicU32,
    /// Number of processes that write separate traces, because another process writes to the ring.
    pub further: AtomicU32,
    _pad: [u8; 32],
    /// Number of bytes written so far.
    pub head: AtomicU64,
    _pad2: [u8; 56],
    /// Number of bytes read so far.
    pub tail: AtomicU64,
}

/// A mapped ring. It does not own the mapping.
#[derive(Clone, Copy)]
pub struct Ring {
    control: *const Control,
    data: *mut u8,
    length: u64,
}

// SAFETY: all shared state is atomic; the release/acquire pairs on `head` and `tail` pass the data range from one side
// to the other.
unsafe impl Send for Ring {}

impl Ring {
    /// # Safety
    /// `memory` points to `bytes` mapped, zeroed or already initialised bytes that outlive the ring,
    /// page aligned, with `bytes > DATA_OFFSET`.
    pub unsafe fn new(memory: *mut u8, bytes: usize) -> Ring {
        // SAFETY: in bounds by the contract.
        let data = unsafe { memory.add(DATA_OFFSET) };
        Ring { control: memory.cast(), data, length: (bytes - DATA_OFFSET) as u64 }
    }

    /// Returns the control page.
    pub fn control(&self) -> &Control {
        // SAFETY: mapped and aligned by the contract of `new`; all fields are atomic.
        unsafe { &*self.control }
    }

    /// Returns the capacity of the ring in bytes.
    pub fn capacity(&self) -> u64 {
        self.length
    }

    /// Producer: copies as many of `bytes` as fit, and returns their number.
    pub fn write_some(&self, bytes: &[u8]) -> usize {
        let control = self.control();
        let head = control.head.load(Ordering::Relaxed);
        let free = self.length - (head - control.tail.load(Ordering::Acquire));
        let count = free.min(bytes.len() as u64) as usize;
        let at = (head % self.length) as usize;
        let first = count.min(self.length as usize - at);
        // SAFETY: both parts lie in the data, and the consumer does not read past `head`.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.add(at), first);
            std::ptr::copy_nonoverlapping(bytes.as_ptr().add(first), self.data, count - first);
        }
        control.head.store(head + count as u64, Ordering::Release);
        count
    }

    /// Producer: writes all bytes, and calls `wait` whenever the ring is full. Returns `false` if the consumer has
    /// ended.
    pub fn write_all(&self, mut bytes: &[u8], mut wait: impl FnMut()) -> bool {
        while !bytes.is_empty() {
            if self.control().abandoned.load(Ordering::Relaxed) != 0 {
                return false;
            }
            let count = self.write_some(bytes);
            bytes = &bytes[count..];
            if count == 0 {
                wait();
            }
        }
        true
    }

    /// Consumer: copies the available bytes, at most `into.len()`.
    pub fn read_some(&self, into: &mut [u8]) -> usize {
        let control = self.control();
        let tail = control.tail.load(Ordering::Relaxed);
        let there = control.head.load(Ordering::Acquire).wrapping_sub(tail).min(self.length);
        let count = there.min(into.len() as u64) as usize;
        let at = (tail % self.length) as usize;
        let first = count.min(self.length as usize - at);
        // SAFETY: both parts lie in the data, and the producer does not write before `tail`.
        unsafe {
            std::ptr::copy_nonoverlapping(self.data.add(at), into.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(self.data, into.as_mut_ptr().add(first), count - first);
        }
        control.tail.store(tail + count as u64, Ordering::Release);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_ring_carries_a_long_stream() {
        let mut memory = vec![0u64; (DATA_OFFSET + 1000) / 8];
        // SAFETY: the buffer outlives both uses; atomics need 8-byte alignment only.
        let ring = unsafe { Ring::new(memory.as_mut_ptr().cast(), DATA_OFFSET + 1000) };
        let sent: Vec<u8> = (0..100_000u32).map(|value| ((value * 7919) >> 3) as u8).collect();
        let mut got = Vec::new();
        std::thread::scope(|scope| {
            let (producer, bytes) = (ring, &sent);
            scope.spawn(move || {
                for part in bytes.chunks(777) {
                    assert!(producer.write_all(part, std::thread::yield_now));
                }
            });
            let mut buffer = [0; 331];
            while got.len() < sent.len() {
                let count = ring.read_some(&mut buffer);
                got.extend_from_slice(&buffer[..count]);
                if count == 0 {
                    std::thread::yield_now();
                }
            }
        });
        assert_eq!(got, sent);
    }
}
