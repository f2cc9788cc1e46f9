//! Calls: hooks, functions of the module, functions of the device runtime, and operations of a whole warp and of a
//! cluster.

pub(super) mod call;
mod cluster;
pub(super) mod device_runtime;
pub(super) mod divergence;
pub(super) mod hooks;
pub(super) mod warp;
