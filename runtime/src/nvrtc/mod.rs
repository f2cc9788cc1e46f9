//! CUDA source that a program compiles while it runs (NVRTC). `warpline-cc` compiles each source once. The program gets
//! PTX that refers to the code for the CPU device, or this code itself.

mod build;
mod includes;
pub mod mark;
pub mod program;
mod turn;
