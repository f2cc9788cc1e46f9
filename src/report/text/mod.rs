//! The text report: the limiter of the program and suggested changes, then its kernels. Further figures are shown on
//! request.

mod annotate;
mod brief;
mod findings;
mod header;
mod report;
mod sections;

pub(super) use findings::verdict;
pub(super) use header::{summary, write_short};
pub(super) use report::LEAST_WIDTH;
pub use report::{Shown, TextOptions, text};
pub use sections::{conflict_line, conflict_place, conflicts_in_short, fault_line};
pub(super) use sections::{limit_name, limiter, name_of};
