//! Programs that load CUDA's libraries themselves instead of being linked with them: the runtime is in the program
//! already, so the library that they request is the program itself. Links of `warpline-cc` lead calls of `dlopen` here
//! (the linker's `--wrap`), but for those that carry code for GPUs; calls within libraries that were linked by others
//! are not seen.

use crate::output::message;
use crate::real::system;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

/// What the runtime takes the place of, up to the first dot of a file's name.
const OURS: [&str; 4] = ["libcuda", "libcudart", "libnvrtc", "libnvrtc-builtins"];

/// Libraries that exist on GPUs only. A program may work without them and try several versions, so each is reported
/// once.
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

/// The name of a library, without its folder and version.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.').next().unwrap_or(name)
}

/// Returns the program's `dlopen`.
///
/// # Safety
/// As `dlopen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    if file.is_null() {
        // SAFETY: the contract is the caller's.
        return unsafe { system::dlopen(file, flags) };
    }
    // SAFETY: a string by the contract.
    let name = unsafe { CStr::from_ptr(file) }.to_string_lossy();
    if OURS.contains(&stem(&name)) {
        // SAFETY: the program itself.
        return unsafe { system::dlopen(null(), flags) };
    }
    // SAFETY: the contract is the caller's.
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
