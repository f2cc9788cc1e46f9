//! Values of `cudaMemcpyKind`.

use std::ffi::c_int;

/// From host to device memory.
pub const TO_DEVICE: c_int = 1;
/// From device to host memory.
pub const TO_HOST: c_int = 2;
/// Within device memory.
pub const ON_DEVICE: c_int = 3;
/// The direction follows from the addresses.
pub const BY_ADDRESS: c_int = 4;
