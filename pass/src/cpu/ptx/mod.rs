//! Inline assembly.

pub(super) mod assembly;
mod barrier;
mod bits;
mod compare;
mod eighth;
pub(super) mod float;
pub(super) mod integer;
pub(super) mod machine;
pub(super) mod matrix;
pub(super) mod memory;
pub(super) mod pointer;
pub(super) mod texture;
pub(super) mod video;
mod warp;
