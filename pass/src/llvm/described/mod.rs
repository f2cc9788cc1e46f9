//! What modules say of their code: debug information and other metadata.

#![deny(clippy::undocumented_unsafe_blocks)]

pub mod annotations;
pub mod debug;
pub mod metadata;
