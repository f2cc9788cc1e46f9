//! Record buffers of resident warps, in one contiguous allocation.
//!
//! Each turn of the scheduler reads another warp's buffer, and there are thousands of warps. With pages of 4 KiB, each
//! turn would cause a TLB miss; a large page contains a hundred buffers.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

/// The approximate size of the buffers of all resident warps together, in bytes.
const ALL_BYTES: usize = 32 << 20;
/// The smallest and largest size of one warp's buffer.
const EACH_BYTES: std::ops::RangeInclusive<usize> = 8 << 10..=64 << 10;
/// The size of a large page in bytes.
const LARGE_PAGE: usize = 2 << 20;

/// One warp's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// The first byte, whose address is a multiple of 64.
    pub start: *mut u8,
    /// The length in bytes.
    pub bytes: usize,
}

/// All buffers.
#[derive(Debug, Default)]
pub struct Buffers {
    memory: Option<(*mut u8, Layout)>,
    /// The size of each buffer in bytes.
    each: usize,
    /// The number of buffers.
    count: usize,
    /// The index of the first buffer that was never taken.
    fresh: usize,
    /// The buffers that were returned.
    free: Vec<*mut u8>,
}

impl Buffers {
    /// Allocates this number of buffers. No buffer may be in use.
    pub fn prepare(&mut self, warps: usize) {
        // The size is an odd number of cache lines, so that the buffers do not compete for the same set of the host's
        // cache.
        let fair = (ALL_BYTES / warps.max(1)).clamp(*EACH_BYTES.start(), *EACH_BYTES.end());
        let each = ((fair / 64) | 1) * 64;
        if each == self.each && warps <= self.count {
            return;
        }
        let bytes = (each * warps).next_multiple_of(LARGE_PAGE);
        if self.memory.is_none_or(|(_, layout)| layout.size() < bytes) {
            self.release();
            let Ok(layout) = Layout::from_size_align(bytes, LARGE_PAGE) else { return };
            // SAFETY: the size is not zero. Nothing reads the memory before lowered code has written it.
            let memory = unsafe { alloc(layout) };
            if memory.is_null() {
                handle_alloc_error(layout);
            }
            // SAFETY: the range was just allocated; the advice changes the size of its pages, and the system may refuse
            // it.
            unsafe { libc::madvise(memory.cast(), bytes, libc::MADV_HUGEPAGE) };
            self.memory = Some((memory, layout));
        }
        self.free.clear();
        (self.each, self.count, self.fresh) = (each, warps, 0);
    }

    /// Returns a buffer, or `None` if all prepared buffers are in use.
    pub fn take(&mut self) -> Option<Buffer> {
        let start = match (self.free.pop(), self.memory) {
            (Some(start), _) => start,
            (None, Some((memory, _))) if self.fresh < self.count => {
                self.fresh += 1;
                memory.wrapping_add((self.fresh - 1) * self.each)
            }
            _ => return None,
        };
        Some(Buffer { start, bytes: self.each })
    }

    /// Returns a buffer to the pool.
    pub fn give(&mut self, buffer: Buffer) {
        self.free.push(buffer.start);
    }

    fn release(&mut self) {
        if let Some((memory, layout)) = self.memory.take() {
            // SAFETY: the memory was allocated with the same layout.
            unsafe { dealloc(memory, layout) };
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_do_not_overlap_and_come_again() {
        let mut buffers = Buffers::default();
        for warps in [1, 3000, 100] {
            buffers.prepare(warps);
            let mut taken: Vec<_> = (0..warps).map_while(|_| buffers.take()).collect();
            assert_eq!(taken.len(), warps);
            taken.sort_by_key(|buffer| buffer.start);
            assert!(taken.windows(2).all(|pair| pair[0].start.addr() + pair[0].bytes <= pair[1].start.addr()));
            for buffer in taken {
                assert!(EACH_BYTES.contains(&(buffer.bytes - 64)) || EACH_BYTES.contains(&buffer.bytes));
                buffers.give(buffer);
            }
        }
    }
}
