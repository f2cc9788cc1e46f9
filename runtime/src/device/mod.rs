//! The CPU device: what a launch needs, and all that its kernels do while they run.

pub(crate) mod arguments;
pub mod children;
pub mod configuration;
pub(crate) mod cooperative;
pub mod execution;
pub mod faults;
pub mod launch;
pub(crate) mod permitted;
pub mod stops;
pub mod tensor;
pub mod texture;
