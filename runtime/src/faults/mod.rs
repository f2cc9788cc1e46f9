//! Accesses that must not be: found by the check, or by the processor.

pub mod barrier;
pub mod check;
pub mod message;
pub mod signal;
pub mod told;
