//! Lowering to the CPU device.
