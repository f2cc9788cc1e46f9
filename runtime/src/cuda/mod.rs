//! Types of the CUDA 13.0 runtime and driver APIs that programs see.

pub mod error;
pub mod properties;
pub mod result;
pub mod texture_limits;
pub mod types;
