//! CUDA source that a program compiles while it runs (NVRTC): `warpline-cc` compiles it, once for each content, and the program
//! gets PTX that leads to the code for the CPU device, or that code itself.

mod build;
mod includes;
pub mod mark;
pub mod program;
