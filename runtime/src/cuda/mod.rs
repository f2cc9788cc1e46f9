//! Types of the CUDA 13.0 runtime and driver APIs that programs see.

pub mod copy_kind;
pub mod error;
pub mod fat_binary;
pub mod graph_types;
pub mod limits;
pub mod properties;
pub mod result;
pub mod texture_limits;
pub mod types;
pub mod version;
