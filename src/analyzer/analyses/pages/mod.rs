//! Counts the pages that an SM touches within a number of requests, to compare them with the reach of the TLBs.
//! [`Pages`] processes requests.

mod counts;
mod tool;

pub use counts::{DEFAULT_WINDOW, PageCounts, PageSettings};
pub use tool::Pages;
