//! Builds the profile's rows of kernels and their launches.

pub(super) mod addresses;
pub(super) mod decisions;
pub(super) mod launches;
pub(super) mod occupancy;
pub(super) mod other_models;
pub(super) mod spread;
pub(super) mod tables;
pub(super) mod whole;

pub use addresses::of_table as addresses_of;
