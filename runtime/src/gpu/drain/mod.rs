//! What the GPU sends, taken from its rings while it runs and made the items of a trace.

pub mod addresses;
pub mod held;
pub mod items;
pub mod residents;
pub mod session;
pub mod wire;
