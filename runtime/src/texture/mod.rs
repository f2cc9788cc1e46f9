//! What texture fetches and surface accesses mean: formats, addresses of texels, filters. `docs/design/textures.md` says what it does as the
//! hardware does. The texture unit of the CPU device is `device::texture`.

pub mod format;
pub mod image;
pub mod sample;
