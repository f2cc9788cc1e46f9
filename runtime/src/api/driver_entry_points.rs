//! The driver's functions by their names. Programs that are linked only with the runtime call the driver through them.

use super::driver::entry_points::answer;
use super::per_thread;
use crate::cuda::error::{self, Error};
use crate::cuda::version::VERSION;
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

/// Returns the driver's function with a name, for the runtime's own release.
///
/// # Safety
/// The pointers are a string and a valid place for the address; the status may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDriverEntryPoint(
    name: *const c_char,
    place: *mut *const c_void,
    _flags: c_ulonglong,
    status: *mut c_int,
) -> Error {
    // SAFETY: by the contract of the API function.
    unsafe { answer(name, place, VERSION, status) }
}

/// Returns the driver's function with a name, for a given release.
///
/// # Safety
/// The pointers are a string and a valid place for the address; the status may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetDriverEntryPointByVersion(
    name: *const c_char,
    place: *mut *const c_void,
    release: c_uint,
    _flags: c_ulonglong,
    status: *mut c_int,
) -> Error {
    let Ok(release) = c_int::try_from(release) else { return error::INVALID_VALUE };
    // SAFETY: by the contract of the API function.
    unsafe { answer(name, place, release, status) }
}

per_thread! {
    cudaGetDriverEntryPoint_ptsz = cudaGetDriverEntryPoint, (name: *const c_char, place: *mut *const c_void,
        flags: c_ulonglong, status: *mut c_int);
    cudaGetDriverEntryPointByVersion_ptsz = cudaGetDriverEntryPointByVersion, (name: *const c_char,
        place: *mut *const c_void, release: c_uint, flags: c_ulonglong, status: *mut c_int);
}
