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

/// Address space for small allocations.
const SMALL_BYTES: u64 = 64 << 30;

/// What is never handed out at the window's start and between the two arenas: an access just below the first allocation
/// is then known as one, and not treated as one of ordinary host memory. It can be read, as all around allocations: a
/// GPU maps its memory in pages of 2 MiB, and programs read a little before or after an array and throw the value
/// away.
const GUARD: u64 = LARGE_UNIT;
/// Bytes after the last small allocation that can be read.
const SLACK: u64 = 64 << 10;

/// Why an allocation failed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// More than the device has.
    #[error("{requested} bytes requested, {free} of the device's bytes are free")]
    Full {
        /// Requested size.
        requested: u64,
        /// Bytes left.
        free: u64,
    },
    /// The host refused.
    #[error(transparent)]
    Window(#[from] WindowError),
}

/// All device-reachable memory.
#[derive(Debug)]
pub struct DeviceMemory {
    pub(super) window: Window,
    pub(super) allocator: Allocator,
    /// End of the part of the small arena that is open.
    pub(super) open: u64,
    /// Start of the small arena.
    pub(super) small_start: u64,
    /// Allocations by address.
    pub registry: Registry,
    /// Arrays, and the objects through which kernels read and write them.
    pub images: Images,
    /// Texture references of modules.
    pub texture_references: References,
    /// Addresses and memory that the program puts together itself.
    pub mappings: Mappings,
    /// Bytes in use that count against the device's memory.
    pub(super) used: u64,
    total: u64,
    /// Which bytes have been written; with the initialisation check, and where values are followed.
    pub shadow: Option<Shadow>,
    /// Memory that nothing has written is filled with a pattern: with the initialisation check only.
    pub fills: bool,
    /// With the initialisation check: allocations that hold memory of an earlier one, and that one.
    pub earlier: HashMap<AllocationId, AllocationId>,
    /// Closes memory to host code, if the run checks host accesses.
    pub host_guard: Option<HostGuard>,
}

/// What an allocation is, besides its size.
#[derive(Clone, Debug)]
pub struct Description {
    /// How it came to be.
    pub kind: AllocationKind,
    /// Variable's name where known.
    pub name: Option<String>,
    /// Call path.
    pub path: PathId,
}

/// Returns whether a kind takes up the device's own memory.
fn on_device(kind: AllocationKind) -> bool {
    !matches!(kind, AllocationKind::Host | AllocationKind::Registered | AllocationKind::DeviceHeap)
}

/// Returns whether memory of a kind holds nothing of the program when it is handed out. The host can write the others
/// without a call.
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

    /// Free and total bytes of the device.
    pub fn info(&self) -> (u64, u64) {
        (self.total - self.used.min(self.total), self.total)
    }

    /// Allocates `bytes` zeroed bytes, or filled ones with the initialisation check, and returns the entry.
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

    /// With a shadow: marks the bytes of an allocation that begins, and fills them with the initialisation check.
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
            // SAFETY: the pages of the allocation were just committed, and its address is not published yet.
            unsafe { std::ptr::write_bytes(address as *mut u8, PATTERN, bytes as usize) };
        }
    }

    /// With a shadow: marks the shared memory of a block that starts, and fills it with the initialisation check.
    ///
    /// # Safety
    /// The bytes are the block's room in the shared window.
    pub unsafe fn begin_shared(&self, address: u64, bytes: u64) {
        if let Some(shadow) = &self.shadow {
            shadow.clear(address, bytes);
            if self.fills {
                // SAFETY: by the contract.
                unsafe { std::ptr::write_bytes(address as *mut u8, PATTERN, bytes as usize) };
            }
        }
    }

    /// With the initialisation check: all memory counts as written from here on, because something ran that was not
    /// seen.
    pub fn assume_written(&self) {
        let Some(shadow) = &self.shadow else { return };
        self.registry.iter().for_each(|live| shadow.write(live.start(), live.bytes));
    }

    /// Enters host memory that the program registered. It gets a synthetic address of its own, so
    /// that the trace does not depend on where the host's allocator put it.
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

    /// Ends the allocation that starts at `start`. Its bytes read as zeroes when they are used again.
    pub fn free(&mut self, start: u64) -> Option<Live> {
        let live = self.registry.remove(start)?;
        self.reclaim(&live);
        Some(live)
    }

    /// Makes the place of an allocation that has left the registry free again.
    pub fn reclaim(&mut self, live: &Live) {
        let Some(place) = live.place else { return };
        if live.host.is_none() {
            if place.large {
                // What lies behind it stays readable: it is in front of the next one.
                self.window.decommit(place.address, live.bytes.next_multiple_of(PAGE));
            } else {
                // SAFETY: the small arena is open up to `open`, and the allocation has ended.
                unsafe { std::ptr::write_bytes(place.address as *mut u8, 0, live.bytes as usize) };
            }
        }
        // What was registered under another address takes nothing of the window.
        if on_device(live.kind) && live.host.is_none() {
            self.used -= place.reserved;
        }
        self.allocator.free(place);
    }
}
