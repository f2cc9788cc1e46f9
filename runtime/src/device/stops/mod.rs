//! Stops a program at an access that the user has chosen. The program reports its position to `warpline run` and
//! continues on command.
//!
//! The ranges of chosen sites ([`chosen`]) stay empty, so that each of their accesses reaches the slow path of the
//! access check. The slow path calls [`Stops`], which sends a [`picture`] and waits. Results and records are the same
//! as in a run without stops.

mod calls;
mod chosen;
mod picture;
mod session;
mod state;

pub use state::Stops;
