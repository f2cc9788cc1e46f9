//! Memory that launches reuse: warps, record buffers, stacks, shared and local memory.

use super::buffers::Buffers;
use super::fibre::StackPool;
use super::warp::{Geometry, Warp};
use crate::memory::windows::{PAGE, Window, WindowError};
use crate::real::emulation::SHARED_STRIDE;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use warpline_format::abi::windows;

/// Zeroed memory for warps. A caller accesses a warp by its number, or takes memory when it needs a warp.
#[derive(Debug)]
pub struct WarpArena {
    memory: *mut Warp,
    capacity: usize,
    /// The index of the first warp that was never taken.
    fresh: usize,
    /// Warps that were taken and returned; the last one is still in the host's cache.
    free: Vec<*mut Warp>,
}

impl WarpArena {
    const fn new() -> WarpArena {
        WarpArena { memory: std::ptr::null_mut(), capacity: 0, fresh: 0, free: Vec::new() }
    }

    /// Provides memory for `count` warps, none of them taken. Earlier pointers become invalid.
    pub fn reserve(&mut self, count: usize) {
        self.fresh = 0;
        self.free.clear();
        if count <= self.capacity {
            return;
        }
        self.release();
        let Ok(layout) = Layout::array::<Warp>(count) else { return };
        // SAFETY: the size of a warp is not zero, and `count` is at least 1 here.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        self.memory = memory.cast();
        self.capacity = count;
    }

    /// Returns the warp at `index`.
    pub fn get(&self, index: usize) -> *mut Warp {
        assert!(index < self.capacity, "warp slot out of range");
        // SAFETY: the index is in bounds.
        unsafe { self.memory.add(index) }
    }

    /// Returns memory for a warp, or `None` if all memory is in use.
    pub fn take(&mut self) -> Option<*mut Warp> {
        if let Some(warp) = self.free.pop() {
            return Some(warp);
        }
        let index = self.fresh;
        if index == self.capacity {
            return None;
        }
        self.fresh += 1;
        Some(self.get(index))
    }

    /// Returns a warp's memory to the arena.
    pub fn give(&mut self, warp: *mut Warp) {
        self.free.push(warp);
    }

    fn release(&mut self) {
        if self.capacity != 0
            && let Ok(layout) = Layout::array::<Warp>(self.capacity)
        {
            // SAFETY: the memory was allocated with the same layout; warps need no drop.
            unsafe { dealloc(self.memory.cast(), layout) };
        }
        self.capacity = 0;
    }
}

impl Drop for WarpArena {
    fn drop(&mut self) {
        self.release();
    }
}

/// A window whose pages are opened from its start as needed.
#[derive(Debug)]
struct Growing {
    window: Window,
    open: u64,
}

impl Growing {
    fn ensure(&mut self, bytes: u64) -> Result<(), WindowError> {
        let end = self.window.base() + bytes.next_multiple_of(PAGE);
        if end > self.window.end() {
            return Err(WindowError::Commit { bytes, source: std::io::Error::from_raw_os_error(libc::ENOMEM) });
        }
        if end > self.open {
            self.window.commit(self.open, end - self.open)?;
            self.open = end;
        }
        Ok(())
    }
}

/// All memory that launches share.
#[derive(Debug)]
pub struct Arena {
    /// The stacks of fibres.
    pub stacks: StackPool,
    /// The warps, indexed by slot.
    pub warps: WarpArena,
    /// Record buffers.
    pub buffers: Buffers,
    shared: Growing,
    /// On the emulated GPU: the number of bytes that the system reserves at the start of each block's shared memory.
    reserved: Option<u64>,
    local: Growing,
    /// The batch of items that is being filled.
    pub batch: Vec<u8>,
    /// The records of warps that have ended.
    pub shelves: Vec<u64>,
    /// The count cells of blocks that run with hooks and are not traced.
    pub spare_counts: Vec<u64>,
}

impl Arena {
    /// Reserves the windows. `reserved` is, on the emulated GPU, the number of bytes that the system reserves at the
    /// start of each block's shared memory.
    pub fn new(reserved: Option<u64>) -> Result<Arena, WindowError> {
        let shared = Window::new(windows::SHARED, windows::SHARED_BYTES)?;
        let local = Window::new(windows::LOCAL, windows::LOCAL_BYTES)?;
        Ok(Arena {
            stacks: StackPool::default(),
            warps: WarpArena::new(),
            buffers: Buffers::default(),
            shared: Growing { open: shared.base(), window: shared },
            reserved,
            local: Growing { open: local.base(), window: local },
            batch: Vec::new(),
            shelves: Vec::new(),
            spare_counts: Vec::new(),
        })
    }

    /// Provides stacks, shared memory and local memory for `blocks` resident blocks of `warps` warps.
    pub fn prepare(&mut self, geometry: &Geometry, blocks: u64) -> Result<(), WindowError> {
        let warps = blocks * u64::from(geometry.warps());
        self.shared.ensure(blocks * self.shared_stride(geometry))?;
        self.local.ensure(warps * 32 * geometry.local_stride)?;
        self.warps.reserve(warps as usize);
        self.buffers.prepare(warps as usize);
        Ok(())
    }

    /// Discards which launch filled the warps' memory, because the numbering of launches starts again.
    pub fn discard_launches(&mut self) {
        self.warps = WarpArena::new();
    }

    /// Returns the shared memory of resident block `index`.
    pub fn shared(&self, geometry: &Geometry, index: u64) -> *mut u8 {
        (windows::SHARED + index * self.shared_stride(geometry) + self.reserved.unwrap_or(0)) as *mut u8
    }

    /// Returns the address after the last lane stack.
    pub fn locals_end(&self) -> u64 {
        self.local.open
    }

    /// Returns the lane stacks of resident warp `index`.
    pub fn local(&self, geometry: &Geometry, index: u64) -> *mut u8 {
        (windows::LOCAL + index * 32 * geometry.local_stride) as *mut u8
    }

    /// Returns the number of bytes between the shared memories of neighbouring blocks. It is not a power of two, so
    /// that equal offsets do not compete for the same set of the host's cache, unless offsets must follow from
    /// addresses.
    fn shared_stride(&self, geometry: &Geometry) -> u64 {
        match self.reserved {
            Some(_) => SHARED_STRIDE,
            None => geometry.shared_room().next_multiple_of(256) + 256,
        }
    }
}

// SAFETY: the pointers refer to memory that the arena owns; the runtime's lock is held while it is used.
unsafe impl Send for Arena {}
