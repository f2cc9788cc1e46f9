//! Properties of device code that all stages use: address spaces, kernels, calls by name, pointer arithmetic.

pub(crate) mod address;
pub(crate) mod barrier;
pub(crate) mod border;
pub(crate) mod class;
pub(crate) mod control;
pub(crate) mod deciders;
pub(crate) mod distance;
pub(crate) mod expressions;
pub(crate) mod globals;
pub(crate) mod graph;
pub(crate) mod kernel;
pub(crate) mod linear;
pub(crate) mod machine;
pub(crate) mod range;
pub(crate) mod space;
pub(crate) mod thread_steps;
pub(crate) mod threads;
