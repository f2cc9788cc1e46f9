//! Allocation: device, managed, pinned, registered.

use crate::api::{api, per_thread, put};
use crate::call_paths::{Entry, capture};
use crate::cuda::error;
use crate::cuda::types::{Extent, MemLocation, PitchedPtr, PointerAttributes, StreamHandle};
use crate::memory::Description;
use crate::memory::host::HostAllocation;
use crate::modules::names::{set_name, take_name};
use crate::state::runtime::{Runtime, memory_error};
use std::ffi::{c_int, c_uint, c_void};
use warpline_format::event::{Allocation, AllocationKind, Event};

/// Rows of pitched allocations start at multiples of this number of bytes.
const PITCH: usize = 512;
/// The flags of `cudaHostAlloc`: portable, mapped, write-combined.
pub(in crate::api) const HOST_ALLOC_FLAGS: c_uint = 0x7;
/// The flags of `cudaHostRegister`: portable, mapped, I/O memory, read-only.
const HOST_REGISTER_FLAGS: c_uint = 0xf;
/// `cudaMemAttachGlobal`, `cudaMemAttachHost`.
pub(in crate::api) const ATTACH: [c_uint; 2] = [1, 2];

/// The kinds of allocations that `cudaFree` accepts.
pub(in crate::api) const DEVICE_KINDS: &[AllocationKind] =
    &[AllocationKind::Malloc, AllocationKind::Managed, AllocationKind::Pitch, AllocationKind::Async];

/// Allocates, and writes the address to the program's pointer.
pub(in crate::api) fn allocate(
    runtime: &mut Runtime,
    place: *mut *mut c_void,
    bytes: usize,
    kind: AllocationKind,
    entry: Entry,
) -> Result<(), error::Error> {
    if place.is_null() {
        return Err(error::INVALID_VALUE);
    }
    let address = if bytes == 0 { 0 } else { runtime.allocate(bytes as u64, kind, entry)? };
    // SAFETY: the pointer is not null, and it is valid by the contract of the calling API function.
    unsafe { put(place, address as *mut c_void) }
}

/// Allocates pinned host memory. Kernels can access it, and it is also a host allocation that copies can name.
pub(in crate::api) fn allocate_host(
    runtime: &mut Runtime,
    place: *mut *mut c_void,
    bytes: usize,
    kind: &str,
    entry: Entry,
) -> Result<(), error::Error> {
    if place.is_null() {
        return Err(error::INVALID_VALUE);
    }
    let name = take_name();
    set_name(name.clone());
    allocate(runtime, place, bytes, AllocationKind::Host, entry)?;
    if bytes != 0 {
        // SAFETY: the value was just written.
        let address = unsafe { place.read() } as u64;
        let frames = if runtime.trace.is_on() { capture(entry) } else { Vec::new() };
        let note = HostAllocation { bytes: bytes as u64, kind: kind.into(), name, frames, id: None };
        runtime.host.insert(address, note);
    }
    Ok(())
}

/// Rounds the width of a row up to the pitch; returns the pitch and the size of `rows` rows in bytes.
pub(in crate::api) fn pitched(width: usize, rows: usize) -> Result<(usize, usize), error::Error> {
    let pitch = width.checked_next_multiple_of(PITCH).ok_or(error::INVALID_VALUE)?;
    let bytes = pitch.checked_mul(rows).ok_or(error::MEMORY_ALLOCATION)?;
    Ok((pitch, bytes))
}

/// Allocates in the order of a stream, or adds a node to the stream's capture.
pub(in crate::api) fn allocate_in_order(
    runtime: &mut Runtime,
    place: *mut *mut c_void,
    bytes: usize,
    stream: StreamHandle,
    entry: Entry,
) -> Result<(), error::Error> {
    if runtime.captures.find(stream as usize).is_some() {
        // SAFETY: by the contract of the calling API function.
        return unsafe { super::graph_allocations::capture_allocation(runtime, place, bytes, stream, entry) };
    }
    allocate(runtime, place, bytes, AllocationKind::Async, entry)?;
    // SAFETY: the pointer is not null, and the value was just written.
    let address = unsafe { place.read() } as u64;
    runtime.pools.gave(runtime.pools.current(), address, &runtime.memory.registry);
    Ok(())
}

