//! Warpline's runtime, which is linked into a profiled program instead of CUDA's runtime. It offers CUDA's runtime API,
//! runs kernels on the CPU device, and writes the trace.
//!
//! The exported names are CUDA's (`cudaMalloc`, …), the hooks of instrumented code (`__warpline_…`, `__wl_…`) and
//! `warpline_name` of `warpline.h`. A panic cannot unwind into their callers, because the library is built to abort.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the CPU device runs on x86-64 Linux");

pub mod api;
mod brain_float;
pub mod call_paths;
pub mod compiler;
pub mod cuda;
pub mod device;
pub mod gpu;
pub mod graphs;
pub mod launches;
pub mod loading;
pub mod memory;
pub mod modules;
pub mod nvrtc;
pub mod output;
pub mod real;
pub mod state;
pub mod texture;
pub mod trace;
