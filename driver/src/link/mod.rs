//! Links: executables, shared libraries, archives, and the device part of separate compilation.

mod linker;
pub mod relocatable;
mod symbols;

pub use linker::{archive, device_link, link};
