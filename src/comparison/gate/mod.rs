//! Whether a change may go in: a baseline from the store's recordings, a comparison with it, and a verdict. Shown by
//! `src/report/gate`.

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
