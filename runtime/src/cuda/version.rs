//! The version of CUDA that programs see.

use std::ffi::c_int;

/// 1000 · major + 10 · minor.
pub const VERSION: c_int = 13000;
