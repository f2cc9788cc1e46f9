//! Reads the records that the GPU sends from its rings while kernels run, and turns them into the items of a trace.

pub mod addresses;
pub mod held;
pub mod items;
pub mod residents;
pub mod session;
pub mod wire;
