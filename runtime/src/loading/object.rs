//! Shared objects of device modules, loaded into this process.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use warpline_format::abi::{LOADED_DESCRIPTOR, ModuleDescriptor};

/// The reason why an object cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is not enough memory for the object.
    #[error("a device module cannot be kept in memory: {0}")]
    Memory(std::io::Error),
    /// The system's loader refused it.
    #[error(
        "a device module cannot be loaded: {0}. If a name is missing, the runtime must be loaded with RTLD_GLOBAL, or the \
         module was made by another release of Warpline"
    )]
    Loader(String),
    /// It is a shared object without a device module.
    #[error("a shared object that is no device module of warpline-cc's cannot be loaded as one")]
    Foreign,
}

/// Loads an object from memory.
pub fn load_bytes(bytes: &[u8]) -> Result<*const ModuleDescriptor, LoadError> {
    // SAFETY: the name is a string; the returned descriptor belongs to this process.
    let descriptor = unsafe { libc::memfd_create(c"warpline-module".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(LoadError::Memory(std::io::Error::last_os_error()));
    }
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(bytes).map_err(LoadError::Memory)?;
    load_file(&path_of(file.as_raw_fd(), COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// The number of objects that were loaded from memory.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Returns a path to an open file. The system's loader treats a library with a known path as already loaded, and the
/// system reuses the numbers of descriptors. Therefore, each load uses a different path to the same file: `number` is
/// encoded with a single or a double slash for each bit.
fn path_of(descriptor: RawFd, number: u32) -> PathBuf {
    let bits = (0..u32::BITS).map(|bit| if number >> bit & 1 == 0 { "./" } else { ".//" });
    PathBuf::from(format!("/proc/self/fd/{}{descriptor}", bits.collect::<String>()))
}

/// Loads an object, which stays loaded.
pub fn load_file(path: &Path) -> Result<*const ModuleDescriptor, LoadError> {
    share_runtime();
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| LoadError::Foreign)?;
    // SAFETY: the name is a string. Loading runs no code, because the linker adds no initialisation code to objects
    // from warpline-cc.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: after a failure, there is an error text, which this code copies.
        let cause = unsafe { libc::dlerror().as_ref().map(|text| CStr::from_ptr(text).to_string_lossy().into_owned()) };
        return Err(LoadError::Loader(cause.unwrap_or_default()));
    }
    let symbol = CString::new(LOADED_DESCRIPTOR).map_err(|_| LoadError::Foreign)?;
    // SAFETY: the library was just opened, and the symbol is a string.
    let found = unsafe { libc::dlsym(library, symbol.as_ptr()) };
    if found.is_null() { Err(LoadError::Foreign) } else { Ok(found.cast()) }
}

/// Makes the runtime's functions visible to objects that are loaded later. They are not if the runtime belongs to a
/// library that the program loaded for itself, such as a module of Python.
fn share_runtime() {
    static SHARED: Once = Once::new();
    SHARED.call_once(|| {
        let mut known = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        // SAFETY: the call writes one structure. The name that it returns is a string that stays as long as the library
        // is loaded, and `RTLD_NOLOAD` only changes the visibility of a library that is loaded. The name of an
        // executable denotes no library, so nothing happens for it.
        unsafe {
            if libc::dladdr(share_runtime as *const c_void, &raw mut known) != 0 && !known.dli_fname.is_null() {
                libc::dlopen(known.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_GLOBAL);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_in_memory_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = (0..100).map(|number| path_of(3, number).into_os_string()).collect();
        assert_eq!(names.len(), 100);
        let file = File::open("/dev/null").unwrap();
        assert!(path_of(file.as_raw_fd(), 5).canonicalize().unwrap().ends_with("null"));
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(matches!(load_bytes(b"\x7fELF"), Err(LoadError::Loader(_))));
    }
}
