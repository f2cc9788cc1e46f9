//! The sections of the text report, one file each.

mod all;
mod allocations;
mod branches;
mod bypass;
mod caches;
mod conflicts;
mod divergence;
mod estimate;
mod faults;
mod kernels;
mod launches;
mod lines;
mod models;
mod ranks;
mod reuse;
mod rounding;
mod tables;
mod values;
mod whole;

pub use conflicts::{conflict_line, conflict_place, in_short as conflicts_in_short};
pub use faults::fault_line;

pub(super) use all::{write_all, write_requested};
pub(crate) use allocations::name_of;
pub(crate) use estimate::{limiter, name as limit_name};
pub(super) use kernels::more;
