//! GPU code as host objects hand it over.

use std::ffi::c_void;

/// What the host object hands over (`__fatBinC_Wrapper_t`).
#[repr(C)]
pub struct FatBinaryWrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    reserved: *const c_void,
}

impl FatBinaryWrapper {
    /// A wrapper of its own for the real runtime.
    pub fn new(magic: u32, data: *const u8) -> FatBinaryWrapper {
        FatBinaryWrapper { magic, version: 1, data, reserved: std::ptr::null() }
    }

    /// Returns the fat binary, or what is in its place.
    pub fn data(&self) -> *const u8 {
        self.data
    }
}
