//! The back end for real GPUs. The executable, the hooks and the trace are the same as on the CPU device, but the
//! kernels run on an NVIDIA GPU. `docs/design/gpu.md` explains it.

pub mod calls;
pub mod capturing;
pub mod devices;
pub mod drain;
pub mod driver_calls;
mod forward;
pub mod graphs;
pub mod kernels;
pub mod launch;
pub mod noted;
pub mod register;
pub mod state;
pub mod times;

pub(crate) use forward::{forward, forward_driver, hand_on};
pub use forward::{missing, per_thread_stream};
