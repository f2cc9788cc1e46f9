//! Device-side `malloc` and `free`.

use super::warp::Heap;
use super::warp::Running;
use crate::memory::{Description, DeviceMemory};
use warpline_format::event::{Allocation, AllocationKind, Event};

impl Heap {
    /// Creates a heap of CUDA's default size.
    pub fn new() -> Heap {
        Heap { limit: 8 << 20, used: 0, started: Vec::new(), freed: Vec::new() }
    }

    /// Allocates memory; returns 0 if the heap is full.
    pub fn allocate(&mut self, memory: &mut DeviceMemory, bytes: u64) -> u64 {
        if bytes == 0 || bytes > self.limit - self.used.min(self.limit) {
            return 0;
        }
        let what = Description { kind: AllocationKind::DeviceHeap, name: None, path: 0 };
        let Ok(live) = memory.allocate(bytes, what) else { return 0 };
        self.used += bytes;
        self.started.push(Event::Allocation(Allocation {
            id: live.id,
            kind: live.kind,
            address: live.address,
            bytes,
            name: None,
            path: 0,
            global: None,
        }));
        live.address
    }

    /// Frees memory; returns `false` if the pointer does not come from the heap. The address range stays in use until
    /// the launch has ended, because accesses before the free enter the trace after it.
    pub fn free(&mut self, memory: &mut DeviceMemory, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        let ours = memory.registry.at(address).is_some_and(|live| live.kind == AllocationKind::DeviceHeap);
        let Some(live) = ours.then(|| memory.registry.remove(address)).flatten() else { return false };
        self.used -= live.bytes;
        self.freed.push(live);
        true
    }
}

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}

/// Writes device-side allocations to the trace as soon as they exist.
///
/// # Safety
/// `running` is the launch that runs on this thread.
pub unsafe fn write_heap_events(running: *mut Running) {
    // SAFETY: by the contract; launch, heap and trace are used by this thread alone.
    unsafe {
        for event in std::mem::take(&mut (*(*running).heap).started) {
            (*(*running).trace).event(event);
        }
    }
}
