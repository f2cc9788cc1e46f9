//! Programs that load CUDA's libraries themselves instead of linking with them. The runtime is already in the program,
//! so a request for such a library returns the program itself. When `warpline-cc` links, it redirects calls of `dlopen`
//! to this file with the linker's `--wrap`, except in links that contain code for GPUs. Calls within libraries that
//! other tools linked are not redirected.

use crate::output::message;
use crate::real::system;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

/// Names of the libraries that the runtime replaces, up to the first dot of the file name.
const OURS: [&str; 4] = ["libcuda", "libcudart", "libnvrtc", "libnvrtc-builtins"];

/// Libraries that exist on GPUs only. A program may work without them and try several versions, so each library is
/// reported once.
const ABSENT: [&str; 11] = [
    "libcublas",
    "libcublasLt",
    "libcudnn",
    "libcufft",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libcusparseLt",
    "libcupti",
    "libnccl",
    "libnvJitLink",
];

/// Returns the name of a library without its folder and version.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.').next().unwrap_or(name)
}

/// Replaces the program's calls of `dlopen`.
///
/// # Safety
/// The requirements of `dlopen` apply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    if file.is_null() {
        // SAFETY: the caller fulfils the contract.
        return unsafe { system::dlopen(file, flags) };
    }
    // SAFETY: the pointer is a string by the contract.
    let name = unsafe { CStr::from_ptr(file) }.to_string_lossy();
    if OURS.contains(&stem(&name)) {
        // SAFETY: null names the program itself.
        return unsafe { system::dlopen(null(), flags) };
    }
    // SAFETY: the caller fulfils the contract.
    let library = unsafe { system::dlopen(file, flags) };
    if library.is_null() && ABSENT.contains(&stem(&name)) {
        message::note_once(format!("the program loads {}, which the CPU device does not offer", stem(&name)));
    }
    library
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_names() {
        for file in ["libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so", "libnvrtc.so.13", "libcudart.so.13.0.96"] {
            assert!(OURS.contains(&stem(file)), "{file}");
        }
        for file in ["libcudadebugger.so.1", "libcublas.so.13", "cuda.so", "", "libm.so.6"] {
            assert!(!OURS.contains(&stem(file)), "{file}");
        }
    }
}
