//! The driver's functions by their names, for programs that are not linked with it.

use crate::cuda::error::{self, Error};
use std::ffi::{CStr, c_char, c_int, c_ulonglong, c_void};

/// A driver function that Warpline offers.
pub struct Offered {
    /// Its symbol.
    pub symbol: &'static str,
    /// Its address.
    pub address: *const (),
}

// SAFETY: the pointers are addresses of functions, which any thread may read.
unsafe impl Sync for Offered {}

/// `CUdriverProcAddressQueryResult`.
const FOUND: c_int = 0;
const NOT_FOUND: c_int = 1;
const TOO_OLD: c_int = 2;

/// Functions whose arguments changed: the name in `cuda.h`, and each symbol with the release from which the name refers
/// to it.
const CHANGED: [(&str, &[(c_int, &str)]); 2] = [
    ("cuCtxCreate", &[(13000, "cuCtxCreate_v4"), (3020, "cuCtxCreate_v2")]),
    ("cuGetProcAddress", &[(12000, "cuGetProcAddress_v2"), (11030, "cuGetProcAddress")]),
];

/// Functions that are offered only in a newer form, with the release from which the name refers to that form.
const SINCE: [(&str, c_int); 2] = [("cuMemPrefetchAsync", 12020), ("cuLibraryGetKernelCount", 12040)];

fn all() -> impl Iterator<Item = &'static Offered> {
    super::OFFERED.iter().flat_map(|some| some.iter())
}

fn of_symbol(symbol: &str) -> Option<*const ()> {
    match symbol {
        "cuGetProcAddress" => Some(cuGetProcAddress as *const ()),
        "cuGetProcAddress_v2" => Some(cuGetProcAddress_v2 as *const ()),
        _ => all().find(|function| function.symbol == symbol).map(|function| function.address),
    }
}

/// Returns the function to which a name refers in a CUDA release.
fn find(name: &str, release: c_int) -> Result<*const (), c_int> {
    if let Some((_, forms)) = CHANGED.iter().find(|(changed, _)| *changed == name) {
        let form = forms.iter().find(|(since, _)| release >= *since).ok_or(TOO_OLD)?;
        return of_symbol(form.1).ok_or(NOT_FOUND);
    }
    if SINCE.iter().any(|(newer, since)| *newer == name && release < *since) {
        return Err(TOO_OLD);
    }
    let versions = (2..=4).rev().map(|version| format!("{name}_v{version}"));
    versions.chain([name.to_owned()]).find_map(|symbol| of_symbol(&symbol)).ok_or(NOT_FOUND)
}

/// # Safety
/// Pointers are null, or valid as the functions below require.
pub(in crate::api) unsafe fn answer(
    name: *const c_char,
    place: *mut *const c_void,
    release: c_int,
    status: *mut c_int,
) -> Error {
    if name.is_null() || place.is_null() {
        return error::INVALID_VALUE;
    }
    // SAFETY: the pointer is a string by the contract.
    let found = find(&unsafe { CStr::from_ptr(name) }.to_string_lossy(), release);
    // SAFETY: the pointers were checked.
    unsafe {
        place.write(found.map_or(std::ptr::null(), |address| address.cast()));
        if !status.is_null() {
            status.write(found.err().unwrap_or(FOUND));
            return error::SUCCESS;
        }
    }
    if found.is_ok() { error::SUCCESS } else { error::SYMBOL_NOT_FOUND }
}

/// Returns the function with a name, as in CUDA 11.3.
///
/// # Safety
/// The pointers are a string and a valid place for the address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress(
    name: *const c_char,
    place: *mut *const c_void,
    release: c_int,
    _flags: c_ulonglong,
) -> Error {
    // SAFETY: by the contract of the API function.
    unsafe { answer(name, place, release, std::ptr::null_mut()) }
}

/// Returns the function with a name, as in CUDA 12. Per-thread streams need no separate function on the CPU device.
///
/// # Safety
/// The pointers are a string and a valid place for the address; the status may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    place: *mut *const c_void,
    release: c_int,
    _flags: c_ulonglong,
    status: *mut c_int,
) -> Error {
    // SAFETY: by the contract of the API function.
    unsafe { answer(name, place, release, status) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_what_they_meant_in_a_release() {
        assert_eq!(find("cuMemAlloc", 12000), Ok(super::super::memory::cuMemAlloc_v2 as *const ()));
        assert_eq!(find("cuInit", 13000), Ok(super::super::errors::cuInit as *const ()));
        assert_eq!(find("cuCtxCreate", 12000), Ok(super::super::context::cuCtxCreate_v2 as *const ()));
        assert_eq!(find("cuCtxCreate", 13000), Ok(super::super::context::cuCtxCreate_v4 as *const ()));
        assert_eq!(find("cuCtxCreate", 2000), Err(TOO_OLD));
        assert_eq!(find("cuMemPrefetchAsync", 12000), Err(TOO_OLD));
        assert_eq!(find("cuNoSuchThing", 13000), Err(NOT_FOUND));
    }
}
