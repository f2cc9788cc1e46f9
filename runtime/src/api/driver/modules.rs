//! Modules that a program loads while it runs, and the kernels and variables in them. An image is LLVM IR, or the
//! shared object that `warpline-cc --warpline-module` produces from LLVM IR.

use super::driver_api;
use crate::api::attributes::{attributes_of, prefer, set_attribute};
use crate::api::put;
use crate::cuda::error::{self, Error};
use crate::modules::loaded::Handle;
use crate::state::runtime::Runtime;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use warpline_format::carveout::CarveoutPreference;

/// Returns one attribute of a kernel.
pub(super) fn attribute(runtime: &mut Runtime, which: c_int, function: *const c_void) -> Result<c_int, Error> {
    let all = attributes_of(runtime, function)?;
    Ok(match which {
        0 => all.max_threads_per_block,
        1 => all.shared_size_bytes as c_int,
        2 => all.const_size_bytes as c_int,
        3 => all.local_size_bytes as c_int,
        4 => all.num_regs,
        5 => all.ptx_version,
        6 => all.binary_version,
        7 => all.cache_mode_ca,
        8 => all.max_dynamic_shared_size_bytes,
        9 => all.preferred_shmem_carveout,
        _ => return Err(error::INVALID_VALUE),
    })
}

driver_api! {
    /// Loads a module from a file.
    fn cuModuleLoad(module: *mut Handle, path: *const c_char) needs Context |runtime, entry| {
        let _ = entry;
        if path.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: the pointer is a string by the contract.
        let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
        let handle = runtime.load_file(path)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(module, handle) }
    }

    /// Loads a module from an image.
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let handle = unsafe { runtime.load_image(image.cast(), None) }?;
        // SAFETY: by the contract of the API function.
        unsafe { put(module, handle) }
    }

    /// Loads a module from an image; options for the PTX compiler have no effect.
    fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        _count: c_uint,
        _options: *mut c_int,
        _values: *mut *mut c_void,
    ) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let handle = unsafe { runtime.load_image(image.cast(), None) }?;
        // SAFETY: by the contract of the API function.
        unsafe { put(module, handle) }
    }

    /// Unloads a module.
    fn cuModuleUnload(module: Handle) needs Context |runtime, entry| {
        let _ = entry;
        runtime.synchronise();
        runtime.unload(module)
    }

    /// Returns a kernel of a module, by its mangled name.
    fn cuModuleGetFunction(function: *mut usize, module: Handle, name: *const c_char) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        unsafe {
            let found = runtime.loaded_kernel(module, name)?;
            put(function, found)
        }
    }

    /// Returns the number of kernels in a module.
    fn cuModuleGetFunctionCount(count: *mut c_uint, module: Handle) needs Context |runtime, entry| {
        let _ = entry;
        let found = runtime.loaded.get(&module).ok_or(error::INVALID_RESOURCE_HANDLE)?.module;
        // SAFETY: by the contract of the API function.
        unsafe { put(count, runtime.modules[found].kernels().len() as c_uint) }
    }

    /// Returns the address and size of a variable of a module.
    fn cuModuleGetGlobal_v2(
        address: *mut u64,
        bytes: *mut usize,
        module: Handle,
        name: *const c_char,
    ) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract; one of the places may be null.
        unsafe {
            let (start, size) = runtime.loaded_variable(module, name)?;
            if !address.is_null() {
                put(address, start)?;
            }
            if bytes.is_null() { Ok(()) } else { put(bytes, size as usize) }
        }
    }

    /// Returns one attribute of a kernel.
    fn cuFuncGetAttribute(value: *mut c_int, which: c_int, function: *const c_void) needs Context |runtime, entry| {
        let _ = entry;
        let found = attribute(runtime, which, function)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(value, found) }
    }

    /// Returns the mangled name of a kernel.
    fn cuFuncGetName(name: *mut *const c_char, function: *const c_void) needs Context |runtime, entry| {
        let _ = entry;
        let member = runtime.kernel(function)?;
        let text = runtime.modules[member.module].kernels()[member.index].name;
        // SAFETY: by the contract of the API function.
        unsafe { put(name, text) }
    }

    /// Returns that a kernel is loaded, because all kernels are loaded from the start.
    fn cuFuncIsLoaded(state: *mut c_int, function: *const c_void) needs Context |runtime, entry| {
        let _ = entry;
        runtime.kernel(function)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(state, 1) }
    }

    /// Loads a kernel. It does nothing, because all kernels are already loaded.
    fn cuFuncLoad(function: *const c_void) needs Context |runtime, entry| {
        let _ = entry;
        runtime.kernel(function).map(|_| ())
    }

    /// Returns the loading mode, which is `CU_MODULE_EAGER_LOADING`.
    fn cuModuleGetLoadingMode(mode: *mut c_int) needs Start |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { put(mode, 1) }
    }

    /// Sets an attribute of a kernel.
    fn cuFuncSetAttribute(function: *const c_void, which: c_int, value: c_int) needs Context |runtime, entry| {
        let _ = entry;
        set_attribute(runtime, function, which, value)
    }

    /// Sets the preferred division of L1 and shared memory for a kernel; the simulated L1 uses it.
    fn cuFuncSetCacheConfig(function: *const c_void, config: c_int) needs Context |runtime, entry| {
        let _ = entry;
        prefer(runtime, function, CarveoutPreference::from_cache_config(config))
    }
}
