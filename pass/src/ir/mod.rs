//! Facts of device code that all stages share: address spaces, kernels, calls by name, pointer arithmetic.

pub(crate) mod address;
pub(crate) mod border;
pub(crate) mod class;
pub(crate) mod globals;
pub(crate) mod kernel;
pub(crate) mod machine;
pub(crate) mod range;
pub(crate) mod space;
