//! Linking of device code at run time. Code for the CPU device is complete when it is compiled, so nothing has to be
//! linked: one image is passed through. The toolkit's own libraries, which are part of the runtime, are accepted.

use super::driver_api;
use crate::api::put;
use crate::cuda::error::{self, Error};
use crate::loading::image::{Image, foreign};
use crate::output::message;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `CU_JIT_INPUT_LIBRARY`.
const LIBRARY: c_int = 4;
/// Names of the toolkit's own libraries begin with one of these (`libcudadevrt.a`, `cudadevrt.lib`).
const OWN: [&str; 2] = ["libcudadevrt", "cudadevrt"];

/// `CUlinkState`.
#[derive(Default)]
pub struct Link {
    /// The image, followed by a zero.
    image: Option<Vec<u8>>,
}

impl Link {
    fn add(&mut self, mut bytes: Vec<u8>) -> Result<(), Error> {
        bytes.push(0);
        Image::in_file(&bytes)?;
        if self.image.is_some() {
            message::note(
                "a link of several images: code for the CPU device is whole when it is compiled, and cannot be put together \
                 afterwards. Let one source include the others, and link its image alone",
            );
            return Err(error::NO_KERNEL_IMAGE_FOR_DEVICE);
        }
        self.image = Some(bytes);
        Ok(())
    }
}

/// # Safety
/// The pointer is null, or comes from `cuLinkCreate` and was not yet passed to `cuLinkDestroy`.
unsafe fn state<'a>(link: *mut Link) -> Result<&'a mut Link, Error> {
    // SAFETY: by the contract of the API function.
    unsafe { link.as_mut() }.ok_or(error::INVALID_RESOURCE_HANDLE)
}

driver_api! {
    /// Begins a link. Options for the PTX compiler have no effect.
    fn cuLinkCreate_v2(
        _count: c_uint,
        _options: *mut c_int,
        _values: *mut *mut c_void,
        place: *mut *mut Link,
    ) needs Context |runtime, entry| {
        let _ = (runtime, entry);
        if place.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(place, Box::into_raw(Box::default())) }
    }

    /// Adds an image in memory.
    fn cuLinkAddData_v2(
        link: *mut Link,
        kind: c_int,
        data: *mut c_void,
        bytes: usize,
        _name: *const c_char,
        _count: c_uint,
        _options: *mut c_int,
        _values: *mut *mut c_void,
    ) needs Context |runtime, entry| {
        let _ = (runtime, entry);
        if data.is_null() || bytes == 0 || kind == LIBRARY {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { state(link)?.add(std::slice::from_raw_parts(data.cast::<u8>(), bytes).to_vec()) }
    }

    /// Adds an image in a file, or a library of the toolkit.
    fn cuLinkAddFile_v2(
        link: *mut Link,
        kind: c_int,
        path: *const c_char,
        _count: c_uint,
        _options: *mut c_int,
        _values: *mut *mut c_void,
    ) needs Context |runtime, entry| {
        let _ = (runtime, entry);
        if path.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: the pointer is a string by the contract.
        let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        // SAFETY: by the contract of the API function.
        let link = unsafe { state(link)? };
        if kind == LIBRARY {
            return if OWN.iter().any(|own| name.starts_with(own)) { Ok(()) } else { Err(foreign("a library of nvcc's")) };
        }
        link.add(std::fs::read(path).map_err(|_| error::FILE_NOT_FOUND)?)
    }

    /// Returns the image, which the link owns.
    fn cuLinkComplete(link: *mut Link, place: *mut *mut c_void, bytes: *mut usize) needs Context |runtime, entry| {
        let _ = (runtime, entry);
        // SAFETY: by the contract of the API function.
        let image = unsafe { state(link)? }.image.as_mut().ok_or(error::INVALID_VALUE)?;
        // SAFETY: by the contract; the length is not used.
        unsafe {
            if !bytes.is_null() {
                put(bytes, image.len() - 1)?;
            }
            put(place, image.as_mut_ptr().cast())
        }
    }

    /// Destroys a link.
    fn cuLinkDestroy(link: *mut Link) needs Context |runtime, entry| {
        let _ = (runtime, entry);
        if link.is_null() {
            return Err(error::INVALID_RESOURCE_HANDLE);
        }
        // SAFETY: the pointer comes from `cuLinkCreate`, by the contract.
        drop(unsafe { Box::from_raw(link) });
        Ok(())
    }
}
