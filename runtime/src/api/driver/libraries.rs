//! Libraries of the driver API: modules that need no context, and their kernels. A library has the handle of its
//! module, and a kernel has the handle of its function.

use super::driver_api;
use super::modules::attribute;
use crate::api::attributes::{prefer, set_attribute};
use crate::api::device::only_device;
use crate::api::put;
use crate::cuda::error;
use crate::modules::loaded::Handle;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use warpline_format::carveout::CarveoutPreference;

driver_api! {
    /// Loads a library from an image; options for the PTX compiler have no effect.
    fn cuLibraryLoadData(
        library: *mut Handle,
        image: *const c_void,
        _options: *mut c_int,
        _values: *mut *mut c_void,
        _count: c_uint,
        _library_options: *mut c_int,
        _library_values: *mut *mut c_void,
        _library_count: c_uint,
    ) needs Start |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let handle = unsafe { runtime.load_image(image.cast(), None) }?;
        // SAFETY: by the contract of the API function.
        unsafe { put(library, handle) }
    }

    /// Loads a library from a file.
    fn cuLibraryLoadFromFile(
        library: *mut Handle,
        path: *const c_char,
        _options: *mut c_int,
        _values: *mut *mut c_void,
        _count: c_uint,
        _library_options: *mut c_int,
        _library_values: *mut *mut c_void,
        _library_count: c_uint,
    ) needs Start |runtime, entry| {
        let _ = entry;
        if path.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: the pointer is a string by the contract.
        let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
        let handle = runtime.load_file(path)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(library, handle) }
    }

    /// Unloads a library.
    fn cuLibraryUnload(library: Handle) needs Start |runtime, entry| {
        let _ = entry;
        runtime.synchronise();
        runtime.unload(library)
    }

    /// Returns a kernel of a library, by its mangled name.
    fn cuLibraryGetKernel(kernel: *mut usize, library: Handle, name: *const c_char) needs Start |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        unsafe {
            let found = runtime.loaded_kernel(library, name)?;
            put(kernel, found)
        }
    }

    /// Returns the number of kernels in a library.
    fn cuLibraryGetKernelCount(count: *mut c_uint, library: Handle) needs Start |runtime, entry| {
        let _ = entry;
        let found = runtime.loaded.get(&library).ok_or(error::INVALID_RESOURCE_HANDLE)?.module;
        // SAFETY: by the contract of the API function.
        unsafe { put(count, runtime.modules[found].kernels().len() as c_uint) }
    }

    /// Returns a library's module in the current context.
    fn cuLibraryGetModule(module: *mut Handle, library: Handle) needs Context |runtime, entry| {
        let _ = entry;
        runtime.loaded.get(&library).ok_or(error::INVALID_RESOURCE_HANDLE)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(module, library) }
    }

    /// Returns the address and size of a variable of a library.
    fn cuLibraryGetGlobal(
        address: *mut u64,
        bytes: *mut usize,
        library: Handle,
        name: *const c_char,
    ) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract; one of the places may be null.
        unsafe {
            let (start, size) = runtime.loaded_variable(library, name)?;
            if !address.is_null() {
                put(address, start)?;
            }
            if bytes.is_null() { Ok(()) } else { put(bytes, size as usize) }
        }
    }

    /// Returns a kernel's function in the current context.
    fn cuKernelGetFunction(function: *mut *const c_void, kernel: *const c_void) needs Context |runtime, entry| {
        let _ = entry;
        runtime.kernel(kernel)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(function, kernel) }
    }

    /// Returns the mangled name of a kernel.
    fn cuKernelGetName(name: *mut *const c_char, kernel: *const c_void) needs Start |runtime, entry| {
        let _ = entry;
        let member = runtime.kernel(kernel)?;
        let text = runtime.modules[member.module].kernels()[member.index].name;
        // SAFETY: by the contract of the API function.
        unsafe { put(name, text) }
    }

    /// Returns one attribute of a kernel.
    fn cuKernelGetAttribute(
        value: *mut c_int,
        which: c_int,
        kernel: *const c_void,
        device: c_int,
    ) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        let found = attribute(runtime, which, kernel)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(value, found) }
    }

    /// Sets an attribute of a kernel.
    fn cuKernelSetAttribute(which: c_int, value: c_int, kernel: *const c_void, device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        set_attribute(runtime, kernel, which, value)
    }

    /// Sets the preferred division of L1 and shared memory for a kernel; the simulated L1 uses it.
    fn cuKernelSetCacheConfig(kernel: *const c_void, config: c_int, device: c_int) needs Start |runtime, entry| {
        let _ = entry;
        only_device(device)?;
        prefer(runtime, kernel, CarveoutPreference::from_cache_config(config))
    }
}
