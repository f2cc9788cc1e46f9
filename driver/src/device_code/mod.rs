//! Prepares device code for objects: for the CPU device, for GPUs, and for a later link.

pub(crate) mod carried;
pub(crate) mod device_section;
pub(crate) mod emulation;
pub mod gpu;
pub mod loaded;
pub(crate) mod object_parts;
pub mod registers;
mod stacks;
