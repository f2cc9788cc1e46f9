//! The real-GPU back end: the same executable, hooks and trace as on the CPU device, with kernels on an NVIDIA GPU.
//! `docs/design/gpu.md` explains it.

pub mod addresses;
pub mod items;
pub mod real;
pub mod residents;
pub mod session;
pub mod wire;
