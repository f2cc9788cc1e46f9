//! Reach of the TLBs: pages that an SM touches within a number of requests. [`Pages`] follows requests.

mod counts;
mod tool;

pub use counts::{DEFAULT_WINDOW, PageCounts, PageSettings};
pub use tool::Pages;
