//! Debug information and other metadata of modules.

#![deny(clippy::undocumented_unsafe_blocks)]

pub mod annotations;
pub mod debug;
pub mod metadata;
