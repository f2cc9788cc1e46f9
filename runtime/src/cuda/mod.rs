//! Types of the CUDA 13.0 runtime API that programs see.

pub mod error;
pub mod properties;
pub mod texture_limits;
pub mod types;
