//! Addresses as expressions of what a launch gives: indices, sizes, arguments, loop counters. What follows an address
//! through the code elsewhere needs one fact of it (its step from thread to thread, its distance from another one) and
//! may give up early; here the whole value is written down, to be evaluated when the launch is known.

mod conditions;
mod control;
mod shifting;
mod sink;
mod walk;

pub(crate) use sink::Sink;
pub(crate) use walk::{Variables, Walk};
