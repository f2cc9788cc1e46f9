//! Links: executables, shared libraries, archives, and the device part of separate compilation.

pub mod cmake_steps;
mod linker;
pub mod relocatable;
mod symbols;

pub use linker::{archive, device_link, link};
