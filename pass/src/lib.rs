//! Warpline's processing of LLVM IR: notes and hooks in device and host code, the site table, and the lowering of
//! device code to the CPU device. `docs/design/borders.md` lists the stages.

mod contraction;
pub mod cpu;
pub mod device;
pub mod gpu;
pub mod host;
mod ir;
pub mod llvm;
pub mod loadable;
pub mod matrix;
mod newer_text;
pub mod object;
pub mod parts;
mod ptx;
