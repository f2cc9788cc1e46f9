//! Warpline's runtime: linked into a profiled program in place of CUDA's. It offers CUDA's runtime
//! API, runs kernels on the CPU device, and writes the trace.
//!
//! The exported names are CUDA's (`cudaMalloc`, …), the hooks of instrumented code
//! (`__warpline_…`, `__wl_…`) and `warpline_name` of `warpline.h`. They cannot panic across the
//! border: the library is built to abort.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the CPU device runs on x86-64 Linux");

pub mod api;
mod arguments;
mod brain_float;
pub mod children;
pub mod configuration;
pub mod contexts;
mod cooperative;
pub mod copy;
pub mod cuda;
pub mod execution;
mod failed_launches;
pub mod failures;
pub mod faults;
pub mod gpu;
pub mod graphs;
pub mod launch;
pub mod launched;
pub mod loading;
pub mod memory;
pub mod message;
pub mod module;
mod names;
pub mod nvrtc;
pub mod outer;
pub mod paths;
mod permitted;
pub mod pools;
pub mod printed;
pub mod printf;
pub mod runtime;
pub mod sections;
pub mod stops;
pub mod streams;
pub mod tensor;
pub mod texture;
pub mod trace;
mod variables;
