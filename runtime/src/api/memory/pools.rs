//! Memory pools.

use crate::api::{api, put};
use crate::cuda::error;
use crate::cuda::types::{MemLocation, StreamHandle};
use crate::state::pools::{Pools, Value};
use std::ffi::{c_int, c_void};
use warpline_format::event::AllocationKind;

/// `cudaMemPool_t`.
type PoolHandle = *mut c_void;

/// `cudaMemAccessFlagsProtReadWrite`.
const READ_AND_WRITE: c_int = 3;

api! {
    /// Returns the device's default pool.
    fn cudaDeviceGetDefaultMemPool(pool: *mut PoolHandle, device: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        crate::api::device::only_device(device)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(pool, Pools::OWN as PoolHandle) }
    }

    /// Returns the pool from which `cudaMallocAsync` allocates.
    fn cudaDeviceGetMemPool(pool: *mut PoolHandle, device: c_int) |runtime, entry| {
        let _ = entry;
        crate::api::device::only_device(device)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(pool, runtime.pools.current() as PoolHandle) }
    }

    /// Sets the pool from which `cudaMallocAsync` allocates.
    fn cudaDeviceSetMemPool(device: c_int, pool: PoolHandle) |runtime, entry| {
        let _ = entry;
        crate::api::device::only_device(device)?;
        runtime.pools.set_current(pool as usize)
    }

    /// Creates a pool. Its properties select the device, of which there is only one, and how the pool is shared with
    /// other processes, which is not supported.
    fn cudaMemPoolCreate(pool: *mut PoolHandle, properties: *const c_void) |runtime, entry| {
        let _ = entry;
        if properties.is_null() || pool.is_null() {
            return Err(error::INVALID_VALUE);
        }
        let handle = runtime.pools.create();
        // SAFETY: by the contract of the API function.
        unsafe { put(pool, handle as PoolHandle) }
    }

    /// Destroys a pool. Its allocations stay valid until they are freed.
    fn cudaMemPoolDestroy(pool: PoolHandle) |runtime, entry| {
        let _ = entry;
        runtime.pools.destroy(pool as usize)
    }

    /// Frees a pool's reserve, which is always empty.
    fn cudaMemPoolTrimTo(pool: PoolHandle, _keep: usize) |runtime, entry| {
        let _ = entry;
        runtime.pools.check(pool as usize)
    }

    /// Returns an attribute of a pool.
    fn cudaMemPoolGetAttribute(pool: PoolHandle, which: c_int, value: *mut c_void) |runtime, entry| {
        let _ = entry;
        let found = runtime.pools.attribute(pool as usize, which, &runtime.memory.registry)?;
        // SAFETY: by the contract, the place has the attribute's own type.
        unsafe {
            match found {
                Value::Switch(found) => put(value.cast(), found),
                Value::Bytes(found) => put(value.cast(), found),
            }
        }
    }

    /// Sets an attribute of a pool.
    fn cudaMemPoolSetAttribute(pool: PoolHandle, which: c_int, value: *mut c_void) |runtime, entry| {
        let _ = entry;
        if value.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract, the place has the attribute's own type.
        let given = unsafe {
            match Pools::form(which)? {
                Value::Switch(_) => Value::Switch(value.cast::<i32>().read()),
                Value::Bytes(_) => Value::Bytes(value.cast::<u64>().read()),
            }
        };
        runtime.pools.set_attribute(pool as usize, which, given, &runtime.memory.registry)
    }

    /// Makes a pool accessible to other devices, of which there are none.
    fn cudaMemPoolSetAccess(pool: PoolHandle, _list: *const c_void, _count: usize) |runtime, entry| {
        let _ = entry;
        runtime.pools.check(pool as usize)
    }

    /// Returns how a device may access a pool: for reading and writing.
    fn cudaMemPoolGetAccess(access: *mut c_int, pool: PoolHandle, _place: *const MemLocation) |runtime, entry| {
        let _ = entry;
        runtime.pools.check(pool as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(access, READ_AND_WRITE) }
    }

    /// Allocates from a pool; the allocation completes before the call returns.
    fn cudaMallocFromPoolAsync(
        place: *mut *mut c_void,
        bytes: usize,
        pool: PoolHandle,
        stream: StreamHandle,
    ) |runtime, entry| {
        runtime.streams.get(stream as usize)?;
        runtime.pools.check(pool as usize)?;
        if runtime.captures.find(stream as usize).is_some() {
            // SAFETY: by the contract of the API function.
            return unsafe { super::graph_allocations::capture_allocation(runtime, place, bytes, stream, entry) };
        }
        super::allocations::allocate(runtime, place, bytes, AllocationKind::Async, entry)?;
        // SAFETY: the pointer is not null, and the value was just written.
        let address = unsafe { place.read() } as u64;
        runtime.pools.gave(pool as usize, address, &runtime.memory.registry);
        Ok(())
    }
}
