//! Device memory: windows, allocator, registry.

use super::allocator::{Allocator, LARGE_UNIT};
use super::host_guard::{HostGuard, is_host_visible};
use super::registry::{Live, Registry};
use super::shadow::{PATTERN, Shadow};
use super::windows::{PAGE, Window, WindowError};
use crate::memory::images::Images;
use crate::memory::mappings::Mappings;
use crate::memory::texture_references::References;
use std::collections::HashMap;
use warpline_format::abi::windows as places;
use warpline_format::event::{AllocationId, AllocationKind, PathId};

/// The size of the address space for small allocations.
const SMALL_BYTES: u64 = 64 << 30;

/// The size of a range at the window's start and between the two arenas that is never allocated. An access just below
/// the first allocation is then recognised as such and is not treated as an access to ordinary host memory. The range
/// can be read, like all memory around allocations: a GPU maps its memory in pages of 2 MiB, and programs read a little
/// before or after an array and discard the value.
const GUARD: u64 = LARGE_UNIT;
/// The number of readable bytes after the last small allocation.
const SLACK: u64 = 64 << 10;

/// The reason why an allocation failed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The request exceeds the free memory of the device.
    #[error("{requested} bytes requested, {free} of the device's bytes are free")]
    Full {
        /// The requested size.
        requested: u64,
        /// The number of free bytes.
        free: u64,
    },
    /// The host could not provide the memory.
    #[error(transparent)]
    Window(#[from] WindowError),
}

/// All memory that the device can access.
#[derive(Debug)]
pub struct DeviceMemory {
    pub(super) window: Window,
    pub(super) allocator: Allocator,
    /// The end of the opened part of the small arena.
    pub(super) open: u64,
    /// The start of the small arena.
    pub(super) small_start: u64,
    /// Allocations by address.
    pub registry: Registry,
    /// Arrays, and the objects through which kernels read and write them.
    pub images: Images,
    /// Texture references of modules.
    pub texture_references: References,
    /// Addresses and memory that the program maps itself.
    pub mappings: Mappings,
    /// The number of bytes in use that count against the device's memory.
    pub(super) used: u64,
    total: u64,
    /// Which bytes have been written; used with the initialisation check, and if values are tracked.
    pub shadow: Option<Shadow>,
    /// Whether memory that nothing has written is filled with a pattern; only with the initialisation check.
    pub fills: bool,
    /// With the initialisation check: for each allocation that reuses the memory of an earlier allocation, the earlier
    /// one.
    pub earlier: HashMap<AllocationId, AllocationId>,
    /// Closes memory to host code, if the run checks host accesses.
    pub host_guard: Option<HostGuard>,
}

/// The description of an allocation, except its size.
#[derive(Clone, Debug)]
pub struct Description {
    /// The function that created the allocation.
    pub kind: AllocationKind,
    /// The variable's name, if known.
    pub name: Option<String>,
    /// The call path.
    pub path: PathId,
}

/// Returns whether an allocation of a kind uses the device's own memory.
fn on_device(kind: AllocationKind) -> bool {
    !matches!(kind, AllocationKind::Host | AllocationKind::Registered | AllocationKind::DeviceHeap)
}

/// Returns whether new memory of a kind contains no data of the program. The host can write the other kinds without a
/// call.
fn starts_unwritten(kind: AllocationKind) -> bool {
    use AllocationKind::{Async, DeviceHeap, Malloc, Pitch};
    matches!(kind, Malloc | Pitch | Async | DeviceHeap)
}

impl DeviceMemory {
    /// Reserves the window for a device with `total` bytes of memory.
    pub fn new(total: u64) -> Result<DeviceMemory, WindowError> {
        let window = Window::new(places::DEVICE, places::DEVICE_BYTES)?;
        let open = window.base() + GUARD;
        let allocator = Allocator::new(open, places::DEVICE_BYTES - GUARD, SMALL_BYTES, GUARD);
        window.open_for_reading(window.base(), GUARD)?;
        window.open_for_reading(open + SMALL_BYTES, GUARD)?;
        Ok(DeviceMemory {
            window,
            allocator,
            open,
            small_start: open,
            registry: Registry::default(),
            images: Images::default(),
            texture_references: References::default(),
            mappings: Mappings::default(),
            used: 0,
            total,
            shadow: None,
            fills: false,
            earlier: HashMap::new(),
            host_guard: None,
        })
    }

    /// Returns the free and the total memory of the device in bytes.
    pub fn info(&self) -> (u64, u64) {
        (self.total - self.used.min(self.total), self.total)
    }

