//! Predicts the performance of launches that were not run, from the address expressions of a kernel.
//!
//! Data flows in one direction. Given a [`launch::Launch`], [`evaluate`] turns expressions into affine forms. From the
//! forms, [`count`] computes the requests of warps and [`accesses`] the accesses. [`traffic`] computes the traffic of
//! these accesses, and [`predict`] estimates times with the code of the profile's estimate.

pub mod accesses;
pub mod changes;
pub mod classes;
pub mod configurations;
pub mod count;
pub mod digits;
pub mod document;
pub mod evaluate;
pub mod evaluated;
pub mod executable;
pub mod form;
pub mod guards;
pub mod interpret;
pub mod lanes;
pub mod launch;
pub mod model;
pub mod other_work;
pub mod outcome;
pub mod overflow;
pub mod predict;
pub mod request;
pub mod shared_memory;
pub mod site_access;
pub mod subject;
pub mod sums;
pub mod throughout;
pub mod tiling;
pub mod traffic;
pub mod trip_counts;
pub mod unrolled;
pub mod value;
pub mod warp_interpreter;
pub mod warp_requests;
pub mod worth_measuring;
