//! Which kernel, line, allocation and finding of one profile is which of another: by name, text and place, not by number.
//!
//! Nothing here trusts the profiles: ids may repeat or lead nowhere, so rows are known by their index.

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
