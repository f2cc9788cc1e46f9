//! The system's `dlopen`: that of a program may lead to the runtime (`api::dlopen`).

use std::ffi::{c_char, c_int, c_void};

type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

/// The system's `dlopen`, which no preloaded library replaces.
///
/// # Safety
/// The requirements of `dlopen` apply.
pub unsafe fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: a name; the function has this type.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"dlopen".as_ptr());
        if found.is_null() {
            return std::ptr::null_mut();
        }
        std::mem::transmute::<*mut c_void, Open>(found)(file, flags)
    }
}
