//! The driver's errors and version.

use super::driver_api;
use crate::api::put;
use crate::cuda::error;
use crate::cuda::result;
use crate::cuda::version::VERSION;
use crate::state::contexts;
use std::ffi::{c_char, c_int, c_uint};

driver_api! {
    /// Starts the driver.
    fn cuInit(flags: c_uint) needs Nothing |runtime, entry| {
        let _ = (runtime, entry);
        if flags != 0 {
            return Err(error::INVALID_VALUE);
        }
        contexts::start();
        Ok(())
    }

    /// Version of the driver.
    fn cuDriverGetVersion(version: *mut c_int) needs Nothing |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract.
        unsafe { put(version, VERSION) }
    }

    /// Launches are traced from here on.
    fn cuProfilerStart() needs Context |runtime, entry| {
        let _ = entry;
        runtime.profiling = true;
        Ok(())
    }

    /// Launches are not traced until `cuProfilerStart`.
    fn cuProfilerStop() needs Context |runtime, entry| {
        let _ = entry;
        runtime.profiling = false;
        Ok(())
    }

    /// Name of an error code, null for numbers that are none.
    fn cuGetErrorName(code: error::Error, name: *mut *const c_char) needs Nothing |runtime, entry| {
        let _ = (runtime, entry);
        let found = result::name(code);
        // SAFETY: by the contract.
        unsafe { put(name, found.map_or(std::ptr::null(), |name| name.as_ptr()))? };
        found.map(|_| ()).ok_or(error::INVALID_VALUE)
    }

    /// Text of an error code, null for numbers that are none.
    fn cuGetErrorString(code: error::Error, text: *mut *const c_char) needs Nothing |runtime, entry| {
        let _ = (runtime, entry);
        let found = result::name(code).map(|_| error::text(code));
        // SAFETY: by the contract.
        unsafe { put(text, found.map_or(std::ptr::null(), |text| text.as_ptr()))? };
        found.map(|_| ()).ok_or(error::INVALID_VALUE)
    }
}
