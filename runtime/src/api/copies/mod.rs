//! Copies and what they go to and from: symbols, arrays, textures.

pub mod arrays;
pub mod copy;
pub mod symbols;
pub mod textures;
