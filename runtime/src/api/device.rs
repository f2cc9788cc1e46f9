//! The device: one, with the properties of the requested model.

use super::{api, put};
use crate::cuda::error::{self, Error};
use crate::cuda::properties::{attribute, properties};
use crate::cuda::types::DeviceProp;
use crate::state::runtime::{Runtime, call_any, clear_error};
use std::ffi::{c_char, c_int, c_uint};
use warpline_format::carveout::CarveoutPreference;

/// The PCI address that the simulated device reports.
pub(super) const PCI_ADDRESS: &[u8] = b"0000:01:00.0\0";

/// Returns an error for every device number other than 0.
pub(super) fn only_device(device: c_int) -> Result<(), Error> {
    if device == 0 { Ok(()) } else { Err(error::INVALID_DEVICE) }
}

pub(super) fn limit(runtime: &mut Runtime, which: c_int) -> Result<&mut u64, Error> {
    match which {
        0 => Ok(&mut runtime.limits.stack),
        1 => Ok(&mut runtime.limits.printf),
        2 => Ok(&mut runtime.heap.limit),
        3..=6 => Ok(&mut runtime.limits.other[which as usize - 3]),
        _ => Err(error::UNSUPPORTED_LIMIT),
    }
}

api! {
    /// Returns the number of devices, which is one.
    fn cudaGetDeviceCount(count: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { put(count, 1) }
    }

    /// Chooses the device.
    fn cudaSetDevice(device: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        only_device(device)
    }

    /// Initializes the device.
    fn cudaInitDevice(device: c_int, _device_flags: c_uint, _flags: c_uint) |runtime, entry| {
        let _ = (runtime, entry);
        only_device(device)
    }

    /// Returns the current device.
    fn cudaGetDevice(device: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { put(device, 0) }
    }

    /// Returns the device that fits the requested properties best; there is only one.
    fn cudaChooseDevice(device: *mut c_int, wish: *const DeviceProp) |runtime, entry| {
        let _ = (runtime, entry);
        if wish.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(device, 0) }
    }

    /// Sets the devices that may be used.
    fn cudaSetValidDevices(devices: *const c_int, count: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        if count < 0 || (count > 0 && devices.is_null()) {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: the program passes an array of this length.
        (0..count as usize).try_for_each(|index| only_device(unsafe { *devices.add(index) }))
    }

    /// Returns the properties of the device.
    fn cudaGetDeviceProperties(place: *mut DeviceProp, device: c_int) |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(place, properties(&runtime.options.device)) }
    }

    /// Returns one property of the device.
    fn cudaDeviceGetAttribute(value: *mut c_int, which: c_int, device: c_int) |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        let found = attribute(&runtime.options.device, which).ok_or(error::INVALID_VALUE)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(value, found) }
    }

    /// Waits for the device. All work is already done; the call prints the output of kernels.
    fn cudaDeviceSynchronize() |runtime, entry| {
        let _ = entry;
        runtime.synchronise();
        Ok(())
    }

    /// Sets a limit.
    fn cudaDeviceSetLimit(which: c_int, value: usize) |runtime, entry| {
        let _ = entry;
        *limit(runtime, which)? = value as u64;
        runtime.note_limit("cudaDeviceSetLimit", which, value);
        Ok(())
    }

    /// Returns a limit.
    fn cudaDeviceGetLimit(value: *mut usize, which: c_int) |runtime, entry| {
        let _ = entry;
        let found = *limit(runtime, which)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(value, found as usize) }
    }

    /// Sets the preferred division of L1 and shared memory for kernels without a preference of their own.
    fn cudaDeviceSetCacheConfig(config: c_int) |runtime, entry| {
        let _ = entry;
        runtime.carveout = CarveoutPreference::from_cache_config(config).ok_or(error::INVALID_VALUE)?;
        Ok(())
    }

    /// Returns the preferred division of L1 and shared memory.
    fn cudaDeviceGetCacheConfig(config: *mut c_int) |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        unsafe { put(config, runtime.carveout.cache_config()) }
    }

    /// Accepts a preference for shared memory banks, which newer GPUs ignore as well.
    fn cudaDeviceSetSharedMemConfig(config: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        if (0..=2).contains(&config) { Ok(()) } else { Err(error::INVALID_VALUE) }
    }

    /// Returns the width of shared memory banks, which is four bytes.
    fn cudaDeviceGetSharedMemConfig(config: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { put(config, 1) }
    }

    /// Returns the range of stream priorities.
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        let (low, high) = super::streams::PRIORITIES;
        // SAFETY: the pointers are null or valid; CUDA allows null here.
        unsafe {
            if !least.is_null() {
                put(least, low)?;
            }
            if greatest.is_null() { Ok(()) } else { put(greatest, high) }
        }
    }

    /// Returns the device's PCI address.
    fn cudaDeviceGetPCIBusId(text: *mut c_char, length: c_int, device: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        only_device(device)?;
        if text.is_null() || (length as usize) < PCI_ADDRESS.len() || length < 0 {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: the program's buffer is long enough.
        unsafe { std::ptr::copy_nonoverlapping(PCI_ADDRESS.as_ptr(), text.cast(), PCI_ADDRESS.len()) };
        Ok(())
    }

    /// Returns the device at a PCI address.
    fn cudaDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char) |runtime, entry| {
        let _ = (runtime, entry);
        if text.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: the pointer is a string by the contract.
        let wanted = unsafe { std::ffi::CStr::from_ptr(text) };
        if wanted.to_bytes_with_nul() != PCI_ADDRESS {
            return Err(error::INVALID_DEVICE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(device, 0) }
    }

    /// Sets flags that control how the host waits for the device; they do not change any result.
    fn cudaSetDeviceFlags(flags: c_uint) |runtime, entry| {
        let _ = entry;
        if flags & !0xff != 0 {
            return Err(error::INVALID_VALUE);
        }
        runtime.device_flags = flags;
        Ok(())
    }

    /// Returns the flags of the device.
    fn cudaGetDeviceFlags(flags: *mut c_uint) |runtime, entry| {
        let _ = entry;
        let value = runtime.device_flags;
        // SAFETY: by the contract of the API function.
        unsafe { put(flags, value) }
    }

    /// Returns that a device cannot access the memory of another, because there is only one device.
    fn cudaDeviceCanAccessPeer(answer: *mut c_int, device: c_int, peer: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        only_device(device)?;
        only_device(peer)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(answer, 0) }
    }

    /// Returns an attribute of the link between two devices; fails because there is only one device.
    fn cudaDeviceGetP2PAttribute(_value: *mut c_int, _which: c_int, _from: c_int, _to: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        Err(error::INVALID_DEVICE)
    }

    /// Enables access to another device's memory; fails because there is only one device.
    fn cudaDeviceEnablePeerAccess(_peer: c_int, _flags: c_uint) |runtime, entry| {
        let _ = (runtime, entry);
        Err(error::INVALID_DEVICE)
    }

    /// Disables access to another device's memory; fails because access was never enabled.
    fn cudaDeviceDisablePeerAccess(_peer: c_int) |runtime, entry| {
        let _ = (runtime, entry);
        Err(error::PEER_ACCESS_NOT_ENABLED)
    }

    /// Resets the persisting lines of L2.
    fn cudaCtxResetPersistingL2Cache() |runtime, entry| {
        let _ = (runtime, entry);
        Ok(())
    }
}

/// Ends all work on the device, frees its allocations, and clears a sticky error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceReset() -> Error {
    if crate::real::active() {
        // A reset would also free the rings, and later launches could not be recorded.
        crate::output::message::note_once(
            "cudaDeviceReset: the device is kept, so that later launches can be recorded".into(),
        );
        return crate::gpu::forward!(cudaDeviceSynchronize, ());
    }
    let here = 0u8;
    let entry = crate::call_paths::Entry::new(std::hint::black_box(&here));
    let code = call_any(|runtime| {
        runtime.synchronise();
        runtime.reset(entry);
        Ok(())
    });
    clear_error();
    code
}
