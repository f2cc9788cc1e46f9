//! Builds rows of lines, sites and allocations.

pub(super) mod caches;
mod names;
mod operand;
mod paths;
mod pattern;
#[expect(clippy::module_inception, reason = "the module contains the rows, which are the subject of the folder")]
pub(super) mod rows;

pub use names::op_name;
pub(super) use paths::{Paths, chain_place, device_frame};
pub(super) use rows::SpaceSums;
pub use rows::idle_in_part;
