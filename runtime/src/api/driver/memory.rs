//! Allocation by the driver API: recorded like allocations by the runtime API.

use super::driver_api;
use crate::api::memory::allocations::{
    ATTACH, DEVICE_KINDS, HOST_ALLOC_FLAGS, allocate, allocate_host, check_managed, pitched, register, unregister,
};
use crate::api::{per_thread, put};
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::types::StreamHandle;
use crate::state::contexts::PRIMARY;
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_uint, c_void};
use warpline_format::event::AllocationKind;

/// The element sizes in bytes for which rows of a pitched allocation may be aligned.
const ELEMENTS: [c_uint; 3] = [4, 8, 16];

/// Allocates in the current context. Unlike the runtime's functions, it returns an error for zero bytes.
fn allocate_here(
    runtime: &mut Runtime,
    place: *mut *mut c_void,
    bytes: usize,
    kind: AllocationKind,
    entry: Entry,
) -> Result<(), Error> {
    if bytes == 0 {
        return Err(error::INVALID_VALUE);
    }
    match kind {
        AllocationKind::Host => allocate_host(runtime, place, bytes, "cuMemAllocHost", entry)?,
        _ => allocate(runtime, place, bytes, kind, entry)?,
    }
    // SAFETY: the pointer is not null, and the value behind it was just written.
    runtime.contexts.allocated(unsafe { place.read() } as u64);
    Ok(())
}

fn free_here(runtime: &mut Runtime, pointer: *mut c_void, kinds: &[AllocationKind], entry: Entry) -> Result<(), Error> {
    runtime.synchronise();
    if pointer.is_null() {
        return Err(error::INVALID_VALUE);
    }
    runtime.free(pointer as u64, kinds, entry)?;
    runtime.contexts.freed(pointer as u64);
    Ok(())
}

