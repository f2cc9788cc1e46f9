//! The system's `dlopen`. A program's call of `dlopen` may go to the runtime instead (`api::dlopen`).

use std::ffi::{c_char, c_int, c_void};

type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

/// Calls the system's `dlopen`, which no preloaded library replaces.
///
/// # Safety
/// The requirements of `dlopen` apply.
pub unsafe fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the name is a string, and the function has this type.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"dlopen".as_ptr());
        if found.is_null() {
            return std::ptr::null_mut();
        }
        std::mem::transmute::<*mut c_void, Open>(found)(file, flags)
    }
}
