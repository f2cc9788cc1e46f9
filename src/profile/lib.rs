//! The profile: the results of a run as the JSON document of the contract, version 1.
//!
//! [`model`] contains the types of the document, [`build()`] computes one from an analysis, [`file`] is the container
//! on disk. [`store`] keeps profiles by content, [`ranks`] names the files of a job's processes, [`live`] shares
//! snapshots of a running program. [`trust`] derives how reliable the figures are.

mod build;
mod bus;
mod divergence;
mod estimate;
pub mod file;
mod function_name;
mod intensity;
mod library;
pub mod live;
pub mod model;
mod packed;
mod plausible;
pub mod ranks;
mod sampled;
mod shown;
pub mod store;
pub mod trust;

pub use build::{BuildInput, IGNORE_COMMENT, RunFacts, Sources, addresses_of, build, idle_in_part, op_name};
pub use bus::{
    BUS_BYTES_PER_SECOND, LEAST_START_SECONDS, SECONDS_PER_COPY, SECONDS_PER_DEVICE_COPY, SECONDS_PER_LAUNCH,
    bus_seconds, copy_seconds, dominant_starts, over_bus, seconds_between_launches, seconds_of_copies,
};
pub use divergence::{ALL, degree, memory_divergence};
pub use estimate::{Work, of_work};
pub use file::{MergeReader, ProfileError, ToMerge, probe, read, write, write_spare};
pub use function_name::{constructed_class, copied_class, plain_name};
pub use intensity::arithmetic_intensity;
pub use library::{LibraryCall, library_call, library_function};
pub use model::{Profile, is_system, nine_digits};
pub use plausible::may_be_added;
pub use sampled::seconds_of_all;
