//! The stream in its order: what each record means for what is known so far.

pub(super) mod analyzer;
mod bounds;
mod contents;
mod counted;
mod launching;
mod limits;
mod memory;
mod open_launch;
mod refusal;
