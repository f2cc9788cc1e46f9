//! The fixed windows of the CPU device's address space. They are reserved once without access rights, and their pages
//! are opened when memory is allocated. The hardware reports a fault for an access outside the opened pages.

use warpline_format::abi::windows;

/// The size of a page in bytes.
pub const PAGE: u64 = 4096;

/// The reason why a window could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// Other memory is mapped at the window's addresses.
    #[error(
        "the CPU device's addresses from {base:#x} on are taken in this process, most likely by the runtime of another plug-in or library that \
         was built with warpline cc: link the program that loads them with warpline cc, too, and they share one"
    )]
    Taken {
        /// The first address.
        base: u64,
    },
    /// The process may not map so much memory.
    #[error(
        "cannot reserve {bytes:#x} bytes of address space at {base:#x} for the CPU device: {source}; \
         lift the limit on virtual memory (ulimit -v unlimited)"
    )]
    Reserve {
        /// The first address.
        base: u64,
        /// The size in bytes.
        bytes: u64,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The system has no more memory or mappings.
    #[error("cannot open {bytes} bytes of device memory: {source}")]
    Commit {
        /// The size in bytes.
        bytes: u64,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// A reserved range of addresses.
#[derive(Debug)]
pub struct Window {
    base: u64,
    bytes: u64,
    /// Whether memory can be mapped in the window.
    mapped: bool,
}

impl Window {
    /// Reserves `bytes` bytes at exactly `base`, without access rights.
    pub fn reserve(base: u64, bytes: u64) -> Result<Window, WindowError> {
        // SAFETY: MAP_FIXED_NOREPLACE never touches an existing mapping.
        let place = unsafe {
            libc::mmap(
                base as *mut libc::c_void,
                bytes as usize,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        if place == libc::MAP_FAILED {
            let source = std::io::Error::last_os_error();
            return Err(match source.raw_os_error() {
                Some(libc::EEXIST) => WindowError::Taken { base },
                _ => WindowError::Reserve { base, bytes, source },
            });
        }
        if place as u64 != base {
            // Kernels before 4.17 ignore the flag and place the mapping elsewhere. SAFETY: the mapping was just made
            // and is unused.
            unsafe { libc::munmap(place, bytes as usize) };
            return Err(WindowError::Taken { base });
        }
        Ok(Window { base, bytes, mapped: true })
    }

    /// Creates a window in which nothing is ever mapped: the addresses of a trace whose kernels run on a GPU.
    pub fn of_trace(base: u64, bytes: u64) -> Window {
        Window { base, bytes, mapped: false }
    }

    /// Creates the window that kernels need, or that the trace of kernels on a GPU needs.
    pub fn new(base: u64, bytes: u64) -> Result<Window, WindowError> {
        if crate::real::active() { Ok(Window::of_trace(base, bytes)) } else { Window::reserve(base, bytes) }
    }

    /// Returns the first address.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the address after the last one.
    pub fn end(&self) -> u64 {
        self.base + self.bytes
    }

    /// Returns whether `address` is in the window.
    pub fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    fn holds_pages(&self, start: u64, bytes: u64) -> bool {
        start >= self.base && start + bytes <= self.end() && start.is_multiple_of(PAGE) && bytes.is_multiple_of(PAGE)
    }

    /// Makes the pages of `start .. start + bytes` readable and writable; both values are multiples of [`PAGE`].
    pub fn commit(&self, start: u64, bytes: u64) -> Result<(), WindowError> {
        if !self.mapped {
            return Ok(());
        }
        debug_assert!(self.holds_pages(start, bytes));
        // SAFETY: the range is in this window's own mapping.
        let done =
            unsafe { libc::mprotect(start as *mut libc::c_void, bytes as usize, libc::PROT_READ | libc::PROT_WRITE) };
        if done != 0 {
            return Err(WindowError::Commit { bytes, source: std::io::Error::last_os_error() });
        }
        if bytes >= 2 << 20 {
            // Programs often access large arrays from end to end; huge pages avoid most of the page faults. This is
            // only a hint. SAFETY: the range is in this window's own mapping.
            unsafe { libc::madvise(start as *mut libc::c_void, bytes as usize, libc::MADV_HUGEPAGE) };
        }
        Ok(())
    }

    /// Makes the pages of `start .. start + bytes` readable, with zeroes. This is for the memory around allocations,
    /// where GPUs tolerate reads.
    pub fn open_for_reading(&self, start: u64, bytes: u64) -> Result<(), WindowError> {
        if !self.mapped {
            return Ok(());
        }
        debug_assert!(self.holds_pages(start, bytes));
        // SAFETY: the range is in this window's own mapping.
        let done = unsafe { libc::mprotect(start as *mut libc::c_void, bytes as usize, libc::PROT_READ) };
        if done == 0 { Ok(()) } else { Err(WindowError::Commit { bytes, source: std::io::Error::last_os_error() }) }
    }

    /// Maps a file's bytes at addresses, without access.
    pub fn map(&self, start: u64, bytes: u64, file: i32, offset: u64) -> std::io::Result<()> {
        self.put(start, bytes, libc::MAP_SHARED, file, offset)
    }

    /// Unmaps the bytes that [`Window::map`] has mapped.
    pub fn unmap(&self, start: u64, bytes: u64) -> std::io::Result<()> {
        self.put(start, bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0)
    }

    fn put(&self, start: u64, bytes: u64, flags: i32, file: i32, offset: u64) -> std::io::Result<()> {
        if !self.mapped {
            return Ok(());
        }
        debug_assert!(self.holds_pages(start, bytes));
        let (place, length) = (start as *mut libc::c_void, bytes as usize);
        // SAFETY: the range is in this window's own mapping; the caller does not need its content any more.
        let done =
            unsafe { libc::mmap(place, length, libc::PROT_NONE, flags | libc::MAP_FIXED, file, offset as libc::off_t) };
        if done == libc::MAP_FAILED { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Sets the permitted accesses to memory that [`Window::map`] has mapped.
    pub fn protect(&self, start: u64, bytes: u64, read: bool, write: bool) {
        if !self.mapped {
            return;
        }
        debug_assert!(self.holds_pages(start, bytes));
        let right = |given: bool, right: i32| if given { right } else { libc::PROT_NONE };
        let rights = right(read, libc::PROT_READ) | right(write, libc::PROT_WRITE);
        // SAFETY: the range is in this window's own mapping.
        unsafe { libc::mprotect(start as *mut libc::c_void, bytes as usize, rights) };
    }

    /// Frees the pages and closes them.
    pub fn decommit(&self, start: u64, bytes: u64) {
        if !self.mapped {
            return;
        }
        debug_assert!(self.holds_pages(start, bytes));
        // SAFETY: the range is in this window's own mapping; the caller does not need its content any more.
        unsafe {
            libc::madvise(start as *mut libc::c_void, bytes as usize, libc::MADV_DONTNEED);
            libc::mprotect(start as *mut libc::c_void, bytes as usize, libc::PROT_NONE);
        }
    }
}

/// The kind of memory at an address, determined by its window alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Device, managed and pinned memory, and module globals.
    Device,
    /// Shared memory of a resident block.
    Shared,
    /// A lane's stack.
    Local,
    /// Arguments that a kernel stores for the kernels that it launches.
    Arguments,
    /// An address in no window: ordinary host memory, or no memory.
    Host,
}

/// Returns the window that contains `address`.
#[inline]
pub fn region(address: u64) -> Region {
    if address.wrapping_sub(windows::DEVICE) < windows::DEVICE_BYTES {
        Region::Device
    } else if address.wrapping_sub(windows::SHARED) < windows::SHARED_BYTES {
        Region::Shared
    } else if address.wrapping_sub(windows::LOCAL) < windows::LOCAL_BYTES {
        Region::Local
    } else if address.wrapping_sub(windows::ARGUMENTS) < windows::ARGUMENTS_BYTES {
        Region::Arguments
    } else {
        Region::Host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_taken_are_no_limit_of_the_process() {
        let base = 0x3000_0000_0000;
        let _first = Window::reserve(base, PAGE).expect("nothing lies there");
        let second = Window::reserve(base, PAGE).expect_err("the first lies there");
        let message = second.to_string();
        assert!(message.contains("from 0x300000000000 on are taken") && !message.contains("ulimit"), "{message}");
    }
}
