//! A profile's rows taken into what has been merged so far.

pub(super) mod kernels;
pub(super) mod launches;
pub(super) mod rows;
