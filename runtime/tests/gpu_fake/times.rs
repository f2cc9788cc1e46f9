//! Events with times and the attributes of kernels, in the fake CUDA runtime.

use std::ffi::{c_int, c_void};

/// The time of every kernel in milliseconds, and its number of registers.
pub const MILLISECONDS: f32 = 1.5;
pub const REGISTERS: i32 = 40;

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaEventCreate(event: *mut *mut c_void) -> c_int {
    unsafe { event.write(0xe000 as _) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaEventSynchronize(event: *mut c_void) -> c_int {
    assert!(!event.is_null());
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaEventElapsedTime(time: *mut f32, begin: *mut c_void, end: *mut c_void) -> c_int {
    assert!(!begin.is_null() && !end.is_null());
    unsafe { time.write(MILLISECONDS) };
    0
}

/// `cudaFuncAttributes` in CUDA's headers begins with three sizes; threads and registers follow.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaFuncGetAttributes(attributes: *mut [i32; 36], _function: *const c_void) -> c_int {
    unsafe {
        (*attributes)[6] = 1024;
        (*attributes)[7] = REGISTERS;
    }
    0
}
