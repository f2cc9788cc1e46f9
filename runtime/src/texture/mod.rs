//! The semantics of texture fetches and surface accesses: formats, addresses of texels, filters.
//! `docs/design/textures.md` lists which results match the hardware. The texture unit of the CPU device is
//! `device::texture`.

pub mod format;
pub mod image;
pub mod sample;
