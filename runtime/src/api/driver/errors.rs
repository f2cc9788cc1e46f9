//! The driver's errors and version.

use super::driver_api;
use crate::api::put;
use crate::cuda::error;
use crate::cuda::result;
use crate::cuda::version::VERSION;
use crate::state::contexts;
use std::ffi::{c_char, c_int, c_uint};

driver_api! {
    /// Initializes the driver.
    fn cuInit(flags: c_uint) needs Nothing |runtime, entry| {
        let _ = (runtime, entry);
        if flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        contexts::start();
        Ok(())
    }

    /// Returns the version of the driver.
    fn cuDriverGetVersion(version: *mut c_int) needs Nothing |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        unsafe { put(version, VERSION) }
    }

    /// Starts the recording of launches.
    fn cuProfilerStart() needs Context |runtime, entry| {
        let _ = entry;
        runtime.profiling = true;
        Ok(())
    }

    /// Stops the recording of launches until `cuProfilerStart`.
    fn cuProfilerStop() needs Context |runtime, entry| {
        let _ = entry;
        runtime.profiling = false;
        Ok(())
    }

    /// Returns the name of an error code, or null for an undefined number.
    fn cuGetErrorName(code: error::Error, name: *mut *const c_char) needs Nothing |runtime, entry| {
        let _ = (runtime, entry);
        let found = result::name(code);
        // SAFETY: by the contract of the API function.
        unsafe { put(name, found.map_or(std::ptr::null(), |name| name.as_ptr()))? };
        found.map(|_| ()).ok_or(error::INVALID_VALUE)
    }

    /// Returns the description of an error code, or null for an undefined number.
    fn cuGetErrorString(code: error::Error, text: *mut *const c_char) needs Nothing |runtime, entry| {
        let _ = (runtime, entry);
        let found = result::name(code).map(|_| error::text(code));
        // SAFETY: by the contract of the API function.
        unsafe { put(text, found.map_or(std::ptr::null(), |text| text.as_ptr()))? };
        found.map(|_| ()).ok_or(error::INVALID_VALUE)
    }
}
