//! Contexts of the driver API. All of them reach the same memory.

use super::driver_api;
use crate::api::device::{limit, only_device};
use crate::api::memory::allocations::DEVICE_KINDS;
use crate::api::put;
use crate::api::streams::PRIORITIES;
use crate::call_paths::Entry;
use crate::cuda::error;
use crate::cuda::version::VERSION;
use crate::state::contexts::{self, PRIMARY};
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_uint, c_void};
use warpline_format::carveout::CarveoutPreference;
use warpline_format::event::AllocationKind;

type Handle = *mut c_void;

/// The flags for scheduling, host mapping, local memory, core dumps and synchronous memory operations. They do not
/// change any result.
const FLAGS: c_uint = 0xff;

fn create(runtime: &mut Runtime, place: *mut Handle, flags: c_uint, device: c_int) -> Result<(), error::Error> {
    only_device(device)?;
    if place.is_null() || flags & !FLAGS != 0 {
        return Err(error::INVALID_VALUE);
    }
    let context = runtime.contexts.create();
    contexts::push(context);
    // SAFETY: by the contract of the calling API function.
    unsafe { put(place, context as Handle) }
}

fn destroy(runtime: &mut Runtime, context: Handle, entry: Entry) -> Result<(), error::Error> {
    let left = runtime.contexts.destroy(context as usize)?;
    if contexts::current() == context as usize {
        contexts::pop();
    }
    runtime.synchronise();
    for address in left {
        let host = runtime.memory.registry.at(address).is_some_and(|live| live.kind == AllocationKind::Host);
        if host {
            runtime.host.remove(address);
        }
        let kinds = if host { &[AllocationKind::Host][..] } else { DEVICE_KINDS };
        runtime.free(address, kinds, entry)?;
    }
    Ok(())
}

driver_api! {
    /// Creates a context and makes it current. Parameters that request a part of the device are ignored.
    fn cuCtxCreate_v4(context: *mut Handle, _parameters: *mut c_void, flags: c_uint, device: c_int) needs Start |runtime, entry|
        => crate::gpu::driver_calls::create_context_v4 {
        let _ = entry;
        create(runtime, context, flags, device)
    }

    /// Creates a context and makes it current.
    fn cuCtxCreate_v2(context: *mut Handle, flags: c_uint, device: c_int) needs Start |runtime, entry|
        => crate::gpu::driver_calls::create_context {
        let _ = entry;
        create(runtime, context, flags, device)
    }

    /// Destroys a context and the allocations that the driver API made in it.
    fn cuCtxDestroy_v2(context: Handle) needs Start |runtime, entry| {
        destroy(runtime, context, entry)
    }

    /// Returns the current context, or null if there is none.
    fn cuCtxGetCurrent(context: *mut Handle) needs Start |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { put(context, contexts::current() as Handle) }
    }

    /// Replaces the current context; null removes it.
    fn cuCtxSetCurrent(context: Handle) needs Start |runtime, entry| {
        let _ = entry;
        if !context.is_null() {
            runtime.contexts.check(context as usize)?;
        }
        contexts::pop();
        if !context.is_null() {
            contexts::push(context as usize);
        }
        Ok(())
    }

    /// Pushes a context on the stack of contexts and makes it current.
    fn cuCtxPushCurrent_v2(context: Handle) needs Start |runtime, entry| {
        let _ = entry;
        runtime.contexts.check(context as usize)?;
        contexts::push(context as usize);
        Ok(())
    }

    /// Pops the current context.
    fn cuCtxPopCurrent_v2(context: *mut Handle) needs Context |runtime, entry| {
        let _ = (runtime, entry);
        let popped = contexts::pop().ok_or(error::DEVICE_UNINITIALIZED)?;
        if context.is_null() {
            return Ok(());
        }
        // SAFETY: the pointer is not null, and it is valid by the contract.
        unsafe { put(context, popped as Handle) }
    }

    /// Returns the current context's device.
    fn cuCtxGetDevice(device: *mut c_int) needs Context |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { put(device, 0) }
    }

    /// Returns the current context's flags.
    fn cuCtxGetFlags(flags: *mut c_uint) needs Context |runtime, entry| {
        let _ = entry;
        let value = runtime.device_flags;
        // SAFETY: by the contract of the API function.
        unsafe { put(flags, value) }
    }

    /// Returns the version of the driver API for which a context was created.
    fn cuCtxGetApiVersion(context: Handle, version: *mut c_uint) needs Start |runtime, entry| {
        let _ = entry;
        if !context.is_null() {
            runtime.contexts.check(context as usize)?;
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(version, VERSION as c_uint) }
    }

    /// Waits for the device. All work is already done; the call prints the output of kernels.
    fn cuCtxSynchronize() needs Context |runtime, entry| {
        let _ = entry;
        runtime.synchronise();
        Ok(())
    }

    /// Sets a limit.
    fn cuCtxSetLimit(which: c_int, value: usize) needs Context |runtime, entry| {
        let _ = entry;
        *limit(runtime, which)? = value as u64;
        runtime.note_limit("cuCtxSetLimit", which, value);
        Ok(())
    }

    /// Returns a limit.
    fn cuCtxGetLimit(value: *mut usize, which: c_int) needs Context |runtime, entry| {
        let _ = entry;
        let found = *limit(runtime, which)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(value, found as usize) }
    }

    /// Sets the preferred division of L1 and shared memory for kernels without a preference of their own.
    fn cuCtxSetCacheConfig(config: c_int) needs Context |runtime, entry| {
        let _ = entry;
        runtime.carveout = CarveoutPreference::from_cache_config(config).ok_or(error::INVALID_VALUE)?;
        Ok(())
    }

    /// Returns the preferred division of L1 and shared memory.
    fn cuCtxGetCacheConfig(config: *mut c_int) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        unsafe { put(config, runtime.carveout.cache_config()) }
    }

    /// Returns the range of stream priorities.
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) needs Context |runtime, entry| {
        let _ = (runtime, entry);
        let (low, high) = PRIORITIES;
        // SAFETY: each pointer is null, which CUDA allows, or valid.
        unsafe {
            if !least.is_null() {
                put(least, low)?;
            }
            if greatest.is_null() { Ok(()) } else { put(greatest, high) }
        }
    }

    /// Retains the runtime's context, which stays until the program has released it as often.
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(context, PRIMARY as Handle)? };
        runtime.contexts.retained += 1;
        Ok(())
    }

    /// Releases the runtime's context. Its contents stay, because the runtime API may continue to use them.
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        let retained = &mut runtime.contexts.retained;
        *retained = retained.checked_sub(1).ok_or(error::DEVICE_UNINITIALIZED)?;
        Ok(())
    }

    /// Returns the flags of the runtime's context, and whether it is in use.
    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        let in_use = runtime.contexts.retained > 0 || contexts::current() == PRIMARY;
        let value = runtime.device_flags;
        // SAFETY: by the contract of the API function.
        unsafe {
            put(flags, value)?;
            put(active, c_int::from(in_use))
        }
    }

    /// Sets the flags of the runtime's context.
    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        if flags & !FLAGS != 0 {
            return Err(error::INVALID_VALUE);
        }
        runtime.device_flags = flags;
        Ok(())
    }
}
