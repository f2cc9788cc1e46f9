//! Accesses that must not be: found by the check, or by the processor.

pub mod access;
pub mod barrier;
pub mod base;
pub mod cause;
pub mod check;
pub mod host_access;
pub mod message;
pub mod signal;
