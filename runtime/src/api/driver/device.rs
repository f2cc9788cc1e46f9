//! The driver's device functions.

use super::driver_api;
use crate::api::device::{PCI_ADDRESS, only_device};
use crate::api::put;
use crate::cuda::error;
use crate::cuda::properties::{attribute, properties};
use std::ffi::{CStr, c_char, c_int, c_uchar};

driver_api! {
    /// Returns the number of devices, which is one.
    fn cuDeviceGetCount(count: *mut c_int) needs Start |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { put(count, 1) }
    }

    /// Returns the device with a number.
    fn cuDeviceGet(device: *mut c_int, number: c_int) needs Start |runtime, entry| {
        let _ = (runtime, entry);
        only_device(number)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(device, number) }
    }

    /// Returns the device's name, cut to fit.
    fn cuDeviceGetName(text: *mut c_char, length: c_int, device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        if text.is_null() || length <= 0 {
            return Err(error::INVALID_VALUE);
        }
        let name = runtime.options.device.name.as_bytes();
        let shown = name.len().min(length as usize - 1);
        // SAFETY: the program's buffer has `length` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(name.as_ptr(), text.cast(), shown);
            text.add(shown).write(0);
        }
        Ok(())
    }

    /// Returns one property of the device. The property numbers are those of the runtime's attributes.
    fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        let found = attribute(&runtime.options.device, which).ok_or(error::INVALID_VALUE)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(value, found) }
    }

    /// Returns the size of device memory in bytes.
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        let all = runtime.memory.info().1;
        // SAFETY: by the contract of the API function.
        unsafe { put(bytes, all as usize) }
    }

    /// Returns the compute capability.
    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        let (one, two) = runtime.options.device.compute_capability;
        // SAFETY: by the contract of the API function.
        unsafe {
            put(major, one as c_int)?;
            put(minor, two as c_int)
        }
    }

    /// Returns the device's UUID.
    fn cuDeviceGetUuid_v2(uuid: *mut [c_uchar; 16], device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        let found = properties(&runtime.options.device).uuid;
        // SAFETY: by the contract of the API function.
        unsafe { put(uuid, found) }
    }

    /// Returns the device's PCI address.
    fn cuDeviceGetPCIBusId(text: *mut c_char, length: c_int, device: c_int) needs Start |runtime, entry| {
        let _ = (runtime, entry);
        only_device(device)?;
        if text.is_null() || usize::try_from(length).map_or(true, |length| length < PCI_ADDRESS.len()) {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: the program's buffer is long enough.
        unsafe { std::ptr::copy_nonoverlapping(PCI_ADDRESS.as_ptr(), text.cast(), PCI_ADDRESS.len()) };
        Ok(())
    }

    /// Returns the device at a PCI address.
    fn cuDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char) needs Start |runtime, entry| {
        let _ = (runtime, entry);
        if text.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: the pointer is a string by the contract.
        let wanted = unsafe { CStr::from_ptr(text) };
        if wanted.to_bytes_with_nul() != PCI_ADDRESS {
            return Err(error::INVALID_DEVICE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(device, 0) }
    }

    /// Returns that a device cannot access the memory of another, because there is only one device.
    fn cuDeviceCanAccessPeer(answer: *mut c_int, device: c_int, peer: c_int) needs Start |runtime, entry| {
        let _ = (runtime, entry);
        only_device(device)?;
        only_device(peer)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(answer, 0) }
    }
}
