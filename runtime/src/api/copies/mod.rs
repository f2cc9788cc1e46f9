//! Copies and their sources and destinations: symbols, arrays, textures.

pub mod arrays;
pub mod copy;
pub mod symbols;
pub mod textures;
