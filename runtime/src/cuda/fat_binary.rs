//! The form in which host objects pass GPU code to the runtime.

use std::ffi::c_void;

/// The structure that a host object passes (`__fatBinC_Wrapper_t`).
#[repr(C)]
pub struct FatBinaryWrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    reserved: *const c_void,
}

impl FatBinaryWrapper {
    /// Creates a wrapper for the real runtime.
    pub fn new(magic: u32, data: *const u8) -> FatBinaryWrapper {
        FatBinaryWrapper { magic, version: 1, data, reserved: std::ptr::null() }
    }

    /// Returns the fat binary, or the data that replaces it.
    pub fn data(&self) -> *const u8 {
        self.data
    }
}
