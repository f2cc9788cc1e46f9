//! The texture unit of the CPU device: arrays, texture and surface objects, and what kernels read and write through
//! them. `docs/design/textures.md` says what it does as the hardware does, and how fetches are recorded.

pub mod format;
pub mod image;
pub mod sample;
pub mod table;
pub mod unit;
