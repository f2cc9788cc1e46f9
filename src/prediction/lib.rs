//! The performance of launches that were never made, from the expressions of a kernel's addresses.
//!
//! Data flows one way: a [`launch::Launch`] turns expressions into affine forms ([`evaluate`]), forms into requests of warps ([`count`])
//! and accesses ([`accesses`]), these into traffic ([`traffic`]), and traffic into times by the code of the profile's estimate
//! ([`predict`]).

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
