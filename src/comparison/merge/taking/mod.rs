//! Adds a profile's rows to the merged rows.

pub(super) mod events;
pub(super) mod kernels;
pub(super) mod launches;
pub(super) mod rows;
