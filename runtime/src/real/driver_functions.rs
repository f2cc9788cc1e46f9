//! The NVIDIA driver's own functions, for programs that call them in addition to the runtime's functions.

use super::{emulation, system};
use crate::cuda::error::{self, Error};
use crate::output::message;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

/// Returns a name for the dynamic linker.
pub const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("names of functions have no zeroes inside"),
    }
}

/// Returns the address of a driver function, or 0 if it does not exist. The emulated GPU is linked into the program,
/// and its function is at `emulated`.
pub fn function(name: &'static CStr, emulated: usize) -> usize {
    if emulation::is_linked() {
        return emulated;
    }
    // SAFETY: the library is loaded, and the name is a string.
    library().map_or(0, |library| unsafe { libc::dlsym(library as *mut c_void, name.as_ptr()) } as usize)
}

/// Loads the driver's library permanently and returns it.
fn library() -> Option<usize> {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    // SAFETY: the driver's library may be loaded at any time.
    let library =
        LIBRARY.get_or_init(
            || unsafe { system::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) } as usize
        );
    (*library != 0).then_some(*library)
}

/// Reports that the driver lacks a function.
pub fn missing(name: &str) -> Error {
    message::note_once(format!("the NVIDIA driver has no {name}"));
    error::NOT_SUPPORTED
}
