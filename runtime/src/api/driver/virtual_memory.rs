//! Virtual memory management: reserving addresses, creating memory, and mapping the memory at the addresses.

use super::driver_api;
use crate::api::put;
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::types::MemLocation;
use crate::memory::mapped::Change;
use crate::memory::mappings::{Access, GRANULARITY};
use crate::modules::names::take_name;
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_ulonglong, c_void};
use std::os::fd::{BorrowedFd, IntoRawFd};
use warpline_format::event::{Allocation, Event};

/// `CU_MEM_ALLOCATION_TYPE_PINNED`, `CU_MEM_LOCATION_TYPE_DEVICE`.
const PINNED: c_int = 1;
const ON_DEVICE: c_int = 1;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
const DESCRIPTOR: c_int = 1;

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Properties {
    kind: c_int,
    exported_as: c_int,
    location: MemLocation,
    windows: *mut c_void,
    flags: [u8; 8],
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AccessDescription {
    location: MemLocation,
    flags: c_int,
}

const _: () = assert!(size_of::<Properties>() == 32 && size_of::<AccessDescription>() == 12);

/// Checks that properties request memory of the device, of which there is only one.
fn check(properties: *const Properties) -> Result<(), Error> {
    // SAFETY: the pointer is null or valid by the contract of the calling API function.
    let requested = unsafe { properties.as_ref() }.ok_or(error::INVALID_VALUE)?;
    if requested.kind != PINNED {
        return Err(error::INVALID_VALUE);
    }
    if requested.location.kind != ON_DEVICE {
        crate::output::message::note("cuMemCreate: memory of the host is not supported");
        return Err(error::NOT_SUPPORTED);
    }
    if requested.location.id != 0 {
        return Err(error::INVALID_DEVICE);
    }
    if requested.exported_as & !DESCRIPTOR != 0 {
        return Err(error::NOT_SUPPORTED);
    }
    Ok(())
}

/// Writes the allocations that a mapping has changed to the trace.
fn write_change(runtime: &mut Runtime, change: Change, entry: Entry) {
    let path = runtime.path(entry);
    for live in change.gone {
        runtime.trace.event(Event::Free { id: live.id, path });
    }
    for start in change.new {
        let Some(live) = runtime.memory.registry.at(start) else { continue };
        let event = Allocation {
            id: live.id,
            kind: live.kind,
            address: live.address,
            bytes: live.bytes,
            name: live.name.clone(),
            path: live.path,
            global: None,
        };
        runtime.trace.event(Event::Allocation(event));
    }
}

driver_api! {
    /// Reserves addresses. The addresses that a program requests are ignored.
    fn cuMemAddressReserve(
        place: *mut u64,
        bytes: usize,
        alignment: usize,
        _wanted: u64,
        flags: c_ulonglong,
    ) needs Context |runtime, entry| {
        let _ = entry;
        let name = take_name();
        if place.is_null() || flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        let start = runtime.memory.reserve_addresses(bytes as u64, alignment as u64, name)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(place, start) }
    }

    /// Frees reserved addresses at which no memory is mapped.
    fn cuMemAddressFree(start: u64, bytes: usize) needs Context |runtime, entry| {
        let _ = entry;
        runtime.synchronise();
        runtime.memory.free_addresses(start, bytes as u64)
    }

    /// Creates memory that is not yet mapped.
    fn cuMemCreate(
        handle: *mut u64,
        bytes: usize,
        properties: *const Properties,
        flags: c_ulonglong,
    ) needs Context |runtime, entry| {
        let _ = entry;
        if handle.is_null() || flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        check(properties)?;
        let made = runtime.memory.create(bytes as u64)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(handle, made) }
    }

    /// Releases a handle; the memory stays as long as it is mapped.
    fn cuMemRelease(handle: u64) needs Context |runtime, entry| {
        let _ = entry;
        runtime.memory.release(handle)
    }

    /// Maps memory at addresses.
    fn cuMemMap(
        start: u64,
        bytes: usize,
        offset: usize,
        handle: u64,
        flags: c_ulonglong,
    ) needs Context |runtime, entry| => crate::gpu::driver_calls::map {
        let _ = entry;
        if flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        runtime.memory.map(start, bytes as u64, handle, offset as u64)
    }

    /// Unmaps memory from addresses.
    fn cuMemUnmap(start: u64, bytes: usize) needs Context |runtime, entry| => crate::gpu::driver_calls::unmap {
        runtime.synchronise();
        let path = runtime.path(entry);
        let change = runtime.memory.unmap(start, bytes as u64, path)?;
        write_change(runtime, change, entry);
        Ok(())
    }

    /// Sets the device's access to mapped memory. After this call, the memory is an allocation.
    fn cuMemSetAccess(
        start: u64,
        bytes: usize,
        descriptions: *const AccessDescription,
        count: usize,
    ) needs Context |runtime, entry| {
        if descriptions.is_null() || count == 0 {
            return Err(error::INVALID_VALUE);
        }
        for index in 0..count {
            // SAFETY: the program passes an array of this length.
            let AccessDescription { location, flags } = unsafe { *descriptions.add(index) };
            let access = match flags {
                0 => Access::None,
                1 => Access::Read,
                3 => Access::ReadWrite,
                _ => return Err(error::INVALID_VALUE),
            };
            // Here the host can access all memory that the device can access.
            if location.kind != ON_DEVICE {
                continue;
            }
            if location.id != 0 {
                return Err(error::INVALID_DEVICE);
            }
            let path = runtime.path(entry);
            let change = runtime.memory.allow(start, bytes as u64, access, path)?;
            write_change(runtime, change, entry);
        }
        Ok(())
    }

    /// Returns which access the device has to mapped memory.
    fn cuMemGetAccess(flags: *mut c_ulonglong, location: *const MemLocation, address: u64) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: the pointer is null or valid by the contract.
        let location = unsafe { location.as_ref() }.ok_or(error::INVALID_VALUE)?;
        if location.kind != ON_DEVICE || location.id != 0 {
            return Err(error::INVALID_VALUE);
        }
        let value = match runtime.memory.mappings.access(address)? {
            Access::None => 0,
            Access::Read => 1,
            Access::ReadWrite => 3,
        };
        // SAFETY: by the contract of the API function.
        unsafe { put(flags, value) }
    }

    /// Returns the granularity of sizes and addresses.
    fn cuMemGetAllocationGranularity(
        bytes: *mut usize,
        properties: *const Properties,
        option: c_int,
    ) needs Start |runtime, entry| {
        let _ = (runtime, entry);
        if !(0..=1).contains(&option) {
            return Err(error::INVALID_VALUE);
        }
        check(properties)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(bytes, GRANULARITY as usize) }
    }

    /// Returns the properties of the memory, which is on the device and not compressed.
    fn cuMemGetAllocationPropertiesFromHandle(properties: *mut Properties, handle: u64) needs Context |runtime, entry| {
        let _ = entry;
        runtime.memory.mappings.check(handle)?;
        let location = MemLocation { kind: ON_DEVICE, id: 0 };
        let windows = std::ptr::null_mut();
        let found = Properties { kind: PINNED, exported_as: DESCRIPTOR, location, windows, flags: [0; 8] };
        // SAFETY: by the contract of the API function.
        unsafe { put(properties, found) }
    }

    /// Returns another handle of the memory at an address.
    fn cuMemRetainAllocationHandle(handle: *mut u64, address: *mut c_void) needs Context |runtime, entry| {
        let _ = entry;
        if handle.is_null() {
            return Err(error::INVALID_VALUE);
        }
        let found = runtime.memory.mappings.retain(address as u64)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(handle, found) }
    }

    /// Exports memory as a file descriptor, for another process or for this one.
    fn cuMemExportToShareableHandle(
        place: *mut c_void,
        handle: u64,
        kind: c_int,
        flags: c_ulonglong,
    ) needs Context |runtime, entry| {
        let _ = entry;
        if place.is_null() || flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        if kind != DESCRIPTOR {
            return Err(error::NOT_SUPPORTED);
        }
        let file = runtime.memory.mappings.export(handle)?;
        // SAFETY: the program's pointer for the descriptor is valid.
        unsafe { put(place.cast::<c_int>(), file.into_raw_fd()) }
    }

    /// Imports memory from a file descriptor. The program keeps the descriptor.
    fn cuMemImportFromShareableHandle(handle: *mut u64, descriptor: *mut c_void, kind: c_int) needs Context |runtime, entry| {
        let _ = entry;
        if handle.is_null() {
            return Err(error::INVALID_VALUE);
        }
        if kind != DESCRIPTOR {
            return Err(error::NOT_SUPPORTED);
        }
        let number = c_int::try_from(descriptor as usize).map_err(|_| error::INVALID_VALUE)?;
        // SAFETY: the descriptor is the program's own; for a number that is no descriptor, the copy fails.
        let file = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned().map_err(|_| error::INVALID_VALUE)?;
        let (made, _) = runtime.memory.mappings.import(file)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(handle, made) }
    }
}