/// Frees in the order of a stream.
pub(in crate::api) fn free_in_order(
    runtime: &mut Runtime,
    pointer: *mut c_void,
    stream: StreamHandle,
    entry: Entry,
) -> Result<(), error::Error> {
    if runtime.captures.find(stream as usize).is_some() {
        return super::graph_allocations::capture_free(runtime, pointer as u64, stream);
    }
    runtime.free(pointer as u64, DEVICE_KINDS, entry)
}

/// Makes host memory accessible to kernels.
pub(in crate::api) fn register(
    runtime: &mut Runtime,
    pointer: *mut c_void,
    bytes: usize,
    flags: c_uint,
    entry: Entry,
) -> Result<(), error::Error> {
    if pointer.is_null() || bytes == 0 || flags & !HOST_REGISTER_FLAGS != 0 {
        return Err(error::INVALID_VALUE);
    }
    let (first, last) = (pointer as u64, pointer as u64 + bytes as u64 - 1);
    if runtime.memory.registry.find(first).or_else(|| runtime.memory.registry.find(last)).is_some() {
        return Err(error::HOST_MEMORY_ALREADY_REGISTERED);
    }
    let noted = runtime.host_allocation(first);
    let name = take_name().or_else(|| runtime.host.find(first).and_then(|live| live.name.clone()));
    let path = runtime.path(entry);
    let what = Description { kind: AllocationKind::Registered, name, path };
    let live = runtime.memory.register(first, bytes as u64, what).map_err(memory_error)?;
    let event = Allocation {
        id: live.id,
        kind: live.kind,
        address: live.address,
        bytes: live.bytes,
        name: live.name.clone(),
        path,
        global: None,
    };
    let _ = noted;
    runtime.trace.event(Event::Allocation(event));
    Ok(())
}

/// Ends the registration of host memory.
pub(in crate::api) fn unregister(
    runtime: &mut Runtime,
    pointer: *mut c_void,
    entry: Entry,
) -> Result<(), error::Error> {
    runtime.free(pointer as u64, &[AllocationKind::Registered], entry).map_err(|_| error::HOST_MEMORY_NOT_REGISTERED)
}

