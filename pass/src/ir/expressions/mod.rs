//! Addresses as expressions of the launch parameters: indices, sizes, arguments, loop counters. Other code that
//! analyses addresses needs only one property (the step from thread to thread, or the distance from another address)
//! and may stop early. Here the complete value is stored, to be evaluated when the launch is known.

mod conditions;
mod control;
mod shifting;
mod sink;
mod walk;

pub(crate) use sink::Sink;
pub(crate) use walk::{Variables, Walk};
