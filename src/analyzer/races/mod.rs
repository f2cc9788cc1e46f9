//! Conflicts: two warps touch the same bytes, at least one of them writes, and nothing orders them
//! (`docs/design/races.md`).
//!
//! [`Watch`] reads the stream in parallel to the workers, in the order of the stream, so that its results do not depend
//! on their number. It keeps for each word who touched it last ([`shadow`]) and judges each access by that
//! ([`verdict`]).

mod sample;
mod shadow;
mod streams;
mod verdict;
mod watch;
#[cfg(test)]
mod watch_tests;

pub use streams::{StreamAccess, StreamConflict, StreamParty};
pub use verdict::{Scope, Verdict};
pub use watch::{Conflict, Party, Watch};

/// Extent of the check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RaceCheck {
    /// A few blocks of each launch, and of them stretches between barriers that are not well known yet.
    #[default]
    Sampled,
    /// Everything.
    Full,
}
