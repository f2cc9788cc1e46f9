//! Limits of what may get worse: from a TOML file, checked against every row of a comparison, changed or not.

mod check;
mod file;

pub(super) use check::{Row, check};
pub use file::{LimitSet, LimitsError, parse};
