//! `warpline predict`: predicts configurations of a kernel.

mod assumptions;
mod changes;
mod check;
mod execute;
mod options;
mod registers;
mod unlaunched;

pub(super) use execute::execute;
