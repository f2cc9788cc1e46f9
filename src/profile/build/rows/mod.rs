//! Builds rows of lines, sites and allocations.

pub(super) mod caches;
mod names;
mod operand;
mod paths;
mod pattern;
#[expect(clippy::module_inception, reason = "the rows themselves, which is what the folder is about")]
pub(super) mod rows;

pub use names::op_name;
pub(super) use paths::{Paths, chain_place, device_frame};
pub(super) use rows::SpaceSums;
pub use rows::idle_in_part;
