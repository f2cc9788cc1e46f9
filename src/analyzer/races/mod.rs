//! Conflicts: two warps access the same bytes, at least one of them writes, and nothing orders the accesses
//! (`docs/design/races.md`).
//!
//! [`Watch`] reads the stream in parallel to the workers, in the order of the stream, so that its results do not depend
//! on their number. For each word it stores the last accesses ([`shadow`]), and compares each new access with them
//! ([`verdict`]).

mod bounds;
mod members;
mod sample;
mod shadow;
mod streams;
mod verdict;
mod watch;
#[cfg(test)]
mod watch_tests;

pub use members::MemberFault;
pub use streams::{StreamAccess, StreamConflict, StreamParty};
pub use verdict::{Scope, Verdict};
pub use watch::{Conflict, Party, Watch};

/// Extent of the conflict check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RaceCheck {
    /// A few blocks of each launch are checked, in intervals between barriers whose code has not been checked often.
    #[default]
    Sampled,
    /// All requests are checked.
    Full,
}
