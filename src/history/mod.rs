//! Figures over commits: the order of recordings, and the values of a figure along it.

mod document;
mod order;
mod series;

pub use document::{History, Point, Series};
pub use order::in_order;
pub use series::{Wanted, collect};
