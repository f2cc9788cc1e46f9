//! The CPU device: the execution of its kernels.

pub mod children;
pub mod execution;
pub mod faults;
pub mod floats;
pub mod initialisation;
pub mod operations;
pub mod rounding;
pub mod stops;
pub mod tensor;
pub mod texture;
pub mod values;
