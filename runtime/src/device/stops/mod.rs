//! A program that stops at an access of the user's choice, reports its position to `warpline run`, and continues on
//! command.
//!
//! The ranges of chosen sites ([`chosen`]) stay empty, so that each of their accesses reaches the slow path of the
//! access check; that calls [`Stops`], which sends a [`picture`] and waits. Results and records are those of a run
//! without stops.

mod calls;
mod chosen;
mod picture;
mod session;
mod state;

pub use state::Stops;