api! {
    /// Allocates device memory. A size of zero returns a null pointer and no error.
    fn cudaMalloc(place: *mut *mut c_void, bytes: usize) |runtime, entry| => crate::gpu::calls::malloc {
        allocate(runtime, place, bytes, AllocationKind::Malloc, entry)
    }

    /// Allocates device memory in stream order, which is program order here.
    fn cudaMallocAsync(place: *mut *mut c_void, bytes: usize, stream: StreamHandle) |runtime, entry| => crate::gpu::calls::malloc_async {
        runtime.streams.get(stream as usize)?;
        allocate_in_order(runtime, place, bytes, stream, entry)
    }

    /// Allocates managed memory.
    fn cudaMallocManaged(place: *mut *mut c_void, bytes: usize, flags: c_uint) |runtime, entry| => crate::gpu::calls::malloc_managed {
        if bytes == 0 || !ATTACH.contains(&flags) {
            return Err(error::INVALID_VALUE);
        }
        allocate(runtime, place, bytes, AllocationKind::Managed, entry)
    }

    /// Allocates rows of `width` bytes with a pitch that is suitable for the device.
    fn cudaMallocPitch(place: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) |runtime, entry| => crate::gpu::calls::malloc_pitch {
        let (row, bytes) = pitched(width, height)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(pitch, row)? };
        allocate(runtime, place, bytes, AllocationKind::Pitch, entry)
    }

    /// Allocates slices of rows with a pitch that is suitable for the device.
    fn cudaMalloc3D(place: *mut PitchedPtr, extent: Extent) |runtime, entry| {
        let rows = extent.height.checked_mul(extent.depth).ok_or(error::MEMORY_ALLOCATION)?;
        let (pitch, bytes) = pitched(extent.width, rows)?;
        let mut pointer = std::ptr::null_mut();
        allocate(runtime, &raw mut pointer, bytes, AllocationKind::Pitch, entry)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(place, PitchedPtr { pointer, pitch, x_size: extent.width, y_size: extent.height }) }
    }

    /// Frees device memory. Null is not an error; any other pointer that is not the start of a live allocation is an
    /// error.
    fn cudaFree(pointer: *mut c_void) |runtime, entry| => crate::gpu::calls::free {
        runtime.synchronise();
        if pointer.is_null() { Ok(()) } else { runtime.free(pointer as u64, DEVICE_KINDS, entry) }
    }

    /// Frees device memory in stream order.
    fn cudaFreeAsync(pointer: *mut c_void, stream: StreamHandle) |runtime, entry| => crate::gpu::calls::free_async {
        runtime.streams.get(stream as usize)?;
        if pointer.is_null() { Ok(()) } else { free_in_order(runtime, pointer, stream, entry) }
    }

    /// Allocates pinned host memory.
    fn cudaMallocHost(place: *mut *mut c_void, bytes: usize) |runtime, entry| => crate::gpu::calls::malloc_host {
        allocate_host(runtime, place, bytes, "cudaMallocHost", entry)
    }

    /// Allocates pinned host memory.
    fn cudaHostAlloc(place: *mut *mut c_void, bytes: usize, flags: c_uint) |runtime, entry| => crate::gpu::calls::host_alloc {
        if flags & !HOST_ALLOC_FLAGS != 0 {
            return Err(error::INVALID_VALUE);
        }
        allocate_host(runtime, place, bytes, "cudaHostAlloc", entry)
    }

    /// Frees pinned host memory.
    fn cudaFreeHost(pointer: *mut c_void) |runtime, entry| => crate::gpu::calls::free {
        if pointer.is_null() {
            return Ok(());
        }
        runtime.free(pointer as u64, &[AllocationKind::Host], entry)?;
        runtime.host.remove(pointer as u64);
        Ok(())
    }

    /// Makes host memory accessible to kernels.
    fn cudaHostRegister(pointer: *mut c_void, bytes: usize, flags: c_uint) |runtime, entry| => crate::gpu::calls::host_register {
        register(runtime, pointer, bytes, flags, entry)
    }

    /// Ends the registration of host memory.
    fn cudaHostUnregister(pointer: *mut c_void) |runtime, entry| => crate::gpu::calls::free {
        unregister(runtime, pointer, entry)
    }

    /// Returns the address by which kernels access pinned memory; it is the host's own address.
    fn cudaHostGetDevicePointer(place: *mut *mut c_void, pointer: *mut c_void, _flags: c_uint) |runtime, entry| {
        let kinds = [AllocationKind::Host, AllocationKind::Registered, AllocationKind::Managed];
        let known = runtime.memory.registry.find(pointer as u64).is_some_and(|live| kinds.contains(&live.kind));
        let _ = entry;
        if !known {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(place, pointer) }
    }

    /// Returns the flags of an allocation of pinned memory. The result is always "mapped", because unified addressing
    /// maps all pinned memory.
    fn cudaHostGetFlags(flags: *mut c_uint, pointer: *mut c_void) |runtime, entry| {
        let _ = entry;
        let pinned = runtime.memory.registry.find(pointer as u64).is_some_and(|live| live.kind == AllocationKind::Host);
        if !pinned {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(flags, 2) }
    }

    /// Returns the free and the total device memory.
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) |runtime, entry| {
        let _ = entry;
        let (left, all) = runtime.memory.info();
        // SAFETY: by the contract of the API function.
        unsafe {
            put(free, left as usize)?;
            put(total, all as usize)
        }
    }

    /// Returns the attributes of a pointer.
    fn cudaPointerGetAttributes(attributes: *mut PointerAttributes, pointer: *const c_void) |runtime, entry| {
        let _ = entry;
        let (kind, device) = match runtime.memory.registry.find(pointer as u64).map(|live| live.kind) {
            None => (0, -2),
            Some(AllocationKind::Host | AllocationKind::Registered) => (1, 0),
            Some(AllocationKind::Managed | AllocationKind::ManagedGlobal) => (3, 0),
            Some(_) => (2, 0),
        };
        let pointer = pointer.cast_mut();
        let null = std::ptr::null_mut();
        let device_pointer = if kind == 0 { null } else { pointer };
        let host_pointer = if kind == 2 { null } else { pointer };
        // SAFETY: by the contract of the API function.
        unsafe { put(attributes, PointerAttributes { kind, device, device_pointer, host_pointer, reserved: [0; 8] }) }
    }

    /// Moves managed memory ahead of its use. The simulated device does not need this, so the function only checks the
    /// range.
    fn cudaMemPrefetchAsync(
        pointer: *const c_void,
        bytes: usize,
        location: MemLocation,
        flags: c_uint,
        stream: StreamHandle,
    ) |runtime, entry| {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        if flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        check_location(location)?;
        check_managed(runtime, pointer, bytes)
    }

    /// Accepts advice on managed memory, which does not change any result, and checks the range.
    fn cudaMemAdvise(
        pointer: *const c_void,
        bytes: usize,
        advice: c_int,
        location: MemLocation,
    ) |runtime, entry| {
        let _ = entry;
        if !(1..=6).contains(&advice) {
            return Err(error::INVALID_VALUE);
        }
        // For read-mostly advice, the location is ignored.
        if advice > 2 {
            check_location(location)?;
        }
        check_managed(runtime, pointer, bytes)
    }

    /// Attaches managed memory to a stream. This has no effect, because all streams run in program order here.
    fn cudaStreamAttachMemAsync(
        stream: StreamHandle,
        pointer: *mut c_void,
        _bytes: usize,
        flags: c_uint,
    ) |runtime, entry| {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        if ![1, 2, 4].contains(&flags) {
            return Err(error::INVALID_VALUE);
        }
        check_managed(runtime, pointer, 1)
    }
}

