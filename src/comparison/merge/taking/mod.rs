//! Adds a profile's rows to the merged rows.

pub(super) mod kernels;
pub(super) mod launches;
pub(super) mod rows;
