//! Figures over commits: orders recordings, and collects the values of a figure.

mod document;
mod listing;
mod order;
mod series;

pub use document::{History, Point, Series};
pub use listing::{Recording, Recordings, listing};
pub use order::in_order;
pub use series::{SeriesScope, collect};
