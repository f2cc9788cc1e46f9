//! Builds the profile document from an analysis.

mod advice;
mod conflicts;
mod document;
mod floats;
mod host_accesses;
mod initialisation;
mod kernels;
mod missing;
mod notes;
mod rounding;
mod rows;
mod run;
mod sources;
mod stream_conflicts;
mod unnamed;
mod values;

pub use document::{BuildInput, RunFacts, build};
pub use kernels::addresses_of;
pub use rows::idle_in_part;
pub use rows::op_name;
pub use sources::IGNORE_COMMENT;
pub use sources::Sources;
