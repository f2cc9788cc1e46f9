//! The profile: what a run found, in the form of the contract's JSON, version 1.
//!
//! [`model`] is the JSON document as types; [`build()`] makes one from an analysis; [`file`] is the
//! container on disk.

mod build;
mod bus;
mod divergence;
mod estimate;
pub mod file;
mod function_name;
mod library;
pub mod live;
pub mod model;
mod packed;
mod plausible;
pub mod ranks;
mod sampled;
mod shown;
pub mod store;

pub use build::op_name;
pub use build::{BuildInput, RunFacts, Sources, addresses_of, build};
pub use build::{IGNORE_COMMENT, idle_in_part};
pub use bus::{
    BUS_BYTES_PER_SECOND, LEAST_START_SECONDS, SECONDS_PER_COPY, SECONDS_PER_DEVICE_COPY, SECONDS_PER_LAUNCH,
    bus_seconds, copy_seconds, dominant_starts, over_bus, seconds_between_launches, seconds_of_copies,
};
pub use divergence::{ALL, degree, memory_divergence};
pub use estimate::{Work, of_work};
pub use file::{MergeReader, ToMerge, probe, write_spare};
pub use file::{ProfileError, read, write};
pub use function_name::{constructed_class, copied_class, plain_name};
pub use library::{LibraryCall, library_call, library_function};
pub use model::Profile;
pub use model::{is_system, nine_digits};
pub use plausible::may_be_added;
pub use sampled::seconds_of_all;
