//! `warpline predict`: configurations of a kernel that were never run.

mod assumptions;
mod changes;
mod check;
mod execute;
mod options;
mod unlaunched;

pub(super) use execute::execute;