    /// Allocates `bytes` bytes, which are zero or, with the initialisation check, filled with a pattern. Returns the
    /// entry.
    pub fn allocate(&mut self, bytes: u64, what: Description) -> Result<&Live, MemoryError> {
        let counted = on_device(what.kind);
        let (free, _) = self.info();
        if counted && bytes > free {
            return Err(MemoryError::Full { requested: bytes, free });
        }
        // Pages are closed to host code as a whole, so that what it may access has pages of its own.
        let has_own_pages = self.host_guard.is_some() && is_host_visible(what.kind);
        let place = if has_own_pages { self.allocator.allocate_pages(bytes) } else { self.allocator.allocate(bytes) };
        let place = place.ok_or(MemoryError::Full { requested: bytes, free })?;
        let committed = if place.large {
            let pages = bytes.next_multiple_of(PAGE);
            self.window
                .commit(place.address, pages)
                .and_then(|()| self.window.open_for_reading(place.address + pages, place.reserved - pages))
        } else {
            let end = (place.address + place.reserved + SLACK).min(self.window.base() + GUARD + SMALL_BYTES);
            if end > self.open {
                let grown = (end - self.open).next_multiple_of(LARGE_UNIT);
                self.window.commit(self.open, grown).inspect(|()| self.open += grown)
            } else {
                Ok(())
            }
        };
        if let Err(error) = committed {
            self.allocator.free(place);
            return Err(error.into());
        }
        if counted {
            self.used += place.reserved;
        }
        let id = self.registry.next_id();
        self.begin_shadow(place.address, bytes, what.kind, id);
        self.registry.insert(Live {
            id,
            kind: what.kind,
            address: place.address,
            bytes,
            name: what.name,
            path: what.path,
            place: Some(place),
            host: None,
            elements: None,
        });
        self.registry.at(place.address).ok_or(MemoryError::Full { requested: bytes, free })
    }

    /// With a shadow: marks the bytes of a new allocation and, with the initialisation check, fills them.
    fn begin_shadow(&mut self, address: u64, bytes: u64, kind: AllocationKind, id: AllocationId) {
        let Some(shadow) = &self.shadow else { return };
        if !starts_unwritten(kind) {
            shadow.write(address, bytes);
            return;
        }
        shadow.clear(address, bytes);
        if let Some(before) = self.registry.freed_within(address, bytes) {
            self.earlier.insert(id, before);
        }
        if self.fills {
            // SAFETY: the pages of the allocation were just committed, and its address has not been published yet.
            unsafe { std::ptr::write_bytes(address as *mut u8, PATTERN, bytes as usize) };
        }
    }

    /// With a shadow: marks the shared memory of a block that starts and, with the initialisation check, fills it.
    ///
    /// # Safety
    /// The bytes are the block's part of the shared window.
    pub unsafe fn begin_shared(&self, address: u64, bytes: u64) {
        if let Some(shadow) = &self.shadow {
            shadow.clear(address, bytes);
            if self.fills {
                // SAFETY: by the contract.
                unsafe { std::ptr::write_bytes(address as *mut u8, PATTERN, bytes as usize) };
            }
        }
    }

    /// With the initialisation check: from now on, all memory counts as written, because code ran that was not checked.
    pub fn assume_written(&self) {
        let Some(shadow) = &self.shadow else { return };
        self.registry.iter().for_each(|live| shadow.write(live.start(), live.bytes));
    }

    /// Registers host memory. It gets a synthetic address, so that the trace does not depend on the address that the
    /// host's allocator chose.
    pub fn register(&mut self, host: u64, bytes: u64, what: Description) -> Result<&Live, MemoryError> {
        let (free, _) = self.info();
        let place = self.allocator.allocate(bytes).ok_or(MemoryError::Full { requested: bytes, free })?;
        let id = self.registry.next_id();
        self.registry.insert(Live {
            id,
            kind: what.kind,
            address: place.address,
            bytes,
            name: what.name,
            path: what.path,
            place: Some(place),
            host: Some(host),
            elements: None,
        });
        self.registry.at(host).ok_or(MemoryError::Full { requested: bytes, free })
    }

    /// Ends the allocation that starts at `start`. Its bytes are zero when they are used again.
    pub fn free(&mut self, start: u64) -> Option<Live> {
        let live = self.registry.remove(start)?;
        self.reclaim(&live);
        Some(live)
    }

    /// Frees the address range of an allocation that has left the registry.
    pub fn reclaim(&mut self, live: &Live) {
        let Some(place) = live.place else { return };
        if live.host.is_none() {
            if place.large {
                // The memory after it stays readable, because it precedes the next allocation.
                self.window.decommit(place.address, live.bytes.next_multiple_of(PAGE));
            } else {
                // SAFETY: the small arena is open up to `open`, and the allocation has ended.
                unsafe { std::ptr::write_bytes(place.address as *mut u8, 0, live.bytes as usize) };
            }
        }
        // Memory that was registered with another address uses no part of the window.
        if on_device(live.kind) && live.host.is_none() {
            self.used -= place.reserved;
        }
        self.allocator.free(place);
    }
}
