//! Invalid accesses, which the access check or the processor finds.

pub mod access;
pub mod barrier;
pub mod base;
pub mod cause;
pub mod check;
pub mod host_access;
pub mod message;
pub mod signal;
