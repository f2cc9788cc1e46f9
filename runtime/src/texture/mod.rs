//! Semantics of texture fetches and surface accesses: formats, addresses of texels, filters. `docs/design/textures.md`
//! lists what matches the hardware. The texture unit of the CPU device is `device::texture`.

pub mod format;
pub mod image;
pub mod sample;
