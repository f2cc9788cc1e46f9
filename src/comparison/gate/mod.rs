//! Decides whether a change is acceptable: selects a baseline from the store's recordings, compares the profile with
//! it, and gives a verdict. `src/report/gate` shows the result.

mod alike;
mod baseline;
mod case;
mod document;
mod judge;

pub use alike::Accepted;
pub use baseline::{Candidates, Choice, choose};
pub use case::Case;
pub use document::{Baseline, Gate, Passed, Program, Verdict};
pub use judge::{DEFAULT_LIMITS, Judged, judge};