driver_api! {
    /// Returns the free and the total device memory.
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) needs Context |runtime, entry| {
        let _ = entry;
        let (left, all) = runtime.memory.info();
        // SAFETY: by the contract of the API function.
        unsafe {
            put(free, left as usize)?;
            put(total, all as usize)
        }
    }

    /// Allocates device memory.
    fn cuMemAlloc_v2(place: *mut *mut c_void, bytes: usize) needs Context |runtime, entry| => crate::gpu::calls::malloc {
        allocate_here(runtime, place, bytes, AllocationKind::Malloc, entry)
    }

    /// Allocates rows with a pitch that is suitable for the device.
    fn cuMemAllocPitch_v2(
        place: *mut *mut c_void,
        pitch: *mut usize,
        width: usize,
        height: usize,
        element: c_uint,
    ) needs Context |runtime, entry| => crate::gpu::driver_calls::alloc_pitch {
        if !ELEMENTS.contains(&element) {
            return Err(error::INVALID_VALUE);
        }
        let (row, bytes) = pitched(width, height)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(pitch, row)? };
        allocate_here(runtime, place, bytes, AllocationKind::Pitch, entry)
    }

    /// Allocates managed memory.
    fn cuMemAllocManaged(place: *mut *mut c_void, bytes: usize, flags: c_uint) needs Context |runtime, entry| => crate::gpu::calls::malloc_managed {
        if !ATTACH.contains(&flags) {
            return Err(error::INVALID_VALUE);
        }
        allocate_here(runtime, place, bytes, AllocationKind::Managed, entry)
    }

    /// Frees device memory.
    fn cuMemFree_v2(pointer: *mut c_void) needs Context |runtime, entry| => crate::gpu::calls::free {
        free_here(runtime, pointer, DEVICE_KINDS, entry)
    }

    /// Allocates device memory in stream order, which is program order here.
    fn cuMemAllocAsync(place: *mut *mut c_void, bytes: usize, stream: StreamHandle) needs Context |runtime, entry| => crate::gpu::calls::malloc_async {
        runtime.streams.get(stream as usize)?;
        if bytes == 0 {
            return Err(error::INVALID_VALUE);
        }
        crate::api::memory::allocations::allocate_in_order(runtime, place, bytes, stream, entry)
    }

    /// Frees device memory in stream order.
    fn cuMemFreeAsync(pointer: *mut c_void, stream: StreamHandle) needs Context |runtime, entry| => crate::gpu::calls::free_async {
        runtime.streams.get(stream as usize)?;
        if pointer.is_null() {
            return Err(error::INVALID_VALUE);
        }
        crate::api::memory::allocations::free_in_order(runtime, pointer, stream, entry)?;
        runtime.contexts.freed(pointer as u64);
        Ok(())
    }

    /// Allocates pinned host memory.
    fn cuMemAllocHost_v2(place: *mut *mut c_void, bytes: usize) needs Context |runtime, entry| => crate::gpu::calls::malloc_host {
        allocate_here(runtime, place, bytes, AllocationKind::Host, entry)
    }

    /// Allocates pinned host memory.
    fn cuMemHostAlloc(place: *mut *mut c_void, bytes: usize, flags: c_uint) needs Context |runtime, entry| => crate::gpu::calls::host_alloc {
        if flags & !HOST_ALLOC_FLAGS != 0 {
            return Err(error::INVALID_VALUE);
        }
        allocate_here(runtime, place, bytes, AllocationKind::Host, entry)
    }

    /// Frees pinned host memory.
    fn cuMemFreeHost(pointer: *mut c_void) needs Context |runtime, entry| => crate::gpu::calls::free {
        free_here(runtime, pointer, &[AllocationKind::Host], entry)?;
        runtime.host.remove(pointer as u64);
        Ok(())
    }

    /// Makes host memory accessible to kernels.
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint) needs Context |runtime, entry| => crate::gpu::calls::host_register {
        register(runtime, pointer, bytes, flags, entry)
    }

    /// Ends the registration of host memory.
    fn cuMemHostUnregister(pointer: *mut c_void) needs Context |runtime, entry| => crate::gpu::calls::free {
        unregister(runtime, pointer, entry)
    }

    /// Returns the address by which kernels access pinned memory; it is the host's own address.
    fn cuMemHostGetDevicePointer_v2(place: *mut *mut c_void, pointer: *mut c_void, flags: c_uint) needs Context |runtime, entry| {
        let _ = entry;
        let kinds = [AllocationKind::Host, AllocationKind::Registered, AllocationKind::Managed];
        let known = runtime.memory.registry.find(pointer as u64).is_some_and(|live| kinds.contains(&live.kind));
        if !known || flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(place, pointer) }
    }

    /// Returns the flags of an allocation of pinned memory. The result is `CU_MEMHOSTALLOC_DEVICEMAP`, because unified
    /// addressing maps all pinned memory.
    fn cuMemHostGetFlags(flags: *mut c_uint, pointer: *mut c_void) needs Context |runtime, entry| {
        let _ = entry;
        let live = runtime.memory.registry.find(pointer as u64).ok_or(error::INVALID_VALUE)?;
        if live.kind != AllocationKind::Host {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(flags, 2) }
    }

    /// Returns the start and the size of the allocation that contains an address.
    fn cuMemGetAddressRange_v2(start: *mut u64, bytes: *mut usize, pointer: *mut c_void) needs Context |runtime, entry| {
        let _ = entry;
        let live = runtime.memory.registry.find(pointer as u64).ok_or(error::SYMBOL_NOT_FOUND)?;
        // SAFETY: the pointer is null, which CUDA allows, or valid.
        unsafe {
            if !start.is_null() {
                put(start, live.start())?;
            }
            if bytes.is_null() { Ok(()) } else { put(bytes, live.bytes as usize) }
        }
    }

    /// Returns an attribute of a pointer: context, memory type, addresses, whether it is managed, device or range.
    fn cuPointerGetAttribute(data: *mut c_void, which: c_int, pointer: *mut c_void) needs Start |runtime, entry| {
        let _ = entry;
        let live = runtime.memory.registry.find(pointer as u64).ok_or(error::INVALID_VALUE)?;
        let managed = matches!(live.kind, AllocationKind::Managed | AllocationKind::ManagedGlobal);
        let host = matches!(live.kind, AllocationKind::Host | AllocationKind::Registered);
        // SAFETY: `data` has the attribute's type by the contract.
        unsafe {
            match which {
                1 => put(data.cast(), PRIMARY),
                // CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE
                2 => put::<c_uint>(data.cast(), if host { 1 } else { 2 }),
                3 => put(data.cast(), pointer as u64),
                4 if host || managed => put(data.cast(), pointer as u64),
                8 => put(data.cast(), u8::from(managed)),
                9 => put::<c_int>(data.cast(), 0),
                11 => put(data.cast(), live.start()),
                12 => put(data.cast(), live.bytes as usize),
                // Whether memory backs the address.
                13 => put(data.cast(), 1u8),
                _ => Err(error::INVALID_VALUE),
            }
        }
    }

    /// Moves managed memory ahead of its use. The simulated device does not need this, so the function only checks the
    /// range.
    fn cuMemPrefetchAsync_v2(
        pointer: *const c_void,
        bytes: usize,
        location: crate::cuda::types::MemLocation,
        flags: c_uint,
        stream: StreamHandle,
    ) needs Context |runtime, entry| {
        let _ = entry;
        runtime.streams.get(stream as usize)?;
        if flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        crate::api::memory::allocations::check_location(location)?;
        check_managed(runtime, pointer, bytes)
    }
}

per_thread! {
    cuMemAllocAsync_ptsz = cuMemAllocAsync, (place: *mut *mut c_void, bytes: usize, stream: StreamHandle) [stream];
    cuMemFreeAsync_ptsz = cuMemFreeAsync, (pointer: *mut c_void, stream: StreamHandle) [stream];
    cuMemPrefetchAsync_v2_ptsz = cuMemPrefetchAsync_v2, (pointer: *const c_void, bytes: usize,
        location: crate::cuda::types::MemLocation, flags: c_uint, stream: StreamHandle) [stream];
}
