//! Processes the records of a stream in their order.

pub(super) mod analyzer;
mod bounds;
mod contents;
mod counted;
mod launching;
mod limits;
mod memory;
mod open_launch;
mod refusal;
