//! Calls: hooks, functions of the module, the device runtime, operations of a whole warp.

pub(super) mod call;
pub(super) mod device_runtime;
pub(super) mod divergence;
pub(super) mod hooks;
pub(super) mod warp;
