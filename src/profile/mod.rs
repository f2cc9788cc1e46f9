//! The profile: what a run found, in the form of the contract's JSON, version 1.
//!
//! [`model`] is the JSON document as types; [`build()`] makes one from an analysis; [`file`] is the
//! container on disk.

mod addresses;
mod advice;
mod build;
mod caches;
mod conflicts;
mod decisions;
mod estimate;
pub mod file;
mod finding;
mod frames;
mod function_name;
mod launch_group;
mod launches;
mod library;
mod merged;
mod metrics;
mod missing;
pub mod model;
mod names;
mod notes;
mod occupancy;
mod operand;
mod other_models;
mod paths;
mod pattern;
mod rank;
mod rows;
mod shown;
mod sources;
mod spread;
mod unnamed;
mod whole;
mod wide;

pub use addresses::of_table as addresses_of;
pub use build::{BuildInput, RunFacts, build};
pub(crate) use estimate::{Work, nine_digits, of_work};
pub use file::{ProfileError, read, write};
pub(crate) use file::{probe, write_spare};
pub(crate) use frames::is_system;
pub(crate) use function_name::plain_name;
pub use library::{LibraryCall, library_call};
pub use model::Profile;
#[cfg(feature = "parquet")]
pub(crate) use names::op_name;
pub(crate) use rows::idle_in_part;
pub(crate) use sources::IGNORE_COMMENT;
pub use sources::Sources;
