//! Errors, versions, and the profiler's switches.

use super::api;
use crate::cuda::error::{self, Error};
use crate::cuda::version::VERSION;
use crate::state::runtime::last_error;
use std::ffi::{c_char, c_int};

/// Returns the thread's last error and clears it, unless the error is one after which every call fails.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> Error {
    if crate::real::active() {
        return crate::gpu::forward!(cudaGetLastError, ());
    }
    last_error(true)
}

/// Returns the thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> Error {
    if crate::real::active() {
        return crate::gpu::forward!(cudaPeekAtLastError, ());
    }
    last_error(false)
}

/// Name of an error code.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(code: Error) -> *const c_char {
    error::name(code).as_ptr()
}

/// Text of an error code.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(code: Error) -> *const c_char {
    error::text(code).as_ptr()
}

api! {
    /// Version of the driver, which is the runtime's.
    fn cudaDriverGetVersion(version: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract.
        unsafe { super::put(version, VERSION) }
    }

    /// Version of the runtime.
    fn cudaRuntimeGetVersion(version: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract.
        unsafe { super::put(version, VERSION) }
    }

    /// Launches are traced again.
    fn cudaProfilerStart() |runtime, entry| => crate::gpu::calls::profiler_start {
        let _ = entry;
        runtime.profiling = true;
        Ok(())
    }

    /// Launches are not traced until `cudaProfilerStart`.
    fn cudaProfilerStop() |runtime, entry| => crate::gpu::calls::profiler_stop {
        let _ = entry;
        runtime.profiling = false;
        Ok(())
    }
}
