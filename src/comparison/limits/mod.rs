//! Limits on deteriorations, read from a TOML file and checked against every row of a comparison.

mod check;
mod file;

pub(super) use check::{Row, check};
pub use file::{LimitSet, LimitsError, parse};
