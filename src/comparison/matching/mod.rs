//! Pairs the kernels, lines, allocations and findings of two profiles by name, text and position, not by number.
//!
//! Profiles are untrusted: ids may be duplicate or invalid, so rows are identified by index.

mod align;
mod allocations;
mod findings;
mod kernels;
mod lines;
mod pairs;
mod text;

pub(super) use allocations::{AllocationGroup, groups, pair as pair_allocations};
pub(super) use findings::pair as pair_findings;
pub(super) use kernels::pair as pair_kernels;
pub(super) use lines::{Code, Lines, SourceLine};
pub(super) use pairs::Pairs;
use pairs::best_first;
