//! A program that stands still at an access of the user's choice, tells `warpline run` where it is, and goes on when it is told
//! to.
//!
//! The ranges of chosen sites ([`chosen`]) stay empty, so that each of their accesses comes to the slow path of the access
//! check; that asks [`Stops`], which sends a [`picture`] and waits. Nothing is computed otherwise than without stops, and
//! nothing else is recorded.

mod calls;
mod chosen;
mod picture;
mod session;
mod state;

pub use state::Stops;