/// Checks that a location is device 0, the host, or a NUMA node of the host.
pub(in crate::api) fn check_location(location: MemLocation) -> Result<(), error::Error> {
    match location.kind {
        1 if location.id == 0 => Ok(()),
        1 => Err(error::INVALID_DEVICE),
        2..=4 => Ok(()),
        _ => Err(error::INVALID_VALUE),
    }
}

pub(in crate::api) fn check_managed(
    runtime: &Runtime,
    pointer: *const c_void,
    bytes: usize,
) -> Result<(), error::Error> {
    let live = runtime.memory.registry.find(pointer as u64).ok_or(error::INVALID_VALUE)?;
    let managed = matches!(live.kind, AllocationKind::Managed | AllocationKind::ManagedGlobal);
    let fits = bytes != 0 && bytes as u64 <= live.bytes - (pointer as u64 - live.start());
    if managed && fits { Ok(()) } else { Err(error::INVALID_VALUE) }
}

per_thread! {
    cudaMallocAsync_ptsz = cudaMallocAsync, (place: *mut *mut c_void, bytes: usize, stream: StreamHandle) [stream];
    cudaFreeAsync_ptsz = cudaFreeAsync, (pointer: *mut c_void, stream: StreamHandle) [stream];
    cudaMemPrefetchAsync_ptsz = cudaMemPrefetchAsync, (pointer: *const c_void, bytes: usize, location: MemLocation,
        flags: c_uint, stream: StreamHandle) [stream];
    cudaStreamAttachMemAsync_ptsz = cudaStreamAttachMemAsync, (stream: StreamHandle, pointer: *mut c_void,
        bytes: usize, flags: c_uint) [stream];
}
