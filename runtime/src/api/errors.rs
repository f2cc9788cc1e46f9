//! Errors, versions, and the profiler's switches.

use super::api;
use crate::cuda::error::{self, Error};
use crate::cuda::version::VERSION;
use crate::state::runtime::last_error;
use std::ffi::{c_char, c_int};

/// Returns the thread's last error and clears it, unless the error is sticky.
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

/// Returns the name of an error code.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(code: Error) -> *const c_char {
    error::name(code).as_ptr()
}

/// Returns the description of an error code.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(code: Error) -> *const c_char {
    error::text(code).as_ptr()
}

api! {
    /// Returns the version of the driver, which is that of the runtime.
    fn cudaDriverGetVersion(version: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { super::put(version, VERSION) }
    }

    /// Returns the version of the runtime.
    fn cudaRuntimeGetVersion(version: *mut c_int) |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { super::put(version, VERSION) }
    }

    /// Starts the recording of launches again.
    fn cudaProfilerStart() |runtime, entry| => crate::gpu::calls::profiler_start {
        let _ = entry;
        runtime.profiling = true;
        Ok(())
    }

    /// Stops the recording of launches until `cudaProfilerStart`.
    fn cudaProfilerStop() |runtime, entry| => crate::gpu::calls::profiler_stop {
        let _ = entry;
        runtime.profiling = false;
        Ok(())
    }
}
