//! Device memory: windows, allocator, registry.

pub mod allocator;
mod device_memory;
pub mod host;
pub mod host_guard;
pub mod images;
pub mod mapped;
pub mod mappings;
pub mod registry;
pub mod rows;
pub mod shadow;
pub mod texture_references;
pub mod windows;

pub use device_memory::{Description, DeviceMemory, MemoryError};
